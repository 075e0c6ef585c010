// Proves that machines share a class exactly when no rule can tell them apart, and that class
// numbers are reused without leaving anything of the old class behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityType } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { ZONE_KEY } from '../model/requirement.ts';
import { cores, machine, type MachineInit, resources } from '../testing/build.ts';
import { Classes } from './classes.ts';
import { Dimensions } from './dimensions.ts';

function build(init: Partial<MachineInit>): Machine {
  return machine({
    id: 'm',
    labels: { a: '1', b: '2' },
    has: resources({ cpu: 1, gpu: 2 }),
    ...init,
  });
}

test('id, state, host and binding do not matter', () => {
  const classes = new Classes(new Dimensions());
  const id = classes.join(build({}));
  for (const same of [
    build({ id: 'other' }),
    build({ state: 'Speculative' }),
    build({ state: 'Configured', cluster: 'x', assigned: { priority: 9, group: 'g' } }),
    build({ withheld: 'not_owned' }),
    build({ labels: { b: '2', a: '1' } }),
    build({ has: resources({ gpu: 2, cpu: 1 }) }),
  ]) {
    assert.equal(classes.join(same), id);
  }
  assert.equal(classes.log.length, 1);
});

test('everything that a rule looks at matters', () => {
  const classes = new Classes(new Dimensions());
  const variants = [
    build({}),
    build({ provider: 'p2' }),
    build({ type: 'large' }),
    build({ zone: 'z2' }),
    build({ zone: '' }),
    build({ capacityType: CapacityType.Spot }),
    build({ price: 1.5 }),
    build({ price: 0 }),
    build({ probability: 0.5 }),
    build({ labels: { a: '1' } }),
    build({ labels: { a: '1', b: '3' } }),
    build({ labels: { a: '1","b":"2' } }),
    build({ labels: { a: '1', c: '2' } }),
    build({ has: cores(1) }),
    build({ has: resources({ cpu: 2, gpu: 1 }) }),
  ];
  const ids = variants.map((each) => classes.join(each));
  assert.equal(new Set(ids).size, variants.length);
  assert.deepEqual(classes.log, ids);
  assert.equal(classes.length, variants.length);
});

test('the columns and the shape of a class are its machine’s', () => {
  const classes = new Classes(new Dimensions());
  const id = classes.join(
    build({
      price: 2.5,
      probability: 0.25,
      capacityType: CapacityType.Spot,
      provider: 'p9',
      rack: 'r',
    }),
  );
  assert.equal(classes.price[id], 2.5);
  assert.equal(classes.probability[id], 0.25);
  assert.equal(classes.capacityType[id], CapacityType.Spot);
  assert.equal(classes.providerName(classes.provider[id] ?? -1), 'p9');
  assert.deepEqual(classes.allocatable.read(id), resources({ cpu: 1, gpu: 2 }));
  assert.equal(classes.valueOf(id, ZONE_KEY), 'z1');
  assert.equal(classes.valueOf(id, 'a'), '1');
  assert.equal(classes.valueOf(id, 'absent'), undefined);
  assert.equal(classes.valueOf(99, 'a'), undefined);
});

test('a class lives until its last machine leaves; its number is then another class', () => {
  const classes = new Classes(new Dimensions());
  const keep = classes.join(build({ type: 'keep' }));
  const id = classes.join(build({ has: resources({ cpu: 7, gpu: 7 }) }));
  classes.join(build({ has: resources({ cpu: 7, gpu: 7 }) }));
  classes.leave(id);
  assert.notEqual(classes.shape(id), undefined);
  classes.leave(id);
  assert.equal(classes.shape(id), undefined);
  const next = classes.join(build({ type: 'next', price: 9, has: resources({ cpu: 3 }) }));
  assert.equal(next, id);
  assert.equal(classes.price[next], 9);
  assert.deepEqual(classes.allocatable.read(next), resources({ cpu: 3 }));
  assert.equal(classes.shape(next)?.instanceType, 'next');
  assert.deepEqual(classes.log, [keep, id, id]);
  assert.notEqual(classes.join(build({ has: resources({ cpu: 7, gpu: 7 }) })), id);
});

test('hundreds of classes keep their columns', () => {
  const classes = new Classes(new Dimensions());
  const ids = Array.from({ length: 300 }, (_, at) =>
    classes.join(build({ price: at, has: resources({ [`r${at % 9}`]: at + 1 }) })),
  );
  for (const [at, id] of ids.entries()) {
    assert.equal(classes.price[id], at);
    assert.deepEqual(classes.allocatable.read(id), resources({ [`r${at % 9}`]: at + 1 }));
  }
});

test('machines that share their objects share the class while it lives, and only then', () => {
  const classes = new Classes(new Dimensions());
  const first = build({});
  const twin = build({});
  const id = classes.join(first);
  assert.equal(classes.join({ ...first, id: 'other' }), id);
  const pricier = { ...first, pricePerHour: first.pricePerHour + 1 };
  const other = classes.join(pricier);
  assert.notEqual(other, id);
  assert.equal(classes.join(first), id, 'the same labels object, another price in between');
  const larger = { ...first, allocatable: resources({ cpu: 8 }) };
  assert.notEqual(classes.join(larger), id);
  for (let member = 0; member < 3; member++) classes.leave(id);
  const reused = classes.join(build({ zone: 'elsewhere' }));
  assert.equal(reused, id, 'the number is given anew');
  assert.notEqual(classes.join(first), id);
  assert.equal(classes.join(twin), classes.join(first));
});
