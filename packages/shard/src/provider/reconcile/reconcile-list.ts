// A whole List against the known machines, as batches of changes for the one writer of the
// inventory. A generator, so that the writer applies a batch and lets I/O in before the next, also
// after an empty one: the view is read again for every row, and may have changed meanwhile.
//
// Absence means removal only when the List was a full one, complete and readable down to every
// id, and the shrink guard agrees. A rejected record is not absent.

import type { MachineRefusal } from '@bigfleet/base';
import type { IngestBatch, IngestChange, RejectedRecord } from './ingest.ts';
import { type MergeOptions, RowMerger } from './merge-row.ts';
import type { ShrinkGuard, ShrinkVerdict } from './shrink-guard.ts';

/** Rows per batch, changed or not: what main may work through without letting I/O in. */
export const BATCH_ROWS = 2_000;
/** Known machines looked at between two batches while absence is judged. */
const WALK_SLOTS = 5_000;
const nothing: IngestBatch = { changes: [], rejected: [] };

export interface ReconcileOptions extends MergeOptions {
  /** Only a full List can say that a machine is gone. */
  readonly isFull: boolean;
  readonly guard: ShrinkGuard;
}

export interface ReconcileSummary {
  readonly rowCount: number;
  readonly unchangedCount: number;
  readonly pendingCount: number;
  readonly coolingDownCount: number;
  readonly changeCounts: Readonly<Record<IngestChange['kind'], number>>;
  readonly rejectedCounts: Readonly<Record<MachineRefusal, number>>;
  readonly removal: RemovalOutcome;
}

export type RemovalOutcome =
  /** Deltas remove nothing. */
  | { readonly kind: 'not_full' }
  /** So many records without a readable id: any known machine may be one of them. */
  | { readonly kind: 'incomplete'; readonly unidentifiedCount: number }
  | { readonly kind: 'held'; readonly heldCount: number; readonly agreeing: number }
  | { readonly kind: 'done' };

export function* reconcileList(
  options: ReconcileOptions,
): Generator<IngestBatch, ReconcileSummary, void> {
  const tally = new Tally();
  const merger = new RowMerger(options);
  const { rowCount } = options.columns;
  for (let from = 0; from < rowCount; from += BATCH_ROWS) {
    yield mergeRows(merger, from, Math.min(from + BATCH_ROWS, rowCount), tally);
  }
  const removal = yield* removeAbsent(options, merger, tally);
  return tally.summary(rowCount, removal);
}

function mergeRows(merger: RowMerger, from: number, to: number, tally: Tally): IngestBatch {
  const changes: IngestChange[] = [];
  const rejected: RejectedRecord[] = [];
  for (let row = from; row < to; row++) {
    const outcome = merger.merge(row);
    if (outcome.kind === 'changed') {
      changes.push(outcome.change);
      tally.changes[outcome.change.kind] += 1;
    } else if (outcome.kind === 'rejected') {
      rejected.push(outcome.record);
      tally.rejected[outcome.record.reason] += 1;
    } else {
      tally.skipped[outcome.kind] += 1;
    }
  }
  return { changes, rejected };
}

function* removeAbsent(
  options: ReconcileOptions,
  merger: RowMerger,
  tally: Tally,
): Generator<IngestBatch, RemovalOutcome, void> {
  const { unidentifiedCount } = options.columns.data;
  if (!options.isFull) return { kind: 'not_full' };
  if (unidentifiedCount > 0) return { kind: 'incomplete', unidentifiedCount };
  const verdict = yield* judgeAbsence(options, merger);
  if (verdict.kind === 'hold') return { ...verdict, kind: 'held' };
  for (let from = 0; from < verdict.ids.length; from += BATCH_ROWS) {
    const changes = removals(options, verdict.ids.slice(from, from + BATCH_ROWS));
    tally.changes.removed += changes.length;
    yield { changes, rejected: [] };
  }
  return { kind: 'done' };
}

function* judgeAbsence(
  { known, columns, provider, guard }: ReconcileOptions,
  merger: RowMerger,
): Generator<IngestBatch, ShrinkVerdict, void> {
  const omitted: string[] = [];
  let knownCount = 0;
  for (const slot of known.slotsOf(provider)) {
    if (++knownCount % WALK_SLOTS === 0) yield nothing;
    if (merger.hasSeen(slot)) continue;
    // Of a machine that this very List brought, or one that is absent indeed.
    const id = known.idOf(slot);
    if (columns.rowOf(id) < 0) omitted.push(id);
  }
  return guard.judge(knownCount, omitted);
}

/** Asked again now: a batch ago an action may have taken hold of the machine. */
function removals({ known, provider }: ReconcileOptions, ids: readonly string[]): IngestChange[] {
  return ids.flatMap((id) => {
    const slot = known.slotOf(id);
    if (slot < 0 || known.providerOf(slot) !== provider) return [];
    if (known.pendingOf(slot) !== 'none') return [];
    return [{ kind: 'removed', before: known.read(slot) }];
  });
}

class Tally {
  readonly changes: Record<IngestChange['kind'], number> = {
    inserted: 0,
    moved: 0,
    refreshed: 0,
    replaced: 0,
    removed: 0,
  };
  readonly rejected: Record<MachineRefusal, number> = {
    price: 0,
    interruption_probability: 0,
    structural: 0,
    duplicate_id: 0,
  };
  readonly skipped: Record<'unchanged' | 'pending' | 'cooling_down', number> = {
    unchanged: 0,
    pending: 0,
    cooling_down: 0,
  };

  summary(rowCount: number, removal: RemovalOutcome): ReconcileSummary {
    return {
      rowCount,
      unchangedCount: this.skipped.unchanged,
      pendingCount: this.skipped.pending,
      coolingDownCount: this.skipped.cooling_down,
      changeCounts: this.changes,
      rejectedCounts: this.rejected,
      removal,
    };
  }
}
