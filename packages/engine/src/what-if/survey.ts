// The first pass over a recording: how long it is, what it names, and how long each provider's operations
// took. What a change names and the recording does not is refused after it, before anything is run.

import { compareText } from '@bigfleet/base';
import type { CapacityTypeCode } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { State, type StateCode } from '../model/state.ts';
import type { Transition, TransitionDwell } from './answer.ts';
import type { Change } from './change.ts';
import type { RecordedEvent } from './recording.ts';

/** Samples kept of one (provider, transition); when full, every second one goes. */
const MAX_SAMPLES = 2_048;

const TRANSITIONS: readonly Transition[] = ['create', 'configure', 'drain', 'delete'];

/** Where the recording shows no such operation of a provider. */
const DEFAULT_DWELL_MS: Readonly<Record<Transition, number>> = {
  create: 120_000,
  configure: 60_000,
  drain: 60_000,
  delete: 30_000,
};

/** Which operation a machine in this state is in; undefined for the stable states and Failed. */
export function transitionOf(state: StateCode): Transition | undefined {
  switch (state) {
    case State.Creating:
      return 'create';
    case State.Configuring:
      return 'configure';
    case State.Draining:
      return 'drain';
    case State.Deleting:
      return 'delete';
    default:
      return undefined;
  }
}

export class Survey {
  readonly zones: Set<string> = new Set();
  readonly instanceTypes: Set<string> = new Set();
  readonly capacityTypes: Set<CapacityTypeCode> = new Set();
  readonly clusters: Set<string> = new Set();
  readonly #providers = new Set<string>();
  readonly #samples = new Map<string, Samples>();
  readonly #startedMs = new Map<string, number>();
  readonly #namedTypes: ReadonlySet<CapacityTypeCode>;
  readonly #idsByCapacity = new Map<CapacityTypeCode, Set<string>>();
  cycleCount = 0;
  startMs = 0;
  endMs = 0;

  /** Ids are kept only of capacity types that a change is about. */
  constructor(changes: readonly Change[]) {
    this.#namedTypes = new Set(
      changes.flatMap((change) => (change.kind === 'capacity' ? [change.capacityType] : [])),
    );
  }

  take(event: RecordedEvent, atMs: number): void {
    switch (event.kind) {
      case 'enter':
      case 'shape':
        return this.#see(event.machine);
      case 'leave':
        this.#startedMs.delete(event.id);
        return;
      case 'jump':
        this.#startedMs.delete(event.machine.id);
        return;
      case 'step':
        return this.#step(event.machine, event.to, atMs);
      case 'demand':
      case 'rollup':
        if (event.needs.length > 0) this.clusters.add(event.cluster);
        return;
      case 'cycle':
        if (this.cycleCount === 0) this.startMs = atMs;
        this.cycleCount += 1;
        this.endMs = atMs;
        return;
      default:
        return;
    }
  }

  /** Every machine of the type that the recording ever shows, by id. */
  idsOf(capacityType: CapacityTypeCode): readonly string[] {
    return [...(this.#idsByCapacity.get(capacityType) ?? [])].sort(compareText);
  }

  dwells(): readonly TransitionDwell[] {
    return [...this.#providers].sort(compareText).flatMap((provider) =>
      TRANSITIONS.map((transition) => {
        const samples = this.#samples.get(dwellKey(provider, transition));
        const ms = samples?.median() ?? DEFAULT_DWELL_MS[transition];
        return { provider, transition, ms, observedCount: samples?.count ?? 0 };
      }),
    );
  }

  #see({ id, zone, instanceType, provider, capacityType }: Machine): void {
    this.zones.add(zone);
    this.instanceTypes.add(instanceType);
    this.capacityTypes.add(capacityType);
    this.#providers.add(provider);
    if (!this.#namedTypes.has(capacityType)) return;
    const ids = this.#idsByCapacity.get(capacityType) ?? new Set();
    this.#idsByCapacity.set(capacityType, ids.add(id));
  }

  #step({ id, state, provider }: Machine, to: StateCode, atMs: number): void {
    const ended = transitionOf(state);
    const startedMs = this.#startedMs.get(id);
    if (ended !== undefined && startedMs !== undefined) {
      const key = dwellKey(provider, ended);
      const samples = this.#samples.get(key) ?? new Samples();
      this.#samples.set(key, samples);
      samples.add(atMs - startedMs);
    }
    if (transitionOf(to) === undefined) this.#startedMs.delete(id);
    else this.#startedMs.set(id, atMs);
  }
}

export function dwellKey(provider: string, transition: Transition): string {
  return `${transition}\u0000${provider}`;
}

/** Evenly spread over the recording, however long it is. */
class Samples {
  readonly #kept: number[] = [];
  #stride = 1;
  count = 0;

  add(ms: number): void {
    if (this.count % this.#stride === 0) this.#kept.push(ms);
    this.count += 1;
    if (this.#kept.length < MAX_SAMPLES) return;
    for (let at = 0; at < MAX_SAMPLES / 2; at++) this.#kept[at] = this.#kept[at * 2]!;
    this.#kept.length = MAX_SAMPLES / 2;
    this.#stride *= 2;
  }

  median(): number | undefined {
    const sorted = this.#kept.toSorted((a, b) => a - b);
    return sorted[Math.floor((sorted.length - 1) / 2)];
  }
}
