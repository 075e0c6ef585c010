// What the engine answers for one cycle, as columns and small dictionaries: nothing in it is
// proportional to the fleet, and it crosses a thread by transfer. Slots name machines of the
// fleet, because both inventories take the same writes in the same order; the generation tells a
// slot that was given to another machine since.

import type { PenaltyBucket } from '@bigfleet/base';
import type {
  ActionHash,
  Engine,
  EnginePhase,
  PassKind,
  Requirement,
  Shortfall,
} from '@bigfleet/engine';
import type { TracePart } from './trace-parts.ts';

/** The need that an acquisition or a preemption serves. */
export interface ActionNeed {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly group: string;
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
  readonly requirements: readonly Requirement[];
}

export interface DecidedActions {
  readonly count: number;
  readonly kind: Uint8Array<ArrayBuffer>;
  readonly slot: Int32Array<ArrayBuffer>;
  readonly generation: Uint32Array<ArrayBuffer>;
  /** Index in `clusters`, −1 for Delete. */
  readonly cluster: Int32Array<ArrayBuffer>;
  /** Index in `needs`, −1 for Reclaim and Delete. */
  readonly need: Int32Array<ArrayBuffer>;
  readonly graceSeconds: Int32Array<ArrayBuffer>;
  readonly preemptorPriority: Int32Array<ArrayBuffer>;
  readonly clusters: readonly string[];
  readonly needs: readonly ActionNeed[];
}

/** Milliseconds per phase of one cycle; a safety pass is in all three. */
export type PhaseTimes = Readonly<Record<EnginePhase, number>>;

export interface CycleAnswer {
  readonly cycle: number;
  readonly pass: PassKind;
  /** Safety passes so far that disagreed; any is a bug. */
  readonly mismatchCount: number;
  readonly actions: DecidedActions;
  /** The decision record, empty when records are off. */
  readonly record: Uint8Array<ArrayBuffer>;
  /** Over the decided actions, before the rails. */
  readonly actionHash: ActionHash;
  /** Everything that reached the engine since the answer before; empty without a trace. */
  readonly trace: readonly TracePart[];
  /** By fingerprint: what neither claims nor drains cover, with ages. */
  readonly shortfalls: ReadonlyMap<string, Shortfall>;
  readonly clusterCount: number;
  readonly rowCount: number;
  /** What the phases took, on the thread that decided. */
  readonly tookMs: PhaseTimes;
}

type Row = NonNullable<Engine['actions']['row'][number]>;

export interface AnswerNotes {
  readonly actionHash: ActionHash;
  readonly trace: readonly TracePart[];
  readonly tookMs: PhaseTimes;
}

/**
 * A decided cycle as an answer. The engine's columns are reused by the next cycle, so everything is
 * copied out, once, and needs are listed once however many actions serve them.
 */
export function readAnswer(engine: Engine, notes: AnswerNotes): CycleAnswer {
  return {
    ...notes,
    cycle: engine.cycleCount,
    pass: engine.pass,
    mismatchCount: engine.mismatchCount,
    actions: readActions(engine),
    record: Uint8Array.from(engine.record),
    shortfalls: engine.shortfalls.entries,
    clusterCount: engine.needs.clusterCount,
    rowCount: engine.needs.rowCount,
  };
}

function readActions({ actions, inventory }: Engine): DecidedActions {
  const count = actions.length;
  const generation = new Uint32Array(count);
  const cluster = new Int32Array(count);
  const need = new Int32Array(count);
  const clusters = new Listing<number>();
  const rows = new Listing<Row>();
  for (let at = 0; at < count; at++) {
    generation[at] = inventory.columns.generation[actions.slot[at]!]!;
    const index = actions.cluster[at]!;
    cluster[at] = index < 0 ? -1 : clusters.indexOf(index);
    const row = actions.row[at];
    need[at] = row === undefined ? -1 : rows.indexOf(row);
  }
  return {
    count,
    kind: actions.kind.slice(0, count),
    slot: actions.slot.slice(0, count),
    generation,
    cluster,
    need,
    graceSeconds: actions.graceSeconds.slice(0, count),
    preemptorPriority: actions.preemptorPriority.slice(0, count),
    clusters: clusters.items.map((index) => inventory.clusters.text(index)),
    needs: rows.items.map(needOf),
  };
}

function needOf({ need: { cluster, profile, group } }: Row): ActionNeed {
  const { fingerprint, priority, interruptionBucket, reclamationBucket, requirements } = profile;
  return {
    cluster,
    fingerprint,
    group,
    priority,
    interruptionBucket,
    reclamationBucket,
    requirements,
  };
}

/** Distinct items in order of first sight. */
class Listing<T> {
  readonly items: T[] = [];
  readonly #indexes = new Map<T, number>();

  indexOf(item: T): number {
    const known = this.#indexes.get(item);
    if (known !== undefined) return known;
    this.#indexes.set(item, this.items.length);
    return this.items.push(item) - 1;
  }
}
