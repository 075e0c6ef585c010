// Proves that an offerings file is read strictly, that slot ids are stable, that the built-in mix
// adds up, and that nothing billed is published without a price.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  defaultMix,
  type MixBucket,
  type Offering,
  offeringSlots,
  refuseUnpriced,
} from './offering.ts';
import { type OfferingRules, parseOfferings } from './parse-offerings.ts';

const rules: OfferingRules = {
  typeField: 'shape',
  zoneField: 'availability_domain',
  capacityTypes: ['OnDemand', 'Spot', 'BareMetal'],
  extraFields: ['ocpus'],
  zoneProblem: (zone) => (zone.startsWith('eu-') ? undefined : 'outside of region eu'),
};
const entry = { instance_type: 'small', zone: 'eu-1', count: 2 };

function parse(value: unknown): readonly Offering[] {
  return parseOfferings(JSON.stringify(value), 'offerings.json', rules);
}

test('a full entry, with the vendor words and the neutral ones', () => {
  const content = JSON.stringify([
    {
      shape: 'E5.Flex',
      availability_domain: 'eu-2',
      capacity_type: 'preemptible',
      count: 3,
      resources: { cpu: '1', memory: '2Gi' },
      labels: { 'example.com/gpu': 'no' },
      price_usd_per_hour: 0.25,
      ocpus: 2,
    },
    entry,
  ]).replace('"example.com/gpu"', '"__proto__"');
  const [first, second] = parseOfferings(content, 'offerings.json', rules);
  assert.deepEqual(first, {
    instanceType: 'E5.Flex',
    zone: 'eu-2',
    capacityType: 'Spot',
    count: 3,
    resources: new Map([
      ['cpu', '1'],
      ['memory', '2Gi'],
    ]),
    labels: new Map([['__proto__', 'no']]),
    pricePerHour: 0.25,
    extra: new Map([['ocpus', 2]]),
  });
  assert.equal(second?.capacityType, 'OnDemand');
  assert.equal(second?.pricePerHour, undefined);
});

test('every spelling of a capacity type', () => {
  const spellings = {
    OnDemand: ['on_demand', 'on-demand', 'ondemand'],
    BareMetal: ['bare_metal', 'bare-metal', 'metal'],
    Spot: ['spot', 'preemptible'],
  };
  for (const [expected, names] of Object.entries(spellings)) {
    for (const capacity_type of names) {
      assert.equal(parse([{ ...entry, capacity_type }])[0]?.capacityType, expected);
    }
  }
});

test('mistakes name the file, the entry and the rule', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [[], /lists no offering/],
    [{}, /must hold a JSON array/],
    [[7], /entry 0: it is not an object/],
    [[entry, { ...entry, capcity_type: 'spot' }], /entry 1: unknown field "capcity_type"/],
    [[{ ...entry, capacity_type: 'sopt' }], /capacity_type "sopt" is unknown/],
    [[{ ...entry, capacity_type: 'reserved' }], /not what this substrate delivers/],
    [[{ ...entry, count: 0 }], /count must be a whole number/],
    [[{ ...entry, count: -1 }], /count/],
    [[{ ...entry, count: 1.5 }], /count/],
    [[{ ...entry, count: '2' }], /count/],
    [[{ ...entry, count: 2_000_000 }], /count/],
    [[{ ...entry, instance_type: '' }], /instance_type must be a text/],
    [[{ zone: 'eu-1', count: 1 }], /shape must be a text/],
    [[{ ...entry, shape: 'small' }], /instance_type and shape say the same/],
    [[{ ...entry, zone: 'us-1' }], /zone "us-1": outside of region eu/],
    [[{ ...entry, resources: { cpu: 'many' } }], /resources "cpu" must be a quantity above zero/],
    [[{ ...entry, resources: { cpu: '0' } }], /above zero/],
    [[{ ...entry, resources: { cpu: 1 } }], /resources "cpu" must be a text/],
    [[{ ...entry, labels: ['a'] }], /labels must be an object/],
    [[{ ...entry, price_usd_per_hour: -1 }], /price_usd_per_hour/],
    [[{ ...entry, price_usd_per_hour: null }], /price_usd_per_hour/],
    [[{ ...entry, ocpus: {} }], /ocpus must be/],
    [[entry, { ...entry, count: 5 }], /entry 1: it repeats entry 0/],
    [
      [
        { ...entry, count: 900_000 },
        { ...entry, zone: 'eu-2', count: 900_000 },
      ],
      /1800000 slots are more than 1000000/,
    ],
  ];
  for (const [value, expected] of cases) {
    assert.throws(
      () => parse(value),
      (error: Error) => {
        assert.match(error.message, /^offerings file offerings\.json: /);
        assert.match(error.message, expected, JSON.stringify(value));
        return 'code' in error && error.code === 'offerings_invalid';
      },
    );
  }
  assert.throws(() => parseOfferings(' \n', 'f', rules), /the file is empty/);
  assert.throws(() => parseOfferings('[{', 'f', rules), /it is no JSON/);
});

test('slot ids', () => {
  const ids = [...offeringSlots('oci/eu', parse([entry]))].map(({ id }) => id);
  assert.deepEqual(ids, ['oci/eu/OnDemand/small/eu-1/000', 'oci/eu/OnDemand/small/eu-1/001']);
});

test('the built-in mix adds up, the first buckets take the rest, empty ones vanish', () => {
  const buckets: readonly MixBucket[] = ['a', 'b', 'c', 'd'].map((zone) => ({
    instanceType: 't',
    zone,
    capacityType: 'Spot',
  }));
  for (const [seedCount, expected] of [
    [32, [8, 8, 8, 8]],
    [6, [2, 2, 1, 1]],
    [2, [1, 1]],
    [0, []],
  ] as const) {
    assert.deepEqual(
      defaultMix(buckets, seedCount).map(({ count }) => count),
      expected,
    );
  }
});

test('unpriced offerings refuse to start, bare metal is free', () => {
  const offerings = parse([
    entry,
    { ...entry, instance_type: 'large' },
    { ...entry, instance_type: 'own', price_usd_per_hour: 1 },
    { ...entry, instance_type: 'metal', capacity_type: 'metal' },
  ]);
  const known = (price: number | undefined) => (offering: Offering) =>
    offering.instanceType === 'small' ? 0.1 : price;
  refuseUnpriced(offerings, known(0.2));
  for (const price of [undefined, 0, Number.NaN, -1, Number.POSITIVE_INFINITY]) {
    assert.throws(
      () => refuseUnpriced(offerings, known(price)),
      (error: Error) => {
        assert.match(error.message, /no price is known for large \(OnDemand, eu-1\): /);
        return 'code' in error && error.code === 'price_missing';
      },
    );
  }
});
