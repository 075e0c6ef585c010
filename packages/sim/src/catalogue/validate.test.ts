// Proves that the three catalogues are valid and that each way to write a meaningless one is
// refused by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costRouting } from './cost-routing.ts';
import { realistic } from './realistic.ts';
import { realisticDev } from './realistic-dev.ts';
import { type Archetype, type Catalogue, RACK_KEY, ZONE_KEY } from './schema.ts';
import { validateCatalogue } from './validate.ts';

const good: Archetype = {
  name: 'good',
  weight: 1,
  instanceTypes: ['m6i.large'],
  zones: ['zone-a'],
  resources: { cpu: '1' },
  priorityClasses: [0],
  interruptionPenaltyDollars: 0,
  reclamationPenaltyDollars: 0,
  meanLifetimeSeconds: 0,
};

function withoutResources(): Archetype {
  const { resources: _resources, ...rest } = good;
  return rest;
}

const onKey = (topologyKey: string): Partial<Archetype> => ({
  spreadConstraintProb: 1,
  spreadConstraint: { topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
});

const refused: readonly (readonly [what: string, archetype: Archetype, problem: RegExp])[] = [
  ['weight 0', { ...good, weight: 0 }, /weight 0 is not above 0/],
  ['a negative weight', { ...good, weight: -1 }, /weight -1 is not above 0/],
  ['weight NaN', { ...good, weight: Number.NaN }, /weight NaN/],
  ['an infinite weight', { ...good, weight: Number.POSITIVE_INFINITY }, /weight Infinity/],
  ['no instance type', { ...good, instanceTypes: [] }, /instanceTypes is empty/],
  ['no zone', { ...good, zones: [] }, /zones is empty/],
  ['a zone twice', { ...good, zones: ['z', 'z'] }, /zones holds a value twice/],
  ['an empty zone', { ...good, zones: [''] }, /zones holds an empty value/],
  ['no size', withoutResources(), /neither sizeBuckets nor resources/],
  [
    'two kinds of size',
    { ...good, sizeBuckets: [{ weight: 1, resources: { cpu: '1' } }] },
    /both sizeBuckets and resources/,
  ],
  [
    'a size of weight 0',
    { ...withoutResources(), sizeBuckets: [{ weight: 0, resources: { cpu: '1' } }] },
    /size weight 0/,
  ],
  ['a size without resources', { ...good, resources: {} }, /a size has no resources/],
  ['a bad quantity', { ...good, resources: { cpu: '1 core' } }, /cpu: "1 core" is not a quantity/],
  ['a zero quantity', { ...good, resources: { cpu: '0' } }, /cpu: "0" is not a quantity above 0/],
  ['half a Pod per node', { ...good, podsPerNode: 0.5 }, /podsPerNode 0.5/],
  ['no priority', { ...good, priorityClasses: [] }, /priorityClasses is empty/],
  [
    'a priority beyond int32',
    { ...good, priorityClasses: [2 ** 31] },
    /2147483648 is not an int32/,
  ],
  [
    'a negative penalty',
    { ...good, interruptionPenaltyDollars: -1 },
    /interruptionPenaltyDollars -1/,
  ],
  [
    'penalty NaN',
    { ...good, reclamationPenaltyDollars: Number.NaN },
    /reclamationPenaltyDollars NaN/,
  ],
  ['a negative lifetime', { ...good, meanLifetimeSeconds: -1 }, /meanLifetimeSeconds -1/],
  [
    'rack and zone at once',
    { ...good, sameRack: true, sameZone: true, groupSizeRange: [2, 3] },
    /sameRack and sameZone exclude each other/,
  ],
  ['a gang without sizes', { ...good, sameRack: true }, /a gang without groupSizeRange/],
  ['a reversed range', { ...good, sameZone: true, groupSizeRange: [3, 2] }, /groupSizeRange 3–2/],
  ['a gang of none', { ...good, sameZone: true, groupSizeRange: [0, 2] }, /groupSizeRange 0–2/],
  ['sizes without a gang', { ...good, groupSizeRange: [2, 3] }, /groupSizeRange without sameRack/],
  ['partial without a gang', { ...good, allowPartial: true }, /allowPartial without a gang/],
  [
    'spread and Same on the rack',
    { ...good, sameRack: true, groupSizeRange: [2, 3], ...onKey(RACK_KEY) },
    /spread and Same contradict each other on topology.bigfleet\/rack/,
  ],
  [
    'spread and Same on the zone',
    { ...good, sameZone: true, groupSizeRange: [2, 3], ...onKey(ZONE_KEY) },
    /spread and Same contradict each other on topology.kubernetes.io\/zone/,
  ],
  ['spread without probability', { ...good, spreadConstraintProb: 0.5 }, /need each other/],
  ['a spread key that is empty', { ...good, ...onKey('') }, /has no topologyKey/],
  ['a probability of 2', { ...good, ...onKey(ZONE_KEY), spreadConstraintProb: 2 }, /outside 0–1/],
  ['no name', { ...good, name: '' }, /has no name/],
];

function problemsOf(catalogue: Catalogue): string[] {
  const checked = validateCatalogue(catalogue);
  return checked.ok ? [] : checked.error.map(({ at, problem }) => `${at}: ${problem}`);
}

for (const [what, archetype, problem] of refused) {
  test(`refuses ${what}`, () => {
    const problems = problemsOf({
      name: 'test',
      archetypes: [{ ...good, name: 'first' }, archetype],
    });
    assert.equal(problems.length, 1, problems.join('; '));
    assert.match(problems[0] ?? '', problem);
    assert.match(problems[0] ?? '', /^archetypes\[1\]/);
  });
}

test('spread on a key other than the gang’s is no contradiction', () => {
  const archetype: Archetype = {
    ...good,
    sameRack: true,
    groupSizeRange: [2, 3],
    ...onKey(ZONE_KEY),
  };
  assert.deepEqual(problemsOf({ name: 'test', archetypes: [archetype] }), []);
});

test('reports every problem of every list at once', () => {
  const problems = problemsOf({
    name: '',
    archetypes: [good, good],
    seedArchetypes: [{ ...good, weight: 0 }],
    demandArchetypes: [{ ...good, burstOnly: true }],
  });
  assert.deepEqual(problems, [
    'catalogue: has no name',
    'archetypes[1] good: is named twice',
    'seedArchetypes[0] good: weight 0 is not above 0',
    'demandArchetypes: has no archetype that a steady draw could reach',
  ]);
});

for (const catalogue of [realistic, realisticDev, costRouting]) {
  test(`${catalogue.name} is valid`, () => assert.deepEqual(problemsOf(catalogue), []));
}

test('cost-routing has two archetypes that differ in name and interruption penalty only', () => {
  const [a, b, ...more] = costRouting.archetypes;
  assert.ok(a !== undefined && b !== undefined && more.length === 0);
  assert.deepEqual([a.interruptionPenaltyDollars, b.interruptionPenaltyDollars], [0, 8]);
  assert.deepEqual({ ...a, name: b.name, interruptionPenaltyDollars: 8 }, b);
});

test('realistic-dev keeps the shapes of realistic', () => {
  const byName = new Map(realistic.archetypes.map((archetype) => [archetype.name, archetype]));
  const names = realisticDev.archetypes.map(({ name }) => name);
  assert.deepEqual(
    [...byName.keys()].filter((name) => !names.includes(name)),
    ['gpu-training-large'],
  );
  for (const { name, resources, sizeBuckets, priorityClasses } of realisticDev.archetypes) {
    const model = byName.get(name);
    assert.deepEqual(
      { resources, sizeBuckets, priorityClasses },
      {
        resources: model?.resources,
        sizeBuckets: model?.sizeBuckets,
        priorityClasses: model?.priorityClasses,
      },
    );
  }
});
