// Proves that a cost order equals a naive sort by effective cost, tier by tier, for every bucket,
// without the classes of infinite cost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bucketUpperBoundDollars,
  createRandom,
  effectiveCost,
  interruptionTerm,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  ZERO_BUCKET,
} from '@bigfleet/base';
import { Classes } from '../store/classes.ts';
import { Dimensions } from '../store/dimensions.ts';
import { machine } from '../testing/build.ts';
import { CostOrder } from './cost-order.ts';
import { ClassSet } from './match-set.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'cost-order-1';

function all(classes: Classes): ClassSet {
  return new ClassSet(classes, () => true);
}

function tiersOf(order: CostOrder): number[][] {
  return Array.from({ length: order.tierCount }, (_, tier) => [
    ...order.klass.subarray(order.tierStart[tier], order.tierStart[tier + 1]),
  ]);
}

test('a worked case: the penalty moves the choice away from spot', () => {
  const classes = new Classes(new Dimensions());
  const spot = classes.join(machine({ id: 'm', price: 1.8, probability: 0.1 }));
  const onDemand = classes.join(machine({ id: 'm', price: 6 }));
  const tiers = (dollars: number): number[][] => {
    const bucket = PENALTY_BUCKETS.find((each) => bucketUpperBoundDollars(each) >= dollars);
    return tiersOf(new CostOrder(classes, all(classes), bucket ?? assert.fail()).refresh(1));
  };
  assert.deepEqual(tiers(4), [[spot], [onDemand]]);
  assert.deepEqual(tiers(64), [[onDemand], [spot]]);
});

test('Pinned: probability 0 is finite, anything above is absent', () => {
  const classes = new Classes(new Dimensions());
  const stable = classes.join(machine({ id: 'm', price: 9 }));
  const free = classes.join(machine({ id: 'm', price: 0 }));
  classes.join(machine({ id: 'm', price: 0, probability: Number.MIN_VALUE }));
  classes.join(machine({ id: 'm', price: 1, probability: 1 }));
  const order = new CostOrder(classes, all(classes), PINNED_BUCKET).refresh(1);
  assert.deepEqual(tiersOf(order), [[free], [stable]]);
  assert.deepEqual([...order.term], [0, 0]);
  assert.equal(order.isRiskFree, true);
});

test('no penalty, no risk: the order is by price and everybody is in it', () => {
  const classes = new Classes(new Dimensions());
  const risky = classes.join(machine({ id: 'm', price: 1, probability: 1 }));
  const safe = classes.join(machine({ id: 'm', price: 1 }));
  const order = new CostOrder(classes, all(classes), ZERO_BUCKET).refresh(1);
  assert.deepEqual(tiersOf(order), [[risky, safe]]);
  assert.equal(order.isRiskFree, true);
});

test('an empty set has no tier', () => {
  const classes = new Classes(new Dimensions());
  const order = new CostOrder(classes, all(classes), ZERO_BUCKET).refresh(1);
  assert.equal(order.tierCount, 0);
  assert.equal(order.klass.length, 0);
});

test('used-up marks last for one cycle, and a new class ends them at once', () => {
  const classes = new Classes(new Dimensions());
  classes.join(machine({ id: 'm', price: 2 }));
  const order = new CostOrder(classes, all(classes), ZERO_BUCKET).refresh(1);
  order.idleTier = 1;
  order.speculativeTier = 1;
  order.refresh(1);
  assert.deepEqual([order.idleTier, order.speculativeTier], [1, 1]);
  order.refresh(2);
  assert.deepEqual([order.idleTier, order.speculativeTier], [0, 0]);
  order.idleTier = 1;
  classes.join(machine({ id: 'm', price: 1 }));
  order.refresh(2);
  assert.equal(order.idleTier, 0);
  assert.equal(order.tierCount, 2);
});

test(`agrees with a naive sort for every bucket, through reuse of classes (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const prices = [0, 0, 0.1, 0.5, 1, 1, 2, 1e300, Number.MAX_VALUE];
  const probabilities = [0, 0, 0, 0.25, 0.5, 1, Number.MIN_VALUE];
  const classes = new Classes(new Dimensions());
  const set = all(classes);
  const orders = PENALTY_BUCKETS.map((bucket) => new CostOrder(classes, set, bucket));
  const live: number[] = [];
  for (let step = 0; step < 150; step++) {
    if (live.length > 5 && random.below(3) === 0) {
      const [gone] = live.splice(random.below(live.length), 1);
      classes.leave(gone ?? assert.fail());
    } else {
      const price = prices[random.below(prices.length)] ?? 0;
      const probability = probabilities[random.below(probabilities.length)] ?? 0;
      const type = `t${random.below(4)}`;
      live.push(classes.join(machine({ id: 'm', price, probability, type })));
    }
    for (const [at, order] of orders.entries()) {
      const penalty = bucketUpperBoundDollars(PENALTY_BUCKETS[at] ?? assert.fail());
      assertOrdered(order.refresh(step), classes, new Set(live), penalty);
    }
  }
});

function assertOrdered(
  order: CostOrder,
  { price, probability }: Classes,
  live: ReadonlySet<number>,
  penalty: number,
): void {
  const costOf = (klass: number): number =>
    effectiveCost(price[klass] ?? -1, probability[klass] ?? -1, penalty);
  const expected = [...live]
    .filter((klass) => costOf(klass) < Number.POSITIVE_INFINITY)
    .sort((a, b) => costOf(a) - costOf(b) || a - b);
  // Classes without machines may still be listed; their pools are empty.
  const found = [...order.klass].filter((klass) => live.has(klass));
  assert.deepEqual(found, expected);
  const entries = [...order.klass.entries()];
  for (const [at, klass] of entries) {
    assert.equal(order.cost[at], costOf(klass));
    assert.equal(order.term[at], interruptionTerm(probability[klass] ?? -1, penalty));
    assert.ok(Number.isFinite(order.cost[at]), 'never NaN, never infinite');
  }
  for (const tier of tiersOf(order)) {
    assert.ok(tier.length > 0);
    assert.equal(new Set(tier.map(costOf)).size, 1, 'a tier is one cost');
  }
  const costs = tiersOf(order).map(([first]) => costOf(first ?? -1));
  for (let at = 1; at < costs.length; at++) {
    assert.ok((costs[at] ?? 0) > (costs[at - 1] ?? 0), 'tiers rise strictly');
  }
  assert.equal(
    order.isRiskFree,
    order.term.every((term) => term === 0),
  );
}
