// What changed of the verdicts from one asking to the next, as encoded rows: the live feed sends
// what changed, and comparing fifty thousand rows is work for the engine's thread. Given out in
// pages, so that no message holds up the thread of the sockets.
//
// One asker. What it was told is kept here, a few hundred bytes per row, until it starts afresh.

import { type NeedRef, needKey } from '@bigfleet/engine';
import { encodeNeedView } from './need-view.ts';
import type { NeedVerdicts, VerdictRow } from './need-verdicts.ts';

const PAGE_ROWS = 500;

export interface ChangedNeed {
  readonly ref: NeedRef;
  /** A NeedView. */
  readonly bytes: Uint8Array;
}

export interface NeedChanges {
  /** Of the verdicts that were compared; 0 when no cycle has run. */
  readonly cycle: number;
  readonly changed: readonly ChangedNeed[];
  readonly removed: readonly NeedRef[];
  /** Ask again for the rest of the same cycle. */
  readonly hasMore: boolean;
}

export class NeedJournal {
  readonly #verdicts: NeedVerdicts;
  #told = new Map<string, ChangedNeed>();
  #cycle = 0;
  #waiting: ChangedNeed[] = [];
  #removed: NeedRef[] = [];

  constructor(verdicts: NeedVerdicts) {
    this.#verdicts = verdicts;
  }

  /** `isFresh`: the asker holds nothing; every row is a change. */
  next(isFresh: boolean): NeedChanges {
    if (isFresh) this.#forget();
    if (this.#waiting.length === 0 && this.#removed.length === 0) this.#compare();
    const changed = this.#waiting.splice(0, PAGE_ROWS);
    const removed = this.#removed.splice(0, PAGE_ROWS);
    const hasMore = this.#waiting.length > 0 || this.#removed.length > 0;
    return { cycle: this.#cycle, changed, removed, hasMore };
  }

  #forget(): void {
    this.#told = new Map();
    this.#waiting = [];
    this.#removed = [];
    this.#cycle = 0;
  }

  #compare(): void {
    const { cycle, rows } = this.#verdicts.latest();
    if (cycle === this.#cycle) return;
    this.#cycle = cycle;
    const now = new Map<string, ChangedNeed>();
    for (const [key, row] of byIdentity(rows)) {
      const bytes = encodeNeedView(row);
      const before = this.#told.get(key);
      const ref = before?.ref ?? refOf(row);
      now.set(key, { ref, bytes });
      if (before === undefined || !areEqual(before.bytes, bytes))
        this.#waiting.push({ ref, bytes });
    }
    for (const [key, { ref }] of this.#told) if (!now.has(key)) this.#removed.push(ref);
    this.#told = now;
  }
}

/** Gangs of several sizes can share one identity: a short row is shown before a covered one. */
function byIdentity(rows: readonly VerdictRow[]): ReadonlyMap<string, VerdictRow> {
  const shown = new Map<string, VerdictRow>();
  for (const row of rows) {
    const key = needKey(row.verdict.need);
    const before = shown.get(key);
    const isShorter = before?.verdict.satisfied === true && !row.verdict.satisfied;
    if (before === undefined || isShorter) shown.set(key, row);
  }
  return shown;
}

function refOf({ verdict }: VerdictRow): NeedRef {
  const { cluster, profile, group } = verdict.need;
  return { cluster, fingerprint: profile.fingerprint, group };
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
