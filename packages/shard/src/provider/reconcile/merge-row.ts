// One record of a List against what is known of its machine (shard §7). The order of the rules is
// normative: pending before any change, because a List lags behind the call it races; the fast
// path, which is nearly every row and changes nothing, before that; then screening, and the change.
//
// What a provider observes is a fact: the edges of our own actions say how to apply it, never
// whether. Nothing here mutates; a row's outcome depends on the row and the view alone.

import type { MachineRefusal } from '@bigfleet/base';
import {
  type Assignment,
  gridOf,
  isBound,
  isLegalTransition,
  isStable,
  isStateCode,
  type Machine,
  machineProblem,
  noAssignment,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { fromMap } from '@bigfleet/wire';
import type { ListColumns } from '../list/columns.ts';
import { problemTexts } from '../list/rows.ts';
import { cutError, isTooLongMachine } from '../text-limits.ts';
import type { AssignmentReader, IngestChange, RejectedRecord, SkippedMetadata } from './ingest.ts';
import { type KnownMachines, ResourceRoom } from './known-machines.ts';
import { ListedShapes } from './listed-shapes.ts';

/** How long a machine that this process marked Failed waits before a healthy report is believed. */
export const FAILED_COOL_DOWN_MS = 60_000;

export interface MergeOptions {
  /** The configured provider that answered. */
  readonly provider: string;
  readonly columns: ListColumns;
  readonly known: KnownMachines;
  readonly nowMs: number;
  readonly readAssignment: AssignmentReader;
}

export type RowOutcome =
  | { readonly kind: 'unchanged' | 'pending' | 'cooling_down' }
  | {
      readonly kind: 'rejected';
      readonly record: RejectedRecord;
      /** For what the shard holds at the moment, not for what the record says: it may fit later. */
      readonly isForNow: boolean;
    }
  | { readonly kind: 'changed'; readonly change: IngestChange };

/** How an observed state lies to the known one. */
type Step =
  | 'same'
  /** An edge of our own actions. */
  | 'edge'
  /** No edge, or another binding. */
  | 'jump';

interface Stamps {
  readonly assigned: Assignment;
  readonly skipped: SkippedMetadata;
}

const unchanged: RowOutcome = { kind: 'unchanged' };
const pending: RowOutcome = { kind: 'pending' };
const coolingDown: RowOutcome = { kind: 'cooling_down' };

export class RowMerger {
  readonly #options: MergeOptions;
  readonly #shapes: ListedShapes;
  readonly #room: ResourceRoom;
  /** By metadata set of this List; at most one per row. */
  readonly #echoes = new Map<number, Stamps>();
  /** By slot: a row was about the machine that had it then. */
  #seen: Uint8Array = new Uint8Array(1024);

  constructor(options: MergeOptions) {
    this.#options = options;
    this.#shapes = new ListedShapes(options.columns);
    this.#room = new ResourceRoom(options.known);
  }

  /** What was merged before has been applied. */
  nextBatch(): void {
    this.#room.nextBatch();
  }

  merge(row: number): RowOutcome {
    const { columns, known, provider } = this.#options;
    const id = columns.id(row);
    const problem = columns.problem(row);
    if (problem !== undefined) {
      const reason = problem === 'duplicate_id' ? problem : 'structural';
      return this.#rejected(row, reason, problemTexts[problem]);
    }
    const slot = id === '' ? -1 : known.slotOf(id);
    if (slot < 0) return this.#insert(row, id);
    this.#markSeen(slot);
    if (known.providerOf(slot) !== provider) {
      const detail = `${known.providerOf(slot)} lists it already`;
      return this.#rejected(row, 'duplicate_id', detail, true);
    }
    return this.#skipped(row, slot) ?? this.#update(row, id, slot);
  }

  /** True errs on the safe side: a slot may have a new owner since. */
  hasSeen(slot: number): boolean {
    return this.#seen[slot] === 1;
  }

  #markSeen(slot: number): void {
    if (slot >= this.#seen.length) {
      const bigger = new Uint8Array(2 * slot);
      bigger.set(this.#seen);
      this.#seen = bigger;
    }
    this.#seen[slot] = 1;
  }

  #rejected(
    row: number,
    reason: MachineRefusal,
    detail: string,
    isForNow = false,
  ): Extract<RowOutcome, { kind: 'rejected' }> {
    const { columns } = this.#options;
    const record = { id: columns.id(row), state: columns.state(row), reason, detail };
    return { kind: 'rejected', record, isForNow };
  }

  /** Undefined when the row is to be applied. */
  #skipped(row: number, slot: number): RowOutcome | undefined {
    const { columns, known, nowMs } = this.#options;
    const state = columns.state(row);
    // Also of a machine with an action under way: a row that says what is known need not wait.
    if (this.#isUnchanged(row, slot)) return unchanged;
    const wait = known.pendingOf(slot);
    // The List is older than what was written meanwhile: its row would undo an action that is over.
    if (wait === 'in_flight' || known.isTouched(slot)) return pending;
    if (wait === 'drain_wait' && state === State.Configured) return pending;
    const failedAtMs = known.failedHereAtMs(slot);
    if (failedAtMs === undefined || state === State.Failed) return undefined;
    return isStable(state) && nowMs - failedAtMs >= FAILED_COOL_DOWN_MS ? undefined : coolingDown;
  }

  #isUnchanged(row: number, slot: number): boolean {
    const { columns, known } = this.#options;
    const state = known.stateOf(slot);
    if (columns.state(row) !== state) return false;
    if (!hasRightHost(columns.hasHost(row), state)) return false;
    if (!this.#shapes.isEqual(columns.profileOf(row), known.shapeOf(slot))) return false;
    if (columns.cluster(row) !== known.clusterOf(slot)) return false;
    return state !== State.Failed || this.#lastError(row) === known.read(slot).lastError;
  }

  #lastError(row: number): string {
    return cutError(this.#options.columns.lastError(row));
  }

  #insert(row: number, id: string): RowOutcome {
    const { assigned, skipped } = this.#stamps(row, undefined, 'jump');
    const record = this.#record(row, id, undefined, assigned);
    if (record.kind === 'rejected') return record;
    return changed({ kind: 'inserted', machine: record.machine, skipped });
  }

  #update(row: number, id: string, slot: number): RowOutcome {
    const before = this.#options.known.read(slot);
    const step = this.#stepFrom(before, row);
    const { assigned, skipped } = this.#stamps(row, before, step);
    const record = this.#record(row, id, before, assigned);
    if (record.kind === 'rejected') return record;
    const { machine } = record;
    if (step === 'same') return changed({ kind: 'refreshed', machine });
    return changed({ kind: step === 'edge' ? 'moved' : 'replaced', machine, before, skipped });
  }

  #stepFrom(before: Machine, row: number): Step {
    const { columns } = this.#options;
    const to = columns.state(row);
    if (isBound(to) && isBound(before.state) && columns.cluster(row) !== before.cluster) {
      return 'jump';
    }
    if (to === before.state) return 'same';
    return isStateCode(to) && isLegalTransition(before.state, to) ? 'edge' : 'jump';
  }

  /** What is stamped on the binding: ours while we know it, else what the provider echoes. */
  #stamps(row: number, before: Machine | undefined, step: Step): Stamps {
    const { columns } = this.#options;
    const ours = before?.assigned ?? noAssignment;
    if (step === 'same') return { assigned: ours, skipped: [] };
    // The echo of an unbound record would be a dead workload's.
    if (!isBound(columns.state(row))) return { assigned: noAssignment, skipped: [] };
    const wasBound = before !== undefined && isBound(before.state);
    if (wasBound && step === 'edge') return { assigned: ours, skipped: [] };
    const isSameBinding = wasBound && before.cluster === columns.cluster(row);
    return isSameBinding ? this.#readEcho(row, ours) : this.#freshEcho(row);
  }

  /** Of a machine that we had not bound: the echo alone says it, and many have the same one. */
  #freshEcho(row: number): Stamps {
    const number = this.#options.columns.metadataOf(row);
    const known = this.#echoes.get(number);
    if (known !== undefined) return known;
    const stamps = this.#readEcho(row, noAssignment);
    this.#echoes.set(number, stamps);
    return stamps;
  }

  #readEcho(row: number, ours: Assignment): Stamps {
    const { columns, readAssignment } = this.#options;
    const { assigned, problems } = readAssignment(fromMap(columns.metadata(row)), ours);
    return { assigned, skipped: problems };
  }

  #record(
    row: number,
    id: string,
    before: Machine | undefined,
    assigned: Assignment,
  ): { kind: 'machine'; machine: Machine } | Extract<RowOutcome, { kind: 'rejected' }> {
    const { columns, provider } = this.#options;
    const listed = this.#shapes.of(columns.profileOf(row));
    if (listed.kind === 'unusable') return this.#rejected(row, 'structural', listed.detail);
    const state = columns.state(row);
    if (!isStateCode(state)) return this.#rejected(row, 'structural', `state ${state}`);
    const host = { provider: columns.hostProvider(row), ref: columns.hostRef(row) };
    const cluster = columns.cluster(row);
    if (isTooLongMachine({ id, cluster, host })) {
      return this.#rejected(row, 'structural', 'its id, host or cluster is too long');
    }
    // A Machine once it is screened: until then its capacity type may be any number.
    const machine = {
      ...listed.shape,
      id,
      state,
      provider,
      host: columns.hasHost(row) ? host : undefined,
      cluster,
      capacityType: capacityTypeOf(listed.shape.capacityType, state, before),
      lastError: this.#lastError(row),
      assigned,
      intendedCluster: state === State.Creating ? (before?.intendedCluster ?? '') : '',
      withheld: before?.withheld,
    } as Machine;
    const problem = machineProblem(machine);
    if (problem !== undefined) return this.#rejected(row, problem, detailOf(problem, machine));
    if (!this.#room.take(machine.allocatable)) {
      const detail = 'more resource names than the shard has room for';
      return this.#rejected(row, 'structural', detail, true);
    }
    return { kind: 'machine', machine };
  }
}

/** Of a known state: a host that appears or is lost without one is for the screen to refuse. */
function hasRightHost(isSet: boolean, state: StateCode): boolean {
  const { host } = gridOf(state);
  return host === 'any' || (host === 'set') === isSet;
}

/** A Failed or transitional record of a known machine may leave the type out. */
function capacityTypeOf(listed: number, state: number, before: Machine | undefined): number {
  const mayOmit = state === State.Failed || !isStable(state);
  return listed === 0 && mayOmit && before !== undefined ? before.capacityType : listed;
}

function detailOf(problem: MachineRefusal, machine: Machine): string {
  if (problem === 'price') return `price ${machine.pricePerHour}`;
  if (problem === 'interruption_probability') {
    return `interruption probability ${machine.interruptionProbability}`;
  }
  const host = machine.host === undefined ? 'no host' : 'host';
  const cluster = machine.cluster === '' ? 'no cluster' : 'cluster';
  return `state ${machine.state} with ${host}, ${cluster}, capacity type ${machine.capacityType}`;
}

function changed(change: IngestChange): RowOutcome {
  return { kind: 'changed', change };
}
