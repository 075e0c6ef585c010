// An engine whose inputs are all written to a trace. What the caller hands over and could still
// change (sets, policies) is copied; machines, needs and maps inside them are immutable values by
// contract, as everywhere in the engine.
//
// Recording changes no decision. A cycle and a move are written before they are carried out, so
// that a trace ends with what broke the engine. Machines and roll-ups can be refused, for reasons
// that a replay need not share (what the engine held before); they are written once taken.
//
// Cost per input: a few map lookups and some tens of bytes, no work in proportion to the fleet;
// per cycle the hash of its actions. The constructor and `rotate` write the whole state once.

import { type Brakes, noBrakes } from '../model/brakes.ts';
import type { CycleOptions, Engine, EngineOptions } from '../cycle/engine.ts';
import { loadEngine, readActions, readCycle } from '../cycle/plain.ts';
import { type CycleInput, type CycleOutput, emptyMemory } from '../model/cycle.ts';
import { DEFAULT_RELEASE_POLICY, type ReleasePolicy } from '../model/capacity-type.ts';
import type { Need } from '../model/need.ts';
import type { Inventory } from '../store/inventory.ts';
import { type ActionHash, actionHash } from './action-hash.ts';
import { haveSameLimits } from './entry-encoder.ts';
import { MAX_RECORDED_ACTIONS, type RecordingProblem } from './limits.ts';
import { snapshotEntries } from './snapshot.ts';
import { type TraceSink, TraceWriter, type TraceWriterOptions } from './trace-writer.ts';

/** What a run starts from; quotas belong to each cycle. */
export type InitialState = Omit<CycleInput, 'quotaRemaining'>;

export const emptyState: InitialState = {
  nowMs: 0,
  machines: [],
  idleSinceMs: new Map(),
  needs: [],
  reportedClusters: new Set(),
  heldOff: new Set(),
  brakes: noBrakes,
  memory: emptyMemory,
  releasePolicy: DEFAULT_RELEASE_POLICY,
};

/** Every way by which a machine enters, changes or leaves. */
type InventoryInputs = Pick<Inventory, 'put' | 'remove' | 'move' | 'withhold' | 'setIdleSince'>;

export interface RecordedEngineOptions extends TraceWriterOptions {
  readonly engine?: EngineOptions;
  /** Longer action lists are recorded by their hash alone. */
  readonly recordedActions?: number;
}

export class RecordedEngine {
  readonly inventory: InventoryInputs;
  /** The engine, to read from: what is fed to it directly is missing in the trace. */
  readonly view: Engine;
  readonly #options: RecordedEngineOptions;
  #writer: TraceWriter;
  #heldOff: ReadonlySet<string>;
  #brakes: Brakes;
  #lastHash: ActionHash | undefined;

  constructor(initial: InitialState, sink: TraceSink, options: RecordedEngineOptions = {}) {
    const heldOff = new Set(initial.heldOff);
    const brakes = copied(initial.brakes);
    const input: CycleInput = {
      ...initial,
      heldOff,
      brakes,
      releasePolicy: { ...initial.releasePolicy },
      quotaRemaining: new Map(),
    };
    this.view = loadEngine(input, options.engine ?? {});
    this.#options = options;
    this.#heldOff = heldOff;
    this.#brakes = brakes;
    this.#writer = this.#begin(sink);
    this.inventory = this.#inventoryInputs();
  }

  /** Why the trace ended before the run, if it did. */
  get problem(): RecordingProblem | undefined {
    return this.#writer.problem;
  }

  /** Of the last cycle. */
  get lastHash(): ActionHash | undefined {
    return this.#lastHash;
  }

  get releasePolicy(): ReleasePolicy {
    return this.view.releasePolicy;
  }

  set releasePolicy(policy: ReleasePolicy) {
    const own = { ...policy };
    this.#writer.write({ kind: 'release_policy', policy: own });
    this.view.releasePolicy = own;
  }

  /** A refused roll-up changes nothing, so nothing is written. */
  applyRollup(cluster: string, needs: readonly Need[]): ReturnType<Engine['applyRollup']> {
    const applied = this.view.applyRollup(cluster, needs);
    if (applied.ok) this.#writer.write({ kind: 'rollup', cluster, needs });
    return applied;
  }

  markReported(cluster: string): void {
    this.#writer.write({ kind: 'reported', cluster });
    this.view.markReported(cluster);
  }

  /** Written when it differs: the same pairs again are no input. */
  setHeldOff(heldOff: ReadonlySet<string>): void {
    const own = new Set(heldOff);
    if (!areEqual(own, this.#heldOff)) this.#writer.write({ kind: 'held_off', heldOff: own });
    this.#heldOff = own;
    this.view.setHeldOff(own);
  }

  /** Written when they differ, as held-off pairs are. */
  setBrakes(brakes: Brakes): void {
    const own = copied(brakes);
    const isSame =
      haveSameLimits(own.needs, this.#brakes.needs) &&
      haveSameLimits(own.types, this.#brakes.types);
    if (!isSame) this.#writer.write({ kind: 'brakes', brakes: own });
    this.#brakes = own;
    this.view.setBrakes(own);
  }

  cycle(options: CycleOptions): void {
    this.#writer.write({ kind: 'cycle', options });
    let hasDecided = false;
    try {
      this.view.cycle(options);
      hasDecided = true;
    } finally {
      if (!hasDecided) this.#writer.abandon('cycle_threw');
    }
    this.#lastHash = actionHash(this.view);
    this.#writeDecision(this.#lastHash);
  }

  /** What the last cycle decided, as plain values. */
  readCycle(): CycleOutput {
    return readCycle(this.view);
  }

  /** Hands over what is gathered; a trace on disk is then up to date. */
  flush(): void {
    this.#writer.flush();
  }

  /** Ends the trace; the engine goes on unrecorded until `rotate`. */
  close(): void {
    this.#writer.close();
  }

  /** Ends the trace and starts another one with the state as it is now. */
  rotate(sink: TraceSink): void {
    this.#writer.close();
    this.#writer = this.#begin(sink);
  }

  #begin(sink: TraceSink): TraceWriter {
    const writer = new TraceWriter(sink, this.#options);
    for (const entry of snapshotEntries(this.view, this.#heldOff, this.#brakes))
      writer.write(entry);
    writer.flush();
    return writer;
  }

  #writeDecision(hash: ActionHash): void {
    if (this.#writer.isEnded) return;
    const actionCount = this.view.actions.length;
    const limit = this.#options.recordedActions ?? MAX_RECORDED_ACTIONS;
    const actions = actionCount > limit ? undefined : readActions(this.view);
    this.#writer.write({ kind: 'decided', decided: { hash, actionCount, actions } });
  }

  #inventoryInputs(): InventoryInputs {
    const { inventory } = this.view;
    const idOf = (slot: number): string => inventory.ids[slot] ?? '';
    return {
      put: (machine, nowMs) => {
        const put = inventory.put(machine, nowMs);
        if (put.ok) this.#writer.write({ kind: 'put', machine, nowMs });
        return put;
      },
      remove: (id) => {
        if (inventory.slotOf(id) >= 0) this.#writer.write({ kind: 'remove', id });
        return inventory.remove(id);
      },
      move: (slot, to, changes, nowMs) => {
        this.#writer.write({ kind: 'move', id: idOf(slot), to, changes, nowMs });
        inventory.move(slot, to, changes, nowMs);
      },
      withhold: (slot, reason) => {
        this.#writer.write({ kind: 'withhold', id: idOf(slot), reason });
        inventory.withhold(slot, reason);
      },
      setIdleSince: (slot, sinceMs) => {
        this.#writer.write({ kind: 'idle_since', id: idOf(slot), sinceMs });
        inventory.setIdleSince(slot, sinceMs);
      },
    };
  }
}

function copied({ needs, types }: Brakes): Brakes {
  return { needs: new Map(needs), types: new Map(types) };
}

function areEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const member of a) if (!b.has(member)) return false;
  return true;
}
