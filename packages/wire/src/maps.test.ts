// Proves that hostile map keys survive decode, store and encode byte for byte, that reads never
// reach inherited members, and that the sorted order is that of UTF-8 bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import type { FieldLine } from './testing/contract/vector-syntax.ts';
import { assemble } from './testing/contract/assemble.ts';
import { MachineSchema } from './gen/bigfleet/v1alpha1/provider_pb.ts';
import { entriesSorted, fromMap, getOwn, toMap } from './maps.ts';

const hostileKeys = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
  'prototype',
  '',
  ' ',
  '\u0000',
  'é',
  'e\u0301',
  '😀',
];

function labelLine(key: string, text: string): FieldLine {
  const value = { kind: 'entry', key, value: { kind: 'string', text } } as const;
  return { number: 10, name: 'labels', label: 'map', type: 'string,string', value };
}

const copied = (map: { [key: string]: string }): typeof map => fromMap(toMap(map));

const stores: readonly (readonly [string, typeof copied])[] = [
  ['the decoded object itself', (map) => map],
  ['a Map and back', copied],
  ['a Map and back twice', (map) => copied(copied(map))],
  ['a JSON document', (map) => copied(JSON.parse(JSON.stringify(copied(map))) as typeof map)],
  ['a message to another thread', (map) => copied(structuredClone(map))],
];

for (const [name, store] of stores) {
  test(`hostile keys survive ${name}`, () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const bytes = assemble(hostileKeys.map((key, index) => labelLine(key, `value ${index}`)));
    const { labels } = fromBinary(MachineSchema, bytes);
    const stored = store(labels);
    assert.deepEqual(Object.keys(stored), hostileKeys);
    for (const [index, key] of hostileKeys.entries()) {
      assert.equal(getOwn(stored, key), `value ${index}`);
    }
    assert.deepEqual(toBinary(MachineSchema, create(MachineSchema, { labels: stored })), bytes);
    assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before);
  });
}

test('an absent key is absent, whatever objects inherit', () => {
  const { labels } = fromBinary(MachineSchema, new Uint8Array());
  for (const key of hostileKeys) {
    assert.equal(getOwn(labels, key), undefined);
    assert.equal(copied(labels)[key], undefined);
  }
  assert.notEqual(labels['constructor'], undefined, 'what getOwn protects from');
});

test('Object.assign is what a Map protects from', () => {
  const { labels } = fromBinary(MachineSchema, assemble([labelLine('__proto__', 'kept')]));
  assert.deepEqual(Object.keys(Object.assign({}, labels)), []);
  assert.deepEqual(Object.keys(copied(labels)), ['__proto__']);
});

test('a message shares the map it was created from, a copy does not', () => {
  const labels = { a: '1' };
  const shared = create(MachineSchema, { labels });
  const own = create(MachineSchema, { labels: copied(labels) });
  labels.a = '2';
  assert.equal(shared.labels['a'], '2');
  assert.equal(own.labels['a'], '1');
});

test('number-like keys keep their values and lose only their order', () => {
  const lines = ['b', '10', '2'].map((key) => labelLine(key, key));
  const decoded = fromBinary(MachineSchema, assemble(lines));
  assert.deepEqual(entriesSorted(decoded.labels), [
    ['10', '10'],
    ['2', '2'],
    ['b', 'b'],
  ]);
  const again = fromBinary(MachineSchema, toBinary(MachineSchema, decoded));
  assert.deepEqual(again, decoded);
});

test('the last of two entries of one key wins', () => {
  const bytes = assemble([labelLine('a', 'first'), labelLine('a', 'second')]);
  assert.deepEqual({ ...fromBinary(MachineSchema, bytes).labels }, { a: 'second' });
});

test('any map survives decode, store and encode', () => {
  const seed = Number(process.env['BIGFLEET_SEED'] ?? 20_260_101);
  const text = fc.string({ unit: 'binary' });
  const property = fc.property(fc.array(fc.tuple(text, text)), (entries) => {
    const map = new Map(entries);
    const bytes = assemble([...map].map(([key, value]) => labelLine(key, value)));
    const decoded = fromBinary(MachineSchema, bytes);
    assert.deepEqual(new Map(entriesSorted(copied(decoded.labels))), map);
    assert.deepEqual(fromBinary(MachineSchema, toBinary(MachineSchema, decoded)), decoded);
  });
  fc.assert(property, { numRuns: 500, seed });
});
