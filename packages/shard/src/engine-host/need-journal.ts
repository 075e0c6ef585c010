// What changed of the verdicts from one asking to the next, as encoded rows: the live feed sends
// what changed, and finding it is work for the engine's thread. Given out in pages, so that no
// message holds up the thread of the sockets, and no page holds up the next cycle.
//
// A cycle looks at the clusters that changed, and so does the journal: the engine notes whose results
// a cycle may have touched, and of those rows only the ones whose result differs are encoded. Cost per
// cycle: a few comparisons per row of a touched cluster, and an encoded row per unmet need of them;
// bench/dashboard/attached.bench.ts guards it. Between two pages a cycle may run: what it touches waits for
// the next round, because every cycle touches what is unmet, and a round that took that in would never end
// while cycles come faster than pages. So the changes add up to the verdicts after a round without a cycle.
//
// One asker. What it was told is kept here, a few hundred bytes per row, until it starts afresh.

import { type Engine, type NeedRef, readVerdict } from '@bigfleet/engine';
import { encodeNeedView } from './need-view.ts';
import { unmetAge } from './need-verdicts.ts';

const PAGE_ROWS = 500;
/** Rows that are looked at before a page is given out, changed or not. */
const PAGE_LOOKS = 10_000;

type Row = ReturnType<Engine['claimants']>[number];

export interface ChangedNeed {
  readonly ref: NeedRef;
  /** A NeedView. */
  readonly bytes: Uint8Array;
}

export interface NeedChanges {
  /** The last that has run; 0 when none has. */
  readonly cycle: number;
  readonly changed: readonly ChangedNeed[];
  readonly removed: readonly NeedRef[];
  /** Ask again for the rest of the round. */
  readonly hasMore: boolean;
}

/** A row as it was told, with what its view was made of. */
interface Told extends ChangedNeed {
  readonly key: string;
  readonly need: Row['need'];
  readonly isSatisfied: boolean;
  readonly creditedCount: number;
  readonly bootstrapCount: number;
  readonly provisionCount: number;
  readonly domain: string | undefined;
  readonly isSatisfiable: boolean;
  readonly isParked: boolean;
  readonly parkedAge: number;
  readonly unmetAge: number;
}

interface ToldCluster {
  /** In the order of the cluster's rows, one per identity. */
  rows: readonly Told[];
  fingerprints: ReadonlySet<string>;
}

export class NeedJournal {
  readonly #engine: Engine;
  readonly #told = new Map<number, ToldCluster>();
  /** With rows that age, or that depend on the supply of all: each cycle may change them. */
  readonly #restless = new Set<number>();
  /** Due when the round began and not looked at yet; what cycles touch since is due in the next one. */
  readonly #round = new Set<number>();
  #short: ReadonlySet<string> = new Set();
  #cycle = 0;
  #waiting: ChangedNeed[] = [];
  #removed: NeedRef[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** `isFresh`: the asker holds nothing; every row is a change. */
  next(isFresh: boolean): NeedChanges {
    const engine = this.#engine;
    const touched = isFresh ? this.#forget() : (engine.touchedClusters ?? this.#forget());
    if (engine.cycleCount !== this.#cycle) this.#noteCycle(touched);
    // What is left of a page goes out first: a row that went and came again would be told in the wrong order.
    if (this.#waiting.length === 0 && this.#removed.length === 0) this.#look(touched);
    const changed = this.#waiting.splice(0, PAGE_ROWS);
    const removed = this.#removed.splice(0, PAGE_ROWS);
    const hasMore = this.#round.size > 0 || this.#waiting.length > 0 || this.#removed.length > 0;
    return { cycle: this.#cycle, changed, removed, hasMore };
  }

  #look(touched: Set<number>): void {
    if (this.#round.size === 0) for (const cluster of touched) this.#round.add(cluster);
    let looked = 0;
    for (const cluster of this.#round) {
      if (this.#waiting.length >= PAGE_ROWS || looked >= PAGE_LOOKS) return;
      this.#round.delete(cluster);
      touched.delete(cluster);
      looked += this.#compare(cluster);
    }
  }

  /** Nothing was told: every cluster is to be looked at. */
  #forget(): Set<number> {
    this.#told.clear();
    this.#round.clear();
    this.#restless.clear();
    this.#short = new Set();
    this.#waiting = [];
    this.#removed = [];
    const all = new Set<number>();
    for (let cluster = 0; cluster < this.#engine.inventory.clusters.size; cluster++) {
      all.add(cluster);
    }
    this.#engine.touchedClusters = all;
    return all;
  }

  /** What a cycle changes besides what it evaluates: ages, and the reasons of what stays short. */
  #noteCycle(touched: Set<number>): void {
    const { cycleCount, shortfalls } = this.#engine;
    this.#cycle = cycleCount;
    for (const cluster of this.#restless) touched.add(cluster);
    const short = new Set(shortfalls.entries.keys());
    const newlyShort = new Set([...short].filter((fingerprint) => !this.#short.has(fingerprint)));
    this.#short = short;
    if (newlyShort.size === 0) return;
    for (const [cluster, { fingerprints }] of this.#told) {
      if (!touched.has(cluster) && haveCommon(newlyShort, fingerprints)) touched.add(cluster);
    }
  }

  /** How many rows it looked at. */
  #compare(cluster: number): number {
    if (this.#cycle === 0) return 0;
    const rows = this.#engine.claimants(cluster);
    const told = this.#told.get(cluster);
    const isAsTold = told !== undefined && isAligned(rows, told.rows);
    const now = isAsTold ? rows : shownRows(rows);
    const isSameList = isAsTold || (told !== undefined && isAligned(now, told.rows));
    const before = isSameList ? undefined : byKey(told?.rows ?? []);
    let isRestless = false;
    const next: Told[] = [];
    for (let at = 0; at < now.length; at++) {
      const row = now[at]!;
      const known = before === undefined ? told?.rows[at] : before.get(row.key);
      before?.delete(row.key);
      const entry = this.#entryOf(row, known);
      next.push(entry);
      isRestless ||= !entry.isSatisfied || entry.parkedAge > 0 || entry.unmetAge > 0;
    }
    for (const { ref } of before?.values() ?? []) this.#removed.push(ref);
    if (isRestless) this.#restless.add(cluster);
    else this.#restless.delete(cluster);
    if (next.length === 0) this.#told.delete(cluster);
    else if (isSameList) told.rows = next;
    else this.#told.set(cluster, { rows: next, fingerprints: fingerprintsOf(next) });
    return rows.length;
  }

  /** As it is to be remembered; what differs from what was told is told. */
  #entryOf(row: Row, known: Told | undefined): Told {
    const engine = this.#engine;
    const { need, result } = row;
    const age = unmetAge(engine, need);
    const parkedAge = engine.parking.ageBefore(row);
    if (known !== undefined && isStill(known, row, parkedAge, age)) return known;
    const bytes = encodeNeedView({ verdict: readVerdict(engine, row), ageCyclesUnmet: age });
    const ref = known?.ref ?? refOf(row);
    const isTold = known !== undefined && Buffer.compare(known.bytes, bytes) === 0;
    if (!isTold) this.#waiting.push({ ref, bytes });
    const { isSatisfied, creditedCount, bootstrapCount, provisionCount } = result;
    const { domain, isSatisfiable, isParked } = result;
    return {
      ref,
      bytes: isTold ? known.bytes : bytes,
      key: row.key,
      need,
      isSatisfied,
      creditedCount,
      bootstrapCount,
      provisionCount,
      domain,
      isSatisfiable,
      isParked,
      parkedAge,
      unmetAge: age,
    };
  }
}

/** Everything that a view of a covered need is made of; of an unmet one it is more. */
function isStill(told: Told, { need, result }: Row, parkedAge: number, age: number): boolean {
  return (
    told.isSatisfied &&
    result.isSatisfied &&
    told.need === need &&
    told.creditedCount === result.creditedCount &&
    told.bootstrapCount === result.bootstrapCount &&
    told.provisionCount === result.provisionCount &&
    told.domain === result.domain &&
    told.isSatisfiable === result.isSatisfiable &&
    told.isParked === result.isParked &&
    told.parkedAge === parkedAge &&
    told.unmetAge === age
  );
}

/**
 * One row per identity: gangs of several sizes can share one. A short row is shown before a covered one,
 * else the oldest.
 */
function shownRows(rows: readonly Row[]): readonly Row[] {
  const shown = new Map<string, Row>();
  for (const row of rows) {
    const before = shown.get(row.key);
    if (before === undefined || isShownBefore(row, before)) shown.set(row.key, row);
  }
  return shown.size === rows.length ? rows : [...shown.values()];
}

function isShownBefore(row: Row, other: Row): boolean {
  if (row.result.isSatisfied !== other.result.isSatisfied) return !row.result.isSatisfied;
  return row.need.arrivalUnixNanos < other.need.arrivalUnixNanos;
}

/** The same identities in the same order. */
function isAligned(rows: readonly Row[], told: readonly Told[]): boolean {
  if (rows.length !== told.length) return false;
  for (let at = 0; at < rows.length; at++) if (rows[at]!.key !== told[at]!.key) return false;
  return true;
}

function byKey(told: readonly Told[]): Map<string, Told> {
  return new Map(told.map((entry) => [entry.key, entry]));
}

/** By the smaller one: thousands of fingerprints may be newly short, and thousands of clusters are asked. */
function haveCommon(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  for (const each of few) if (many.has(each)) return true;
  return false;
}

function fingerprintsOf(told: readonly Told[]): ReadonlySet<string> {
  return new Set(told.map(({ ref }) => ref.fingerprint));
}

function refOf({ need: { cluster, profile, group } }: Row): NeedRef {
  return { cluster, fingerprint: profile.fingerprint, group };
}
