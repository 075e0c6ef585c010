// A decided cycle as an answer: the engine's columns are reused by the next cycle, so everything
// is copied out, once, and needs are listed once however many actions serve them.

import type { ActionHash, Engine } from '@bigfleet/engine';
import type { ActionNeed, CycleAnswer, DecidedActions, PhaseTimes } from './answer.ts';
import type { TracePart } from './trace-parts.ts';

type Row = NonNullable<Engine['actions']['row'][number]>;

export interface AnswerNotes {
  readonly actionHash: ActionHash;
  readonly trace: readonly TracePart[];
  readonly tookMs: PhaseTimes;
}

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
