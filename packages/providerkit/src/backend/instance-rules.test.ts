// Proves each rule for what a backend describes or returns, one broken rule per row; author code
// may be plain JavaScript, so wrong types are rows too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slot } from '../testing/scenario/world.ts';
import type { CreatedInstance } from './backend.ts';
import { createdProblem, instanceProblem, recordOf } from './instance-rules.ts';

const host = { provider: 'p', ref: 'i-1' };
const cpu = (text: string): ReadonlyMap<string, string> => new Map([['cpu', text]]);
const label = (key: string): ReadonlyMap<string, string> => new Map([[key, 'x']]);

const rows: readonly (readonly [string, object, RegExp | undefined])[] = [
  ['a slot', {}, undefined],
  ['a host', { host }, undefined],
  ['a slot by name', { state: 'Speculative' }, undefined],
  ['a host by name', { state: 'Idle', host }, undefined],
  ['bare metal that is paid for', { capacityType: 'BareMetal', pricePerHour: 0 }, undefined],
  ['no labels, no allocatable', { labels: undefined, allocatable: undefined }, undefined],
  ['a slot without zone', { zone: '' }, undefined],
  ['zero without a counterpart', { resources: cpu('0'), allocatable: new Map() }, undefined],
  ['an empty id', { id: '' }, /^id must/],
  ['an endless id', { id: 'x'.repeat(1_025) }, /^id must/],
  ['no id at all', { id: undefined }, /^id must/],
  ['a lifecycle state', { state: 'Configured', host }, /not for a backend/],
  ['no instance type', { instanceType: '' }, /^instance_type/],
  ['an unknown capacity type', { capacityType: 'Preemptible' }, /^capacity_type/],
  ['a slot with a host', { state: 'Speculative', host }, /has no host/],
  ['an Idle machine without host', { state: 'Idle' }, /needs a host/],
  ['a host without ref', { host: { provider: 'p', ref: '' } }, /half a host/],
  ['a host without provider', { host: { provider: '', ref: 'i' } }, /half a host/],
  ['a host without zone', { host, zone: '' }, /^zone/],
  ['a negative price', { pricePerHour: -0.01 }, /^price_per_hour/],
  ['an infinite price', { pricePerHour: Number.POSITIVE_INFINITY }, /^price_per_hour/],
  ['a price that is no number', { pricePerHour: Number.NaN }, /^price_per_hour/],
  ['a probability above one', { interruptionProbability: 1.01 }, /^interruption_probability/],
  ['a probability that is no number', { interruptionProbability: Number.NaN }, /^interruption/],
  ['certain spot', { capacityType: 'Spot' }, /must be above 0$/],
  ['a quantity that is none', { resources: cpu('4 cores') }, /^resources of cpu is no quantity/],
  ['a negative quantity', { allocatable: cpu('-1') }, /^allocatable of cpu is no quantity/],
  ['zero per replica', { resources: cpu('0') }, /^resources of cpu is zero/],
  ['resources as an object', { resources: { cpu: '4' } }, /^resources must be a Map/],
  ['labels as an object', { labels: { pool: 'x' } }, /^labels must be a Map/],
  ['allocatable as an object', { allocatable: {} }, /^allocatable must be a Map/],
  ...[
    'instance-type',
    'instance_type',
    'instanceType',
    'zone',
    'availability-zone',
    'availability_zone',
    'capacity-type',
    'capacity_type',
    'capacityType',
  ].map((key) => [`label ${key}`, { labels: label(key) }, /top-level field$/] as const),
];

for (const [name, change, expected] of rows) {
  test(`${name}: ${expected === undefined ? 'valid' : String(expected)}`, () => {
    const problem = instanceProblem({ ...slot('m-0'), ...change }, false);
    if (expected === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? 'valid', expected);
  });
}

test('requireZone asks every slot for its zone', () => {
  assert.match(instanceProblem(slot('m-0', { zone: '' }), true) ?? '', /^zone/);
  assert.equal(instanceProblem(slot('m-0'), true), undefined);
});

const createdRows: readonly (readonly [string, object, RegExp | undefined])[] = [
  ['a host', { host }, undefined],
  ['a host and what it provides', { host, resources: cpu('4'), allocatable: cpu('3') }, undefined],
  ['nothing', {}, /no host\.ref/],
  ['a host without ref', { host: { provider: 'p', ref: '' } }, /no host\.ref/],
  ['a host without provider', { host: { provider: '', ref: 'i' } }, /no host\.provider/],
  ['a bad quantity', { host, allocatable: cpu('many') }, /^allocatable/],
  ['an object for a map', { host, resources: {} }, /must be a Map/],
];

for (const [name, result, expected] of createdRows) {
  test(`createInstance returned ${name}`, () => {
    const problem = createdProblem(result as CreatedInstance);
    if (expected === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? 'valid', expected);
  });
}

test('an unset state follows the host', () => {
  assert.equal(recordOf(slot('m-0')).state, 'Speculative');
  const idle = recordOf(slot('m-0', { host }));
  assert.equal(idle.state, 'Idle');
  assert.deepEqual(idle.host, host);
  assert.notEqual(idle.host, host, "a copy, not the author's object");
});
