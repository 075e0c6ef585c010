// The demand of every cluster. A roll-up replaces its cluster's whole contribution; there is no
// merge and no delta, so unmet demand re-asserts itself and withdrawal is just absence.
// Row order never depends on wire order or map iteration.
//
// Most roll-ups name the rows of the one before in the same order, with other sizes: those are
// compared row by row. Cost of such a row: a few comparisons and no text; of any other: its key, two
// map entries and its share of a sort. Guarded by shard/session/5k.

import type { EligibleSets } from '../match/eligible-set.ts';
import { aggregateByKey, compareDemand, type Need, needKey } from '../model/need.ts';
import { isEqual, resourcesKey } from '../model/resources.ts';
import type { VectorTable } from '../store/dimensions.ts';
import { hashText, type InputDigest } from '../store/input-digest.ts';
import type { Interner } from '../store/interner.ts';
import type { CompiledProfiles } from './compiled-profile.ts';
import { eligibleKeyOf, isAlwaysServed, isSameDemand, type Row } from './row.ts';

export interface RowContext {
  readonly profiles: CompiledProfiles;
  readonly eligible: EligibleSets;
  readonly groups: Interner;
  readonly vectors: VectorTable;
  readonly digest: InputDigest;
}

interface Demand {
  /** In demand order. */
  readonly rows: readonly Row[];
  /** The same rows in the order in which the roll-up named them first. */
  readonly wire: readonly Row[];
}

const noDemand: Demand = { rows: [], wire: [] };

export class NeedsTable {
  readonly #context: RowContext;
  readonly #clusters = new Map<number, Demand>();
  #rowCount = 0;
  /** Clusters whose demand changed since the last cycle. */
  readonly dirtyClusters: Set<number> = new Set();

  constructor(context: RowContext) {
    this.#context = context;
  }

  get clusterCount(): number {
    return this.#clusters.size;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  clusters(): IterableIterator<number> {
    return this.#clusters.keys();
  }

  /** In demand order. */
  rowsOf(cluster: number): readonly Row[] {
    return (this.#clusters.get(cluster) ?? noDemand).rows;
  }

  /** Swaps the cluster's demand; rows seen before keep their first arrival. */
  replace(cluster: number, needs: readonly Need[]): void {
    const before = this.#clusters.get(cluster) ?? noDemand;
    const demand = hasKeysOf(before.wire, needs)
      ? this.#resized(cluster, before, needs)
      : this.#rebuilt(cluster, before, needs);
    const { rows } = demand;
    this.#rowCount += rows.length - before.rows.length;
    if (rows.length === 0) this.#clusters.delete(cluster);
    else this.#clusters.set(cluster, demand);
    this.dirtyClusters.add(cluster);
    this.#addToDigest(rows);
  }

  /** The same rows, some of them with another size. Does to the context what a rebuild would. */
  #resized(cluster: number, { rows, wire }: Demand, needs: readonly Need[]): Demand {
    const replaced = new Map<Row, Row>();
    let isSorted = true;
    const wireNow = wire.map((known, at) => {
      const need = needs[at] as Need;
      if (isUnchanged(known.need, need)) return known;
      const row = createRow(this.#context, cluster, keepArrival(need, known.need), false);
      replaced.set(known, row);
      isSorted &&= row.need.arrivalUnixNanos === known.need.arrivalUnixNanos;
      return row;
    });
    if (replaced.size === 0) return { rows, wire };
    for (const row of rows) if (replaced.has(row)) releaseRow(this.#context, row);
    const rowsNow = rows.map((row) => replaced.get(row) ?? row);
    if (!isSorted) rowsNow.sort((a, b) => compareDemand(a.need, b.need));
    return { rows: rowsNow, wire: wireNow };
  }

  #rebuilt(cluster: number, before: Demand, needs: readonly Need[]): Demand {
    const gone = new Map(before.rows.map((row) => [row.key, row]));
    const wire: Row[] = [];
    for (const [key, need] of aggregateByKey(needs)) {
      wire.push(this.#rowFor(cluster, key, need, gone));
    }
    const rows = wire.toSorted((a, b) => compareDemand(a.need, b.need));
    for (const row of gone.values()) releaseRow(this.#context, row);
    return { rows, wire };
  }

  #addToDigest(rows: readonly Row[]): void {
    const { digest } = this.#context;
    digest.add(rows.length);
    for (const row of rows) {
      digest.add(row.demandHash);
      digest.add(row.arrivalLow);
    }
  }

  /** The row of before when nothing of it changed; it then stays out of what is released. */
  #rowFor(cluster: number, key: string, need: Need, gone: Map<string, Row>): Row {
    const known = gone.get(key);
    const aged = keepArrival(need, known?.need);
    if (known !== undefined && isSameDemand(known.need, aged)) {
      gone.delete(key);
      return known;
    }
    return createRow(this.#context, cluster, aged, false);
  }
}

/** Row by row the same key: the rows have distinct ones, so the needs do too. */
function hasKeysOf(rows: readonly Row[], needs: readonly Need[]): boolean {
  if (rows.length !== needs.length || rows.length === 0) return false;
  for (let at = 0; at < rows.length; at++) {
    const known = rows[at]!.need;
    const need = needs[at] as Need;
    if (known.group !== need.group || known.cluster !== need.cluster) return false;
    if (known.profile === need.profile) continue;
    if (known.profile.fingerprint !== need.profile.fingerprint) return false;
  }
  return true;
}

/** Of two needs with one key: also when the first arrival is kept. */
function isUnchanged(known: Need, need: Need): boolean {
  const isArrivalKept =
    known.arrivalUnixNanos !== 0n || known.arrivalUnixNanos === need.arrivalUnixNanos;
  return (
    isArrivalKept &&
    isEqual(known.aggregate, need.aggregate) &&
    isEqual(known.minUnit, need.minUnit)
  );
}

function keepArrival(need: Need, known: Need | undefined): Need {
  // 0 is "not stamped": kept, it would outrank everybody for ever.
  if (known === undefined || known.arrivalUnixNanos === 0n) return need;
  if (known.arrivalUnixNanos === need.arrivalUnixNanos) return need;
  return { ...need, arrivalUnixNanos: known.arrivalUnixNanos };
}

export function createRow(
  context: RowContext,
  cluster: number,
  need: Need,
  isFolded: boolean,
): Row {
  const compiled = context.profiles.retain(need.profile);
  const eligibleKey = eligibleKeyOf(compiled, resourcesKey(need.minUnit));
  const aggregateKey = isFolded ? '' : resourcesKey(need.aggregate);
  const aggregate = context.vectors.allocate();
  context.vectors.write(aggregate, need.aggregate);
  // What a cycle touches comes first: rows are visited in an order that defeats the prefetcher,
  // so each cache line counts.
  return {
    compiled,
    eligible: context.eligible.retain(compiled.match, need.minUnit, eligibleKey),
    cluster,
    isAlwaysServed: isAlwaysServed(need),
    isFolded,
    aggregate,
    group: context.groups.retain(need.group),
    result: {
      isParked: false,
      isHeldOff: false,
      brake: undefined,
      afterCredit: context.vectors.allocate(),
      deficit: context.vectors.allocate(),
      isSatisfied: false,
      creditedCount: 0,
      bootstrapCount: 0,
      provisionCount: 0,
      blockedBy: undefined,
      recordPlace: 0,
      victimList: 0,
      domain: undefined,
      index: 0,
      isCoveredByCredit: false,
      awaitingDrainCount: 0,
      victimCount: 0,
      preemptionCode: undefined,
      isSatisfiable: false,
      sameCandidates: [],
      foldKey: undefined,
      keptBy: 0,
    },
    need,
    key: needKey(need),
    demandHash: hashText(
      `${need.cluster}|${need.group}|${aggregateKey}|${eligibleKey}|${need.profile.fingerprint}`,
    ),
    eligibleKey,
    aggregateKey,
    gangKey:
      compiled.sameKey === undefined ? '' : `${compiled.strippedFingerprint}#${aggregateKey}`,
    arrivalHigh: Number(need.arrivalUnixNanos >> 32n),
    arrivalLow: Number(need.arrivalUnixNanos & 0xffff_ffffn),
  };
}

/** Another size of the same folded demand: whoever holds the row sees it in the next cycle. */
export function resizeRow({ vectors }: RowContext, row: Row, need: Need): void {
  row.need = need;
  vectors.write(row.aggregate, need.aggregate);
}

export function releaseRow(context: RowContext, row: Row): void {
  context.profiles.release(row.compiled);
  context.eligible.release(row.eligibleKey);
  context.groups.release(row.group);
  context.vectors.release(row.aggregate);
  context.vectors.release(row.result.afterCredit);
  context.vectors.release(row.result.deficit);
}
