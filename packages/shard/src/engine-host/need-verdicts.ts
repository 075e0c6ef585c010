// The verdicts of the last cycle, for readers: built when somebody asks and given out in pages, so
// that fifty thousand rows never cross a thread or a stream at once. A reader of many pages names
// the cycle that it began with; the two newest that were asked for are kept. Order: priority, then
// arrival, then cluster (shard §14).

import { compareText } from '@bigfleet/base';
import { type Engine, readVerdicts, type Verdict } from '@bigfleet/engine';

const KEPT_CYCLES = 2;

export interface VerdictQuery {
  /** Empty: every cluster. */
  readonly cluster: string;
  readonly offset: number;
  readonly limit: number;
  /** Of an earlier page; the newest verdicts when absent or no longer kept. */
  readonly cycle?: number;
}

export interface VerdictRow {
  readonly verdict: Verdict;
  /** Cycles in the shortfall ledger; 0 when it is not in there. */
  readonly ageCyclesUnmet: number;
}

export interface VerdictPage {
  /** 0 when no cycle has run: "not computed", not "no demand". */
  readonly cycle: number;
  /** Matches in all, before any cut. */
  readonly total: number;
  readonly rows: readonly VerdictRow[];
}

export class NeedVerdicts {
  readonly #engine: Engine;
  /** Newest last. */
  #kept: readonly Kept[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  page({ cluster, offset, limit, cycle }: VerdictQuery): VerdictPage {
    const kept = this.#kept.find((entry) => entry.cycle === cycle) ?? this.latest();
    const rows =
      cluster === ''
        ? kept.rows
        : kept.rows.filter(({ verdict }) => verdict.need.cluster === cluster);
    return { cycle: kept.cycle, total: rows.length, rows: rows.slice(offset, offset + limit) };
  }

  latest(): Kept {
    const newest = this.#kept.at(-1) ?? { cycle: 0, rows: [] };
    if (newest.cycle === this.#engine.cycleCount) return newest;
    const kept = { cycle: this.#engine.cycleCount, rows: this.#read() };
    this.#kept = [...this.#kept.slice(1 - KEPT_CYCLES), kept];
    return kept;
  }

  #read(): readonly VerdictRow[] {
    return readVerdicts(this.#engine)
      .map((verdict) => ({ verdict, ageCyclesUnmet: unmetAge(this.#engine, verdict.need) }))
      .sort(compareRows);
  }
}

/** The ledger ages fingerprints: needs of several clusters share an age. */
export function unmetAge({ shortfalls }: Engine, { profile }: Verdict['need']): number {
  if (shortfalls.entries.size === 0) return 0;
  return shortfalls.entries.get(profile.fingerprint)?.ageCycles ?? 0;
}

interface Kept {
  readonly cycle: number;
  readonly rows: readonly VerdictRow[];
}

function compareRows(
  { verdict: { need: a } }: VerdictRow,
  { verdict: { need: b } }: VerdictRow,
): number {
  if (a.profile.priority !== b.profile.priority) return b.profile.priority - a.profile.priority;
  if (a.arrivalUnixNanos !== b.arrivalUnixNanos) {
    return a.arrivalUnixNanos < b.arrivalUnixNanos ? -1 : 1;
  }
  return (
    compareText(a.cluster, b.cluster) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(a.group, b.group)
  );
}
