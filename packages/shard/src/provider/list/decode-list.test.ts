// Proves that the column decoder reads exactly what the generated one reads, refuses bad records
// one by one and bad Lists whole, on valid, odd and hostile bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BigFleetError } from '@bigfleet/base';
import { encodeInit, fromMap, MachineListSchema } from '@bigfleet/wire';
import { decodeMachineList } from './decode-list.ts';
import { judgeList } from './testing/judge.ts';
import { randomList } from './testing/random-list.ts';
import { delimited, entryField, listOf, tag, textField, varint } from './testing/raw-fields.ts';

const id = (name: string): number[] => textField(1, name);

const readable: readonly (readonly [string, readonly (readonly number[])[]])[] = [
  ['nothing', []],
  ['an empty record', [[]]],
  ['only ids', [id('a'), id('b'), id('é😀\u0000')]],
  [
    'fields in reverse',
    [[...textField(14, 'c'), ...textField(5, 'z'), ...tag(2, 0), 3, ...id('a')]],
  ],
  [
    'a repeated scalar: the last wins',
    [[...id('a'), ...tag(2, 0), 3, ...tag(2, 0), 5, ...id('b')]],
  ],
  [
    'split submessages merge',
    [
      [
        ...id('a'),
        ...delimited(3, textField(1, 'aws')),
        ...delimited(9, entryField(1, 'cpu', '1')),
        ...delimited(3, textField(2, 'i-1')),
        ...delimited(9, [...entryField(1, 'cpu', '2'), ...entryField(1, 'memory', '1Gi')]),
        ...delimited(13, []),
        ...delimited(13, entryField(1, 'pods', '9')),
      ],
    ],
  ],
  [
    'prototype keys, repeated keys, empty entries',
    [
      [
        ...id('a'),
        ...entryField(10, '__proto__', 'x'),
        ...entryField(15, '__proto__', 'y'),
        ...entryField(10, 'constructor', '1'),
        ...entryField(10, 'constructor', '2'),
        ...delimited(10, []),
        ...delimited(15, textField(2, 'value only')),
        ...delimited(15, [...textField(2, 'v'), ...textField(1, 'k'), ...textField(1, 'k2')]),
      ],
    ],
  ],
  [
    'an unknown field of each type',
    [
      [
        ...id('a'),
        ...tag(16, 0),
        1,
        ...tag(17, 1),
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        8,
        ...tag(18, 5),
        1,
        2,
        3,
        4,
        ...delimited(99, [1, 2]),
      ],
    ],
  ],
  ['the reserved number, any type', [[...id('a'), ...tag(11, 0), 9, ...delimited(11, [1])]]],
  ['long spellings of tags and lengths', [[...tag(1, 2, 3), ...varint(1n, 8), 0x61]]],
  [
    'enum values beyond a byte',
    [
      [...id('a'), ...tag(2, 0), ...varint(2n ** 64n - 1n)],
      [...id('b'), ...tag(6, 0), ...varint(300n)],
    ],
  ],
  ['a long string', [[...id('a'.repeat(300)), ...textField(12, 'e'.repeat(20_000))]]],
];

for (const [name, machines] of readable) {
  test(`reads ${name}`, () => {
    const verdict = judgeList(listOf(...machines));
    assert.deepEqual(verdict, { kind: 'decoded', rows: machines.length, refusedRows: 0 });
  });
}

const unreadable: readonly (readonly [string, readonly number[], 'framing' | 'text'])[] = [
  ['a length beyond the record', [...id('b'), ...tag(4, 2), 50], 'framing'],
  ['a length that is missing', [...id('b'), ...tag(4, 2)], 'framing'],
  ['a cut varint', [...id('b'), ...tag(2, 0), 0x80], 'framing'],
  ['a cut double', [...id('b'), ...tag(7, 1), 1, 2, 3], 'framing'],
  ['a known field of another type', [...id('b'), ...delimited(2, [3])], 'framing'],
  ['a tag of six bytes', [...id('b'), ...tag(4, 2, 5), 1, 0x61], 'framing'],
  ['field number 0', [...id('b'), 0x02, 0x00], 'framing'],
  ['a group', [...id('b'), ...tag(20, 3), ...tag(20, 4)], 'framing'],
  ['a foreign field in a map entry', [...id('b'), ...delimited(10, textField(3, 'x'))], 'framing'],
  ['an entry beyond its map', [...id('b'), ...delimited(9, [0x0a, 9, 1])], 'framing'],
  ['text that is not UTF-8', [...id('b'), ...delimited(4, [0xc3, 0x28])], 'text'],
  [
    'an overridden value that is not UTF-8',
    [...id('b'), ...delimited(4, [0xff]), ...textField(4, 'm')],
    'text',
  ],
  ['a map key that is not UTF-8', [...id('b'), ...delimited(15, delimited(1, [0x80]))], 'text'],
];

for (const [name, machine, problem] of unreadable) {
  test(`refuses one record with ${name} and keeps its neighbours`, () => {
    const bytes = listOf([...id('a'), ...tag(2, 0), 1], machine, [...id('c'), ...tag(2, 0), 3]);
    assert.deepEqual(judgeList(bytes), { kind: 'decoded', rows: 3, refusedRows: 1 });
    const columns = decodeMachineList(bytes);
    assert.deepEqual(
      [0, 1, 2].map((row) => columns.problem(row)),
      [undefined, problem, undefined],
    );
    assert.deepEqual([columns.id(0), columns.state(0)], ['a', 1]);
    assert.deepEqual([columns.id(2), columns.state(2)], ['c', 3]);
    // Its id came first, so it is known to speak of machine b.
    assert.equal(columns.rowOf('b'), 1);
    assert.equal(columns.data.unidentifiedCount, 0);
  });
}

test('a record without a usable id makes the List say so', () => {
  for (const machine of [[], textField(4, 'm'), delimited(1, [0xff]), delimited(1, [])]) {
    const columns = decodeMachineList(listOf(id('a'), machine));
    assert.equal(columns.data.unidentifiedCount, 1);
    assert.equal(columns.rowOf(''), -1);
  }
});

test('of two records with one id the first stands, and duplicates of refused ones are told', () => {
  const bytes = listOf([...id('a'), ...tag(2, 0), 1], [...id('a'), ...tag(2, 0), 3], id('b'));
  const columns = decodeMachineList(bytes);
  assert.deepEqual(
    [0, 1, 2].map((row) => columns.problem(row)),
    [undefined, 'duplicate_id', undefined],
  );
  assert.equal(columns.rowOf('a'), 0);
});

test('a record longer than any real one is refused alone', () => {
  const huge = encodeInit(MachineListSchema, {
    machines: [{ id: 'a', lastError: 'e'.repeat(17 * 1024 * 1024) }, { id: 'b' }],
  });
  const columns = decodeMachineList(huge);
  assert.deepEqual([columns.problem(0), columns.problem(1)], ['too_large', undefined]);
  assert.equal(columns.data.unidentifiedCount, 1);
});

test('a List whose records cannot be told apart is refused whole, with a stable code', () => {
  const broken: readonly (readonly number[])[] = [
    [0x0a],
    [0x0a, 0x05, 0x0a],
    [...delimited(1, id('a')), 0x0a, 0x80],
    [0x08, 0x01],
    [0x02, 0x00],
    [0x1b, 0x1c],
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  ];
  for (const bytes of broken) {
    const list = Uint8Array.from(bytes);
    assert.equal(judgeList(list).kind, 'refused');
    assert.throws(
      () => decodeMachineList(list),
      (error) => error instanceof BigFleetError && error.code === 'message_malformed',
    );
  }
});

test('more than the first tables hold: distinct strings, entries, profiles and rows', () => {
  const machines = Array.from({ length: 3_000 }, (_, index) => ({
    id: `machine-${index}`,
    cluster: `cluster-${index}`,
    instanceType: `type-${index % 700}`,
    labels: { [`key-${index}`]: `value-${index}`, shared: 'yes' },
    resources: { resources: { cpu: String(index), memory: '1Gi' } },
    shardMetadata: { fingerprint: `${index * 7}` },
    pricePerHour: index / 7,
  }));
  // The first records are tiny, so that the estimate of the row count is wrong both ways.
  for (const list of [machines, [{ id: 'z'.repeat(100_000) }, ...machines]]) {
    const verdict = judgeList(encodeInit(MachineListSchema, { machines: list }));
    assert.deepEqual(verdict, { kind: 'decoded', rows: list.length, refusedRows: 0 });
  }
});

test('property: what an encoder writes reads back the same', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constant('__proto__'));
  const map = fc
    .array(fc.tuple(text, text), { maxLength: 5 })
    .map((entries) => fromMap(new Map(entries)));
  const machine = fc.record({
    id: text,
    state: fc.integer({ min: -2, max: 300 }),
    capacityType: fc.integer({ min: 0, max: 5 }),
    instanceType: text,
    zone: text,
    cluster: text,
    lastError: text,
    pricePerHour: fc.double(),
    interruptionProbability: fc.double(),
    labels: map,
    shardMetadata: map,
    host: fc.option(fc.record({ provider: text, ref: text }), { nil: undefined }),
    resources: fc.option(fc.record({ resources: map }), { nil: undefined }),
    allocatable: fc.option(fc.record({ resources: map }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(machine, { maxLength: 8 }), fc.uint8Array(), (machines, revision) => {
      const init = { machines: machines as never[], revision };
      const verdict = judgeList(encodeInit(MachineListSchema, init));
      assert.equal(verdict.refusedRows, 0);
    }),
    { numRuns: 500 },
  );
});

test('3,000 hostile Lists: the decoders agree on each', (t) => {
  const counts = { refused: 0, decoded: 0, rows: 0, refusedRows: 0 };
  for (let index = 0; index < 3_000; index++) {
    const { kind, rows, refusedRows } = judgeList(randomList('list', index));
    counts[kind] += 1;
    counts.rows += rows;
    counts.refusedRows += refusedRows;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.refused > 50 && counts.refusedRows > 500);
  assert.ok(counts.rows - counts.refusedRows > 1_000, 'most inputs would prove nothing');
});
