// Proves that the totals of domains follow the pools and what a pass consumes, and that a ranking
// proposes the domains that the domain choice prefers, over random changes to many racks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { EligibleSets } from '../match/eligible-set.ts';
import { State } from '../model/state.ts';
import { VectorTable } from '../store/dimensions.ts';
import { Inventory } from '../store/inventory.ts';
import { machine, RACK_KEY, resources } from '../testing/build.ts';
import { BucketPool, type DomainBucket, DomainChooser } from './domain-choice.ts';
import { DomainTotals } from './domain-totals.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'ranking-1';
const RACKS = 40;
const LIMIT = 5;
const SHAPES = [
  resources({ cpu: 1000, memory: 4 }),
  resources({ cpu: 4000, memory: 1 }),
  // Two of them are beyond 2⁵³.
  resources({ cpu: 2000, memory: Number.MAX_SAFE_INTEGER - 7 }),
];

class Bench {
  readonly inventory: Inventory = new Inventory();
  readonly vectors: VectorTable = new VectorTable(this.inventory.dimensions);
  readonly chooser: DomainChooser = new DomainChooser(this.inventory.dimensions, this.vectors);
  readonly #sets: EligibleSets = new EligibleSets(this.inventory.classes);
  readonly domains = this.#sets
    .retain(this.#sets.retainMatch([], 'all'), resources({}), 'all')
    .domains(RACK_KEY);
  readonly aggregates = [
    resources({ cpu: 3000 }),
    resources({ cpu: 9000, memory: 9 }),
    resources({ memory: 30 }),
  ].map((wanted, at) => {
    const handle = this.vectors.allocate();
    this.vectors.write(handle, wanted);
    return { handle, key: `size-${at}` };
  });

  /** Puts, moves or removes a machine somewhere. */
  change(random: Random): void {
    const id = `m${random.below(150)}`;
    const slot = this.inventory.slotOf(id);
    if (slot >= 0 && random.below(3) === 0) {
      this.inventory.remove(id);
      return;
    }
    const at = Number(id.slice(1));
    const isRisky = at % 7 === 0;
    const result = this.inventory.put(
      machine({
        id,
        rack: `rack-${at % RACKS}`,
        has: SHAPES[at % 50 === 0 ? 2 : at % 2] ?? assert.fail(),
        probability: isRisky ? 0.5 : 0,
        ...(random.below(3) === 0
          ? { state: 'Configured' as const, cluster: 'c' }
          : { state: random.below(2) === 0 ? ('Idle' as const) : ('Speculative' as const) }),
      }),
      1,
    );
    assert.ok(result.ok);
  }

  /** Naive: every acquirable machine, less what was consumed of its class. */
  buckets(isPinned: boolean, consumed: readonly number[]): DomainBucket[] {
    const { columns, classes } = this.inventory;
    const left = new Map<number, number>();
    for (let slot = 0; slot < this.inventory.slotCount; slot++) {
      const state = columns.state[slot];
      const klass = columns.klass[slot] ?? -1;
      if (state !== State.Idle && state !== State.Speculative) continue;
      if (isPinned && classes.probability[klass] !== 0) continue;
      left.set(klass, (left.get(klass) ?? 0) + 1);
    }
    for (const klass of consumed) {
      if (left.has(klass)) left.set(klass, (left.get(klass) ?? 0) - 1);
    }
    const pool = new BucketPool();
    const byRack = new Map<string, DomainBucket>();
    const { values, stride } = classes.allocatable;
    for (const [klass, count] of left) {
      const rack = classes.valueOf(klass, RACK_KEY) ?? assert.fail();
      const bucket = byRack.get(rack) ?? pool.take(rack, stride);
      byRack.set(rack, bucket);
      bucket.count += count;
      for (let d = 0; d < stride; d++) {
        const sum = (bucket.total[d] ?? 0) + (values[klass * stride + d] ?? 0) * count;
        bucket.total[d] = Math.min(sum, Number.MAX_SAFE_INTEGER);
      }
    }
    return [...byRack.values()];
  }

  assertFollows(totals: DomainTotals, isPinned: boolean, consumed: readonly number[]): void {
    const { counts, sums, stride } = totals;
    const buckets = this.buckets(isPinned, consumed);
    for (const [domain, value] of this.domains.values.entries()) {
      const bucket = buckets.find((each) => each.value === value);
      assert.equal(counts[domain], bucket?.count ?? 0, value);
      for (let d = 0; d < stride; d++) {
        const sum = Math.min(sums[domain * stride + d] ?? -1, Number.MAX_SAFE_INTEGER);
        assert.equal(sum, bucket?.total[d] ?? 0, `${value} ${d}`);
      }
    }
  }

  assertRanks(totals: DomainTotals, isPinned: boolean, consumed: readonly number[]): void {
    for (const { handle, key } of this.aggregates) {
      this.chooser.load(handle);
      const ranking = totals.ranking(key);
      ranking.follow(this.chooser);
      const excluded = new Set(['rack-3', 'rack-14', 'rack-15']);
      const isExcluded = (domain: number): boolean =>
        excluded.has(this.domains.values[domain] ?? assert.fail());
      const found: number[] = [];
      ranking.best(LIMIT, isExcluded, found);
      const open = this.buckets(isPinned, consumed).filter(({ value }) => !excluded.has(value));
      const expected = this.chooser.best(open, LIMIT).map(({ value }) => value);
      assert.deepEqual(
        found.map((domain) => this.domains.values[domain]),
        expected,
        key,
      );
    }
  }
}

for (const isPinned of [false, true]) {
  const kind = isPinned ? 'pinned gangs' : 'gangs';
  test(`totals and rankings of ${kind} agree with a count (seed ${SEED})`, () => {
    const random = createRandom(`${SEED}-${kind}`);
    const bench = new Bench();
    for (let at = 0; at < 150; at++) bench.change(random);
    const totals = new DomainTotals(bench.inventory, bench.domains, isPinned);
    for (let pass = 1; pass < 150; pass++) {
      for (let left = random.below(4); left > 0; left--) bench.change(random);
      const consumed: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        totals.follow(pass, consumed);
        bench.assertFollows(totals, isPinned, consumed);
        bench.assertRanks(totals, isPinned, consumed);
        consume(bench, isPinned, consumed, random);
      }
    }
  });
}

/** One machine of a class that has one left. */
function consume(bench: Bench, isPinned: boolean, consumed: number[], random: Random): void {
  const { inventory } = bench;
  const klass = random.below(inventory.classes.length);
  if (isPinned && inventory.classes.probability[klass] !== 0) return;
  const size = inventory.idlePools[klass]?.size ?? 0;
  const inPools = size + (inventory.speculativePools[klass]?.size ?? 0);
  if (consumed.filter((each) => each === klass).length < inPools) consumed.push(klass);
}
