// The rows of a List that need a look against the known machines, as batches of changes for the one
// writer of the inventory. A generator, so that the writer applies a batch and lets I/O in before
// the next, also after an empty one: the view is read again for every row, and may have changed
// meanwhile.
//
// Absence means removal only when the List was a full one, complete and readable down to every
// id, and the shrink guard agrees. A rejected record is not absent.

import { joinBytes } from '../list/byte-ranges.ts';
import type { ListColumns } from '../list/columns.ts';
import type { IngestBatch, IngestChange, RejectedRecord } from './ingest.ts';
import { type MergeOptions, RowMerger, type RowOutcome } from './merge-row.ts';
import type { ShrinkGuard, ShrinkVerdict } from './shrink-guard.ts';

/** Rows per batch that turn out unchanged: what main may look at without letting I/O in. */
export const BATCH_ROWS = 2_000;
/** Rows per batch that change something: each costs ten times as much. */
export const BATCH_CHANGES = 250;
/** Known machines looked at between two batches while absence is judged. */
const WALK_SLOTS = 5_000;
/**
 * Of records that wait: 10,000 and more of a usual length. Above it a full List, which brings every
 * record anyway, is the cheaper way to see them again.
 */
export const MAX_WAITING_BYTES = 4_194_304;
/**
 * Rejected records that wait. A provider that is configured under two names has all of its records
 * rejected, and to reject each of them in every cycle helps nobody: the full List brings the others.
 */
export const MAX_WAITING_REJECTED = 256;
const nothing: IngestBatch = { changes: [], rejected: [] };

export interface ReconcileOptions extends MergeOptions {
  /** Only a full List can say that a machine is gone. */
  readonly isFull: boolean;
  readonly guard: ShrinkGuard;
  /** Rows that need a look; the others are as they were known. Absent: all of them. */
  readonly rows?: Uint32Array | undefined;
  /** Machines that a full List omits, if a scan has found that out; else it is found out here. */
  readonly absent?: readonly string[] | undefined;
}

export interface ReconcileSummary {
  readonly rowCount: number;
  readonly removal: RemovalOutcome;
  readonly unsettled: Unsettled;
}

/** What this List said and the fleet did not take in. */
export interface Unsettled {
  /** The next scan must not pass them over. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /**
   * Records of those rows that may be taken in later as they are: of machines with an action under
   * way or a cool-down, and rejected ones for which there is no room now. The bytes of a List.
   */
  readonly waiting: Uint8Array<ArrayBuffer>;
  /** More would have to wait than MAX_WAITING_BYTES: only a full List brings the others again. */
  readonly isOverfull: boolean;
  /** Omitted by the List and kept all the same: held by the guard, or with an action under way. */
  readonly keptIds: readonly string[];
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
  const merger = new RowMerger(options);
  const { columns, rows } = options;
  const leftovers = new Leftovers();
  const count = rows?.length ?? columns.rowCount;
  for (let at = 0; at < count; ) {
    const batch = new Batch();
    merger.nextBatch();
    const end = Math.min(at + BATCH_ROWS, count);
    while (at < end && !batch.isFull) {
      const row = rows === undefined ? at : rows[at]!;
      const outcome = merger.merge(row);
      batch.add(outcome);
      leftovers.add(outcome, row);
      at += 1;
    }
    yield batch;
  }
  const removal = yield* removeAbsent(options, merger, leftovers);
  return { rowCount: columns.rowCount, removal, unsettled: leftovers.unsettled(columns) };
}

class Batch implements IngestBatch {
  readonly changes: IngestChange[] = [];
  readonly rejected: RejectedRecord[] = [];

  get isFull(): boolean {
    return this.changes.length + this.rejected.length >= BATCH_CHANGES;
  }

  add(outcome: RowOutcome): void {
    if (outcome.kind === 'changed') this.changes.push(outcome.change);
    else if (outcome.kind === 'rejected') this.rejected.push(outcome.record);
  }
}

function* removeAbsent(
  options: ReconcileOptions,
  merger: RowMerger,
  leftovers: Leftovers,
): Generator<IngestBatch, RemovalOutcome, void> {
  const { unidentifiedCount } = options.columns.data;
  if (!options.isFull) return { kind: 'not_full' };
  const omitted = yield* omittedMachines(options, merger);
  if (unidentifiedCount > 0) {
    leftovers.keptIds = omitted;
    return { kind: 'incomplete', unidentifiedCount };
  }
  const verdict: ShrinkVerdict = options.guard.judge(
    options.known.countOf(options.provider),
    omitted,
  );
  if (verdict.kind === 'hold') {
    leftovers.keptIds = omitted;
    return { kind: 'held', heldCount: verdict.heldCount, agreeing: verdict.agreeing };
  }
  const removed = new Set<string>();
  for (let from = 0; from < verdict.ids.length; from += BATCH_CHANGES) {
    const changes = removals(options, verdict.ids.slice(from, from + BATCH_CHANGES));
    for (const { before } of changes) removed.add(before.id);
    yield { changes, rejected: [] };
  }
  leftovers.keptIds = omitted.filter((id) => !removed.has(id));
  return { kind: 'done' };
}

/** Known machines of this provider that the List does not contain. */
function* omittedMachines(
  options: ReconcileOptions,
  merger: RowMerger,
): Generator<IngestBatch, readonly string[], void> {
  const { known, columns, provider, absent } = options;
  if (absent !== undefined) return absent.filter((id) => isKnownOf(options, id));
  const omitted: string[] = [];
  let walked = 0;
  for (const slot of known.slotsOf(provider)) {
    if (++walked % WALK_SLOTS === 0) yield nothing;
    if (merger.hasSeen(slot)) continue;
    // Of a machine that this very List brought, or one that is absent indeed.
    const id = known.idOf(slot);
    if (columns.rowOf(id) < 0) omitted.push(id);
  }
  return omitted;
}

function isKnownOf({ known, provider }: ReconcileOptions, id: string): boolean {
  const slot = known.slotOf(id);
  return slot >= 0 && known.providerOf(slot) === provider;
}

/** Asked again now: a batch ago an action may have taken hold of the machine. */
function removals(
  options: ReconcileOptions,
  ids: readonly string[],
): Extract<IngestChange, { kind: 'removed' }>[] {
  const { known } = options;
  return ids.flatMap((id) => {
    if (!isKnownOf(options, id)) return [];
    const slot = known.slotOf(id);
    // A machine whose drain waits for its operator is gone all the same (shard §4.5): no call runs.
    if (known.pendingOf(slot) === 'in_flight' || known.isTouched(slot)) return [];
    return [{ kind: 'removed', before: known.read(slot) }];
  });
}

/** What the fleet does not take in. */
class Leftovers {
  readonly #unsettledRows: number[] = [];
  readonly #waitingRows: number[] = [];
  #waitingRejectedCount = 0;
  keptIds: readonly string[] = [];

  add(outcome: RowOutcome, row: number): void {
    if (outcome.kind === 'changed' || outcome.kind === 'unchanged') return;
    this.#unsettledRows.push(row);
    if (outcome.kind === 'rejected') {
      if (!outcome.isForNow || this.#waitingRejectedCount === MAX_WAITING_REJECTED) return;
      this.#waitingRejectedCount += 1;
    }
    this.#waitingRows.push(row);
  }

  unsettled(columns: ListColumns): Unsettled {
    return {
      rows: Uint32Array.from(this.#unsettledRows),
      ...waitingRecords(columns, this.#waitingRows),
      keptIds: this.keptIds,
    };
  }
}

/** Copies: the columns, and with them the whole answer, are let go of. */
function waitingRecords(
  columns: ListColumns,
  rows: readonly number[],
): Pick<Unsettled, 'waiting' | 'isOverfull'> {
  const records: Uint8Array[] = [];
  let length = 0;
  for (const row of rows) {
    const record = columns.record(row);
    if (length + record.length > MAX_WAITING_BYTES) break;
    records.push(record);
    length += record.length;
  }
  return { waiting: joinBytes(records), isOverfull: records.length < rows.length };
}
