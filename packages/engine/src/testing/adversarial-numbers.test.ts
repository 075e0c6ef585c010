// Proves that hostile numbers (0 × ∞, sums beyond the exact integers, the ends of int32, edges of
// buckets and prices) are decided alike by the engine and the oracle, and bend nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bucketOfDollars,
  bucketUpperBoundDollars,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  type PenaltyBucket,
  type UnmetCode,
} from '@bigfleet/base';
import type { CycleOutput } from '../model/cycle.ts';
import { ActionKind } from '../model/action.ts';
import { CapacityType } from '../model/capacity-type.ts';
import {
  acted,
  cores,
  fleet,
  machine,
  machines,
  need,
  RACK_KEY,
  resources,
  told,
} from './build.ts';
import { decideBoth as decide } from './decide-both.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);
const INFINITE = Number.POSITIVE_INFINITY;

function reasons({ verdicts }: CycleOutput): UnmetCode[] {
  return verdicts.map(({ reasonCode }) => reasonCode);
}

// 0 × ∞

test('a pinned need takes machines of probability 0, by price, from both pools', () => {
  const output = decide(
    fleet({
      machines: [
        machine({ id: 'risky', price: 0, probability: Number.MIN_VALUE }),
        machine({ id: 'dear', price: 9 }),
        machine({ id: 'free', price: 0 }),
        machine({ id: 'slot', price: 0, state: 'Speculative' }),
      ],
      needs: [need({ wants: cores(3), interruption: INFINITE })],
    }),
  );
  assert.deepEqual(told(output), ['Bootstrap free', 'Bootstrap dear', 'Provision slot']);
});

test('a pinned need with nothing but risky supply acts on nothing, not even by preemption', () => {
  const output = decide(
    fleet({
      machines: [
        machine({ id: 'idle', probability: 1 }),
        machine({ id: 'slot', state: 'Speculative', probability: 0.01 }),
        machine({ id: 'bound', state: 'Configured', cluster: 'b', probability: 0.5 }),
        machine({ id: 'drain', state: 'Draining', cluster: 'b', probability: 0.5 }),
      ],
      needs: [
        need({ wants: cores(1), interruption: INFINITE, priority: INT32_MAX }),
        need({ wants: cores(1), cluster: 'b', priority: INT32_MIN }),
      ],
    }),
  );
  assert.deepEqual(told(output), []);
  assert.deepEqual(reasons(output), ['no_stable_supply', 'satisfied']);
});

test('a pinned need keeps the machine it runs on when its probability rises, and only that', () => {
  const pinned = need({ wants: cores(1), interruption: INFINITE });
  const other = need({ wants: cores(1), interruption: INFINITE, priority: 5 });
  const output = decide(
    fleet({
      machines: [machine({ id: 'm', state: 'Configured', serves: pinned, probability: 1 })],
      needs: [pinned, other],
    }),
  );
  assert.deepEqual(told(output), []);
  assert.deepEqual(reasons(output), ['no_stable_supply', 'satisfied']);
});

// Large memory

test('memory above 8 TiB stays exact: one KiB decides', () => {
  const eightTi = 2 ** 33;
  const rows: readonly [wants: number, count: number][] = [
    [eightTi, 1],
    [eightTi + 1, 2],
    [3 * eightTi, 3],
    [3 * eightTi + 1, 4],
  ];
  for (const [wants, count] of rows) {
    const output = decide(
      fleet({
        machines: machines(5, 'm', { has: resources({ memory: eightTi }) }),
        needs: [
          need({ wants: resources({ memory: wants }), unit: resources({ memory: eightTi }) }),
        ],
      }),
    );
    assert.equal(acted(output, ActionKind.Bootstrap).length, count, `${wants} KiB`);
  }
});

test('sums that leave the exact integers saturate and still end', () => {
  const huge = machines(4, 'm', { has: resources({ memory: MAX - 1, cpu: 1000 }), rack: 'r1' });
  const rest = machines(2, 'n', { has: resources({ memory: 1, cpu: MAX }), rack: 'r2' });
  const wants = resources({ memory: MAX, cpu: 5000 });
  for (const same of [undefined, RACK_KEY]) {
    const output = decide(
      fleet({
        machines: [...huge, ...rest],
        needs: [need({ wants, ...(same === undefined ? {} : { same, group: 'g' }) })],
      }),
    );
    assert.equal(output.verdicts.length, 1);
  }
  const twice = [1, 2].map((at) => need({ wants: resources({ memory: MAX }), group: `${at}` }));
  const output = decide(fleet({ needs: twice }));
  assert.deepEqual(
    output.memory.shortfalls.get(twice[0]?.profile.fingerprint ?? '')?.deficit,
    wantsOf(MAX),
  );
});

function wantsOf(memory: number): ReadonlyMap<string, number> {
  return resources({ memory });
}

// Priorities

test('int32 extremes preempt each other with the shortest grace, in one direction only', () => {
  const low = need({ wants: cores(1), priority: INT32_MIN, cluster: 'low' });
  const high = need({ wants: cores(1), priority: INT32_MAX, cluster: 'high' });
  const bound = machine({ id: 'm', state: 'Configured', serves: low });
  const output = decide(fleet({ machines: [bound], needs: [low, high] }));
  assert.deepEqual(output.actions, [
    {
      kind: ActionKind.Preempt,
      machineId: 'm',
      cluster: 'low',
      fingerprint: '',
      group: '',
      graceSeconds: 10,
      preemptorPriority: INT32_MAX,
      reason: 'phase2.inversion',
    },
  ]);
  const upside = machine({ id: 'm', state: 'Configured', serves: high });
  assert.deepEqual(told(decide(fleet({ machines: [upside], needs: [low, high] }))), []);
});

test('the order of int32 extremes decides a contested machine', () => {
  const needs = [INT32_MIN, -1, 0, INT32_MAX].map((priority) =>
    need({ wants: cores(1), priority, cluster: `c${priority}` }),
  );
  const output = decide(fleet({ machines: machines(2, 'm', {}), needs }));
  assert.deepEqual(
    output.actions.map(({ cluster }) => cluster),
    [`c${INT32_MAX}`, 'c0'],
  );
});

// Penalties

test('at every bucket edge: a tie keeps idle spot, a hair less takes the stable slot', () => {
  for (const bucket of PENALTY_BUCKETS.slice(1, -1)) {
    const edge = bucketUpperBoundDollars(bucket);
    assert.equal(bucketOfDollars(edge), bucket);
    assert.equal(bucketOfDollars(edge * (1 + Number.EPSILON)), bucket + 1);
    const term = edge / 2;
    for (const [price, expected] of [
      [term, 'Bootstrap spot'],
      [term * (1 - Number.EPSILON), 'Provision stable'],
      [term * (1 + Number.EPSILON), 'Bootstrap spot'],
    ] as const) {
      const output = decide(
        fleet({
          machines: [
            machine({ id: 'spot', price: 0, probability: 0.5, capacityType: CapacityType.Spot }),
            machine({ id: 'stable', price, state: 'Speculative' }),
          ],
          needs: [need({ wants: cores(1), interruption: edge })],
        }),
      );
      assert.deepEqual(told(output), [expected], `bucket ${bucket}, ${price}`);
    }
  }
});

test('every pair of buckets as the stamp of a victim has a finite score', () => {
  const victims = PENALTY_BUCKETS.flatMap((interruptionBucket) =>
    [PENALTY_BUCKETS[0], PINNED_BUCKET].map((reclamationBucket) =>
      machine({
        id: `v${interruptionBucket}-${reclamationBucket}`,
        state: 'Configured',
        cluster: 'b',
        assigned: { interruptionBucket, reclamationBucket: reclamationBucket as PenaltyBucket },
      }),
    ),
  );
  const output = decide(
    fleet({
      machines: victims,
      needs: [
        need({ wants: cores(5), priority: INT32_MAX }),
        need({ wants: cores(victims.length), cluster: 'b', priority: 0 }),
      ],
    }),
  );
  const cheapestFirst = ['v1-1', 'v2-1', 'v3-1', 'v4-1', 'v5-1'];
  assert.deepEqual(acted(output, ActionKind.Preempt), cheapestFirst);
});

// Prices

test('prices from zero to the largest number order without NaN', () => {
  const prices = [Number.MAX_VALUE, 1e300, 1, Number.MIN_VALUE, -0, 0];
  const output = decide(
    fleet({
      machines: prices.map((price, at) => machine({ id: `m${at}`, price, probability: at % 2 })),
      needs: [need({ wants: cores(6), interruption: 8_388_608 })],
    }),
  );
  assert.equal(acted(output, ActionKind.Bootstrap).length, 6);
  assert.deepEqual(acted(output, ActionKind.Bootstrap).slice(0, 2), ['m4', 'm2']);
});
