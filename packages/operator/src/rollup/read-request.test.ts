// Proves what is part of the aggregation key and what is not, and that each bad field is refused with
// its code.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CapacityRequestSpec } from '@bigfleet/kube';
import { readRequest } from './read-request.ts';

type Init = Partial<CapacityRequestSpec>;

function key(spec: Init, namespace = 'default'): string {
  const result = readRequest({ namespace, spec: { resources: {}, priority: 0, ...spec } });
  assert.ok(result.ok, JSON.stringify(result));
  return `${result.value.profile.fingerprint} ${result.value.group}`;
}

function refusalOf(spec: Init): string {
  const full = { resources: { cpu: '1' }, priority: 0, ...spec };
  const result = readRequest({ namespace: 'default', spec: full });
  assert.ok(!result.ok, 'expected a refusal');
  return result.error.reason;
}

const gang = { topologyKey: 'rack', labelSelector: { matchLabels: { app: 'mpi' } } };

describe('the aggregation key', () => {
  const merged: [string, Init, Init][] = [
    ['resources', { resources: { cpu: '1' } }, { resources: { memory: '8Gi' } }],
    ['absent and explicit zero penalty', {}, { interruptionPenalty: '0', reclamationPenalty: 0 }],
    ['negative and zero penalty', { reclamationPenalty: '-3' }, {}],
    ['penalties of one bucket', { interruptionPenalty: '3' }, { interruptionPenalty: '4000m' }],
    [
      'order of requirements and of values',
      {
        requirements: [
          { key: 'b', operator: 'Exists' },
          { key: 'a', operator: 'In', values: ['y', 'x'] },
        ],
      },
      {
        requirements: [
          { key: 'a', operator: 'In', values: ['x', 'y'] },
          { key: 'b', operator: 'Exists', values: [] },
        ],
      },
    ],
    [
      'a requirement said twice',
      { requirements: [{ key: 'b', operator: 'Exists' }] },
      {
        requirements: [
          { key: 'b', operator: 'Exists' },
          { key: 'b', operator: 'Exists' },
        ],
      },
    ],
    [
      'soft spread',
      {},
      { topologySpread: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }] },
    ],
    ['co-location without topology key', {}, { coLocation: { ...gang, topologyKey: '' } }],
  ];
  for (const [name, a, b] of merged) it(`ignores ${name}`, () => assert.equal(key(a), key(b)));

  const split: [string, Init, Init][] = [
    ['priority', { priority: 1 }, { priority: 2 }],
    ['interruption bucket', { interruptionPenalty: '4' }, { interruptionPenalty: '4.01' }],
    ['which penalty it is', { interruptionPenalty: '4' }, { reclamationPenalty: '4' }],
    [
      'operator',
      { requirements: [{ key: 'a', operator: 'In', values: ['x'] }] },
      { requirements: [{ key: 'a', operator: 'NotIn', values: ['x'] }] },
    ],
    [
      'hard spread',
      {},
      { topologySpread: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }] },
    ],
    ['co-location', {}, { coLocation: gang }],
    [
      'two gangs of one profile',
      { coLocation: gang },
      { coLocation: { ...gang, labelSelector: { matchLabels: { app: 'other' } } } },
    ],
  ];
  for (const [name, a, b] of split)
    it(`tells apart ${name}`, () => assert.notEqual(key(a), key(b)));

  it('keeps equal gangs of two namespaces apart, and plain demand of them together', () => {
    assert.notEqual(key({ coLocation: gang }, 'a'), key({ coLocation: gang }, 'b'));
    assert.equal(key({}, 'a'), key({}, 'b'));
  });

  it('has the layout of the fingerprint', () => {
    const requirements = [{ key: 'zone', operator: 'In', values: ['b', 'a:1'] }];
    const spec = { requirements, priority: -7, interruptionPenalty: '500m', coLocation: gang };
    const [fingerprint, group] = key(spec).split(' ');
    assert.equal(fingerprint, 'p=-7|ipb=2|rpb=1|reqs=rack:5:;zone:1:a%3A1,b|spr=');
    assert.match(group ?? '', /^g-[0-9a-f]{32}$/);
  });
});

describe('refusals', () => {
  const cases: [string, Init, string][] = [
    ['Gt', { requirements: [{ key: 'a', operator: 'Gt', values: ['1'] }] }, 'unsupported_operator'],
    ['Same', { requirements: [{ key: 'a', operator: 'Same' }] }, 'unsupported_operator'],
    [
      'a spread word',
      { topologySpread: [{ topologyKey: 'z', maxSkew: 1, whenUnsatisfiable: '' }] },
      'unsupported_operator',
    ],
    ['a quantity', { resources: { cpu: '1', memory: '8 Gi' } }, 'bad_quantity'],
    ['a negative quantity', { resources: { cpu: '-1' } }, 'bad_quantity'],
    ['a priority beyond int32', { priority: 2 ** 31 }, 'bad_quantity'],
    ['a priority that is no number', { priority: Number.NaN }, 'bad_quantity'],
    ['an interruption penalty', { interruptionPenalty: 'much' }, 'bad_penalty'],
    ['a reclamation penalty', { reclamationPenalty: '1..2' }, 'bad_penalty'],
  ];
  for (const [name, spec, reason] of cases) {
    it(name, () => assert.equal(refusalOf(spec), reason));
  }
});
