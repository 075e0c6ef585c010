// Proves that a roll-up is taken whole or refused whole, with the code, the row and the field of
// the first thing that is wrong.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PENALTY_BUCKETS } from '@bigfleet/base';
import fc from 'fast-check';
import type { Need } from '../model/need.ts';
import { createProfile } from '../model/profile.ts';
import { Operator } from '../model/requirement.ts';
import { MAX_FINGERPRINT_LENGTH, MAX_GROUP_LENGTH } from '../model/shard-metadata.ts';
import {
  decodeRollup,
  MAX_NAME_LENGTH,
  MAX_REQUIREMENT_VALUES,
  MAX_REQUIREMENTS,
  MAX_RESOURCES,
  MAX_ROLLUP_ROWS,
  MAX_SPREAD,
  type RollupProblem,
  type WireNeed,
  type WireRollup,
} from './decode-rollup.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);

const empty: WireNeed = {
  requirements: [],
  aggregateResources: {},
  priority: 0,
  spread: [],
  interruptionPenaltyBucket: 0,
  reclamationPenaltyBucket: 0,
  minUnit: {},
  group: '',
};

function rollup(...needs: readonly Partial<WireNeed>[]): WireRollup {
  return {
    clusterId: 'a',
    timestampUnixNanos: 1_800_000_000_000_000_001n,
    needs: needs.map((need) => ({ ...empty, ...need })),
  };
}

function accepted(wire: WireRollup, cluster = 'a'): readonly Need[] {
  const result = decodeRollup(wire, cluster);
  assert.ok(result.ok, result.ok ? '' : JSON.stringify(result.error));
  return result.value;
}

function refused(wire: WireRollup, cluster = 'a'): RollupProblem {
  const result = decodeRollup(wire, cluster);
  assert.ok(!result.ok, 'accepted');
  return result.error;
}

test('a row becomes a need', () => {
  const [need] = accepted(
    rollup({
      requirements: [
        { key: 'zone', operator: 1, values: ['b', 'a'] },
        { key: 'rack', operator: 5, values: [] },
      ],
      aggregateResources: { cpu: '1500m', memory: '16Gi', gpu: '0' },
      priority: -7,
      spread: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 }],
      interruptionPenaltyBucket: 27,
      reclamationPenaltyBucket: 3,
      minUnit: { cpu: '100.5m' },
      group: 'ns\0gang',
    }),
  );
  assert.deepEqual(need, {
    cluster: 'a',
    profile: createProfile({
      requirements: [
        { key: 'rack', operator: Operator.Same, values: [] },
        { key: 'zone', operator: Operator.In, values: ['a', 'b'] },
      ],
      spread: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 }],
      priority: -7,
      interruptionBucket: PENALTY_BUCKETS[26] ?? assert.fail(),
      reclamationBucket: PENALTY_BUCKETS[2] ?? assert.fail(),
    }),
    aggregate: new Map([
      ['cpu', 1500],
      ['memory', 16 * 1024 * 1024],
    ]),
    minUnit: new Map([['cpu', 101]]),
    group: 'ns\0gang',
    arrivalUnixNanos: 1_800_000_000_000_000_001n,
  });
});

test('no rows are a valid roll-up, and rows keep their order', () => {
  assert.deepEqual(accepted(rollup()), []);
  const groups = accepted(rollup({ group: 'b' }, { group: 'a' }, { group: 'b' }));
  assert.deepEqual(
    groups.map(({ group }) => group),
    ['b', 'a', 'b'],
  );
});

test('bucket 0 is Zero, for both penalties, before fingerprinting', () => {
  const [zero, one] = accepted(
    rollup({}, { interruptionPenaltyBucket: 1, reclamationPenaltyBucket: 1 }),
  );
  assert.equal(zero?.profile.fingerprint, one?.profile.fingerprint);
  assert.equal(zero?.profile.interruptionBucket, 1);
});

test('the cluster is the session’s; an empty one is filled in', () => {
  const [need] = accepted({ ...rollup({}), clusterId: '' });
  assert.equal(need?.cluster, 'a');
  assert.deepEqual(refused({ ...rollup({}), clusterId: 'b' }), {
    code: 'cluster_mismatch',
    row: -1,
    field: 'clusterId',
    detail: 'b',
  });
  assert.equal(refused(rollup(), 'a\0b').code, 'malformed');
});

test('an unknown WhenUnsatisfiable is unspecified', () => {
  const wire = [0, 1, 2, 3, -1, 99].map((whenUnsatisfiable) => ({
    spread: [{ topologyKey: 'k', maxSkew: 1, whenUnsatisfiable }],
  }));
  const read = accepted(rollup(...wire)).map(({ profile }) => profile.spread[0]?.whenUnsatisfiable);
  assert.deepEqual(read, [0, 1, 2, 0, 0, 0]);
});

test('what is refused, and where', () => {
  const requirement = { key: 'k', operator: 1, values: ['v'] };
  const rows: readonly [Partial<WireNeed>, RollupProblem['code'], field: string, detail: string][] =
    [
      [{ interruptionPenaltyBucket: 28 }, 'bad_bucket', 'interruptionPenaltyBucket', '28'],
      [{ interruptionPenaltyBucket: -1 }, 'bad_bucket', 'interruptionPenaltyBucket', '-1'],
      [{ reclamationPenaltyBucket: 283 }, 'bad_bucket', 'reclamationPenaltyBucket', '283'],
      [{ reclamationPenaltyBucket: 1.5 }, 'bad_bucket', 'reclamationPenaltyBucket', '1.5'],
      [{ aggregateResources: { cpu: '' } }, 'bad_quantity', 'aggregateResources[cpu]', ''],
      [{ aggregateResources: { cpu: '1 Gi' } }, 'bad_quantity', 'aggregateResources[cpu]', '1 Gi'],
      [{ aggregateResources: { cpu: '-1' } }, 'bad_quantity', 'aggregateResources[cpu]', '-1'],
      [{ aggregateResources: { cpu: 'NaN' } }, 'bad_quantity', 'aggregateResources[cpu]', 'NaN'],
      [{ minUnit: { cpu: '1', gpu: 'x' } }, 'bad_quantity', 'minUnit[gpu]', 'x'],
      [{ minUnit: { cpu: '9'.repeat(65) } }, 'bad_quantity', 'minUnit[cpu]', '9'.repeat(64)],
      [
        { requirements: [requirement, { ...requirement, operator: 6 }] },
        'bad_operator',
        'requirements[1].operator',
        '6',
      ],
      [
        { requirements: [{ ...requirement, operator: 0 }] },
        'bad_operator',
        'requirements[0].operator',
        '0',
      ],
      [
        {
          requirements: [
            { key: 'a', operator: 5, values: [] },
            { key: 'b', operator: 5, values: [] },
          ],
        },
        'malformed',
        'requirements',
        'a second Same',
      ],
      [
        {
          requirements: [
            { key: 'a', operator: 5, values: [] },
            { key: 'a', operator: 5, values: ['x'] },
          ],
        },
        'malformed',
        'requirements',
        'a second Same',
      ],
      [{ priority: 2 ** 31 }, 'malformed', 'priority', '2147483648'],
      [{ priority: -(2 ** 31) - 1 }, 'malformed', 'priority', '-2147483649'],
      [{ priority: 0.5 }, 'malformed', 'priority', '0.5'],
      [{ priority: Number.NaN }, 'malformed', 'priority', 'NaN'],
      [
        { spread: [{ topologyKey: 'k', maxSkew: Number.NaN, whenUnsatisfiable: 1 }] },
        'malformed',
        'spread[0].maxSkew',
        'NaN',
      ],
    ];
  for (const [bad, code, field, detail] of rows) {
    assert.deepEqual(refused(rollup({}, bad, {})), { code, row: 1, field, detail });
  }
});

test('a Same that is stated twice in the same words is one Same', () => {
  const same = { key: 'rack', operator: 5, values: ['b', 'a'] };
  const again = { ...same, values: ['a', 'b'] };
  const [need] = accepted(rollup({ requirements: [same, again] }));
  assert.equal(need?.profile.requirements.length, 1);
});

test('a time before 1970 is malformed, none at all is unstamped', () => {
  assert.deepEqual(refused({ ...rollup({}), timestampUnixNanos: -1n }), {
    code: 'malformed',
    row: -1,
    field: 'timestampUnixNanos',
    detail: '-1',
  });
  const [need] = accepted({ ...rollup({}), timestampUnixNanos: 0n });
  assert.equal(need?.arrivalUnixNanos, 0n);
});

test('every bound holds at its edge', () => {
  const times = <T>(count: number, make: (at: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => make(at));
  const resources = (count: number): Record<string, string> =>
    Object.fromEntries(times(count, (at) => [`r${at}`, '1']));
  const long = 'x'.repeat(MAX_NAME_LENGTH);
  const edges: readonly [field: string, (extra: number) => Partial<WireNeed>][] = [
    ['group', (extra) => ({ group: 'g'.repeat(MAX_GROUP_LENGTH + extra) })],
    [
      'requirements',
      (extra) => ({
        requirements: times(MAX_REQUIREMENTS + extra, (at) => ({
          key: `${at}`,
          operator: 3,
          values: [],
        })),
      }),
    ],
    [
      'requirements[0].values',
      (extra) => ({
        requirements: [
          { key: 'k', operator: 1, values: times(MAX_REQUIREMENT_VALUES + extra, String) },
        ],
      }),
    ],
    [
      'requirements[0]',
      (extra) => ({ requirements: [{ key: long + 'x'.repeat(extra), operator: 3, values: [] }] }),
    ],
    [
      'requirements[0]',
      (extra) => ({
        requirements: [{ key: 'k', operator: 1, values: ['v', long + 'x'.repeat(extra)] }],
      }),
    ],
    [
      'spread',
      (extra) => ({
        spread: times(MAX_SPREAD + extra, () => ({
          topologyKey: 'k',
          maxSkew: 1,
          whenUnsatisfiable: 1,
        })),
      }),
    ],
    [
      'spread[0]',
      (extra) => ({
        spread: [{ topologyKey: long + 'x'.repeat(extra), maxSkew: 1, whenUnsatisfiable: 1 }],
      }),
    ],
    ['aggregateResources', (extra) => ({ aggregateResources: resources(MAX_RESOURCES + extra) })],
    ['minUnit', (extra) => ({ minUnit: resources(MAX_RESOURCES + extra) })],
    ['minUnit', (extra) => ({ minUnit: { [long + 'x'.repeat(extra)]: '1' } })],
  ];
  for (const [field, make] of edges) {
    accepted(rollup(make(0)));
    const problem = refused(rollup({}, make(1)));
    assert.deepEqual({ ...problem, detail: '' }, { code: 'too_large', row: 1, field, detail: '' });
    assert.ok(problem.detail.length <= 64);
  }
});

test('the rows and the fingerprint are bounded, too', () => {
  const row = { ...empty };
  const full = { ...rollup(), needs: Array.from({ length: MAX_ROLLUP_ROWS + 1 }, () => row) };
  assert.deepEqual(refused(full), {
    code: 'too_large',
    row: -1,
    field: 'needs',
    detail: String(MAX_ROLLUP_ROWS + 1),
  });
  const values = (count: number): Partial<WireNeed> => ({
    requirements: [
      {
        key: 'k',
        operator: 1,
        values: Array.from({ length: count }, (_, at) => String(at).padStart(500, '0')),
      },
    ],
  });
  accepted(rollup(values(MAX_FINGERPRINT_LENGTH / 512)));
  assert.equal(refused(rollup(values(MAX_FINGERPRINT_LENGTH / 500))).code, 'too_large');
});

test('keys of prototypes are names like any other', () => {
  const text = '{"__proto__": "1", "cpu": "2"}';
  const aggregateResources = JSON.parse(text) as Record<string, string>;
  const [need] = accepted(rollup({ aggregateResources }));
  assert.deepEqual(
    need?.aggregate,
    new Map([
      ['__proto__', 1000],
      ['cpu', 2000],
    ]),
  );
});

test(`hostile roll-ups are answered, never thrown at, and valid ones are lossless (seed ${seed})`, () => {
  const number = fc.oneof(fc.integer({ min: -2, max: 30 }), fc.double(), fc.integer());
  const quantities = fc.dictionary(
    fc.string({ maxLength: 4 }),
    fc.constantFrom('1', '0', '1Gi', '250m', '-1', 'x', '', '1e3'),
    { maxKeys: 3, noNullPrototype: true },
  );
  const need: fc.Arbitrary<WireNeed> = fc.record({
    requirements: fc.array(
      fc.record({
        key: fc.string({ unit: 'binary', maxLength: 3 }),
        operator: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 5 }) }, number),
        values: fc.array(fc.string({ unit: 'binary', maxLength: 3 }), { maxLength: 2 }),
      }),
      { maxLength: 3 },
    ),
    aggregateResources: quantities,
    priority: fc.oneof({ weight: 9, arbitrary: fc.integer() }, number),
    spread: fc.array(
      fc.record({
        topologyKey: fc.string({ maxLength: 3 }),
        maxSkew: fc.oneof({ weight: 9, arbitrary: fc.integer() }, number),
        whenUnsatisfiable: number,
      }),
      { maxLength: 2 },
    ),
    interruptionPenaltyBucket: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 27 }) },
      number,
    ),
    reclamationPenaltyBucket: fc.integer({ min: 0, max: 27 }),
    minUnit: fc.constant({}),
    group: fc.string({ unit: 'binary', maxLength: 3 }),
  });
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.array(need, { maxLength: 3 }), (needs) => {
      const result = decodeRollup({ clusterId: 'a', timestampUnixNanos: 5n, needs }, 'a');
      seen.add(result.ok ? 'accepted' : result.error.code);
      if (!result.ok) {
        assert.ok(result.error.row >= 0 && result.error.row < needs.length);
        assert.notEqual(result.error.field, '');
        return;
      }
      assert.equal(result.value.length, needs.length);
      for (const [at, { profile, group }] of result.value.entries()) {
        assert.equal(profile.priority, needs[at]?.priority);
        assert.equal(group, needs[at]?.group);
      }
    }),
    { seed, numRuns: 500 },
  );
  const codes = ['accepted', 'bad_bucket', 'bad_operator', 'bad_quantity', 'malformed'];
  assert.deepEqual([...seen].sort(), codes);
});
