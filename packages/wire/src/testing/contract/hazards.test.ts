// Proves what the protobuf library does with hostile and extreme values, where JavaScript codecs
// usually lose something: 64-bit numbers, strange strings, unknown enums and fields, presence,
// doubles, hostile lengths. Map keys: maps.test.ts. Framing that the library lets through:
// framing.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { JoinRaftClusterResponseSchema } from '../../gen/bigfleet/v1alpha1/coordinator_pb.ts';
import {
  ConfigureRequestSchema,
  CreateRequestSchema,
  HostRefSchema,
  ListFilterSchema,
  MachineListSchema,
  MachineSchema,
} from '../../gen/bigfleet/v1alpha1/provider_pb.ts';
import { OperatorMessageSchema } from '../../gen/bigfleet/v1alpha1/shard_pb.ts';
import { SetActuationRequestSchema } from '../../gen/bigfleet/ext/v1alpha1/services_pb.ts';
import { assemble } from './assemble.ts';
import type { FieldValue } from './vector-syntax.ts';

function field(number: number, value: FieldValue): Uint8Array<ArrayBuffer> {
  return assemble([{ number, name: '', label: 'singular', type: '', value }]);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

// ---- 64-bit numbers ----

const int64s = [
  1n,
  -1n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  2n ** 63n - 2n,
  -(2n ** 63n),
  -(2n ** 53n) - 1n,
];

for (const int of int64s) {
  test(`int64 ${int} stays exact`, () => {
    const bytes = field(4, { kind: 'int64', int });
    const decoded = fromBinary(CreateRequestSchema, bytes);
    assert.equal(decoded.shardEpoch, int);
    assert.deepEqual(toBinary(CreateRequestSchema, decoded), bytes);
  });
}

test('uint64 stays exact up to 2^64 - 1', () => {
  for (const int of [1n, 2n ** 63n, 2n ** 64n - 1n]) {
    const bytes = field(1002, { kind: 'uint64', int });
    const decoded = fromBinary(JoinRaftClusterResponseSchema, bytes);
    assert.equal(decoded.memberId, int);
    assert.deepEqual(toBinary(JoinRaftClusterResponseSchema, decoded), bytes);
  }
});

test('numbers out of range are refused when encoding, not wrapped', () => {
  for (const shardEpoch of [2n ** 63n, -(2n ** 63n) - 1n]) {
    const message = create(CreateRequestSchema, { shardEpoch });
    assert.throws(() => toBinary(CreateRequestSchema, message), /shard_epoch.*invalid int64/);
  }
  for (const maxResults of [2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN]) {
    const message = create(ListFilterSchema, { maxResults });
    assert.throws(() => toBinary(ListFilterSchema, message), /max_results.*invalid int32/);
  }
});

// ---- strings ----

const strings: readonly (readonly [string, string])[] = [
  ['NUL', 'a\u0000b'],
  ['control characters', '\u0001\u001b[31m\u007f\u0085\r\n\t'],
  ['astral characters', '😀\u{10ffff}'],
  ['composed (NFC)', '\u00e9\u212b'],
  ['decomposed (NFD)', 'e\u0301A\u030a'],
  ['a leading byte-order mark', '\ufeffx'],
  ['U+FFFD and noncharacters', '\ufffd\uffff\ufdd0'],
  ['surrounding white space', ' \u00a0x\u2028 '],
  ['bidirectional controls', '\u202e\u2066x'],
];

for (const [name, text] of strings) {
  // The library has a path of its own for ASCII of up to 32 bytes: both sides of it.
  for (const value of [text, text + 'x'.repeat(40), 'x'.repeat(33) + text]) {
    test(`a string with ${name} is kept (${value.length} units)`, () => {
      const bytes = field(1, { kind: 'string', text: value });
      const decoded = fromBinary(MachineSchema, bytes);
      assert.equal(decoded.id, value);
      assert.deepEqual(toBinary(MachineSchema, decoded), bytes);
    });
  }
}

const notUtf8: readonly (readonly [string, string])[] = [
  ['a lone continuation byte', '80'],
  ['a cut sequence', 'c3'],
  ['a wrong continuation', 'c3 28'],
  ['an overlong slash', 'c0 af'],
  ['an encoded surrogate', 'ed a0 80'],
  ['a code point above U+10FFFF', 'f4 90 80 80'],
  ['byte ff', 'ff'],
];

for (const [name, bad] of notUtf8) {
  test(`invalid UTF-8 is refused: ${name}`, () => {
    for (const padding of ['', '61'.repeat(40)]) {
      const bytes = fromHex(padding + bad);
      const invalid = { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' };
      const asValue = field(1, { kind: 'bytes', bytes });
      assert.throws(() => fromBinary(MachineSchema, asValue), invalid);
      const asMapKey = field(10, { kind: 'bytes', bytes: field(1, { kind: 'bytes', bytes }) });
      assert.throws(() => fromBinary(MachineSchema, asMapKey), invalid);
      const asMapValue = field(10, { kind: 'bytes', bytes: field(2, { kind: 'bytes', bytes }) });
      assert.throws(() => fromBinary(MachineSchema, asMapValue), invalid);
    }
  });
}

test('a lone surrogate of our own is encoded as U+FFFD: check before sending', () => {
  // Decoding cannot produce one; text from elsewhere can, and String.isWellFormed tells.
  assert.equal(
    hex(toBinary(MachineSchema, create(MachineSchema, { id: 'a\ud800b' }))),
    '0a0561efbfbd62',
  );
});

test('bytes that are no text stay as they are', () => {
  const blob = Uint8Array.from({ length: 256 }, (_, index) => index);
  const bytes = field(3, { kind: 'bytes', bytes: blob });
  const decoded = fromBinary(ConfigureRequestSchema, bytes);
  assert.deepEqual(decoded.bootstrapBlob, blob);
  assert.deepEqual(toBinary(ConfigureRequestSchema, decoded), bytes);
});

test('decoded bytes share the received buffer: copy before keeping them', () => {
  const received = field(3, { kind: 'bytes', bytes: Uint8Array.of(1, 2, 3) });
  const { bootstrapBlob } = fromBinary(ConfigureRequestSchema, received);
  const kept = bootstrapBlob.slice();
  received.fill(9);
  assert.deepEqual([...bootstrapBlob], [9, 9, 9]);
  assert.deepEqual([...kept], [1, 2, 3]);
});

// ---- enums ----

test('an unknown enum value is kept and sent on', () => {
  for (const number of [9, 99, 2 ** 31 - 1]) {
    const bytes = field(2, { kind: 'enum', name: 'X', number });
    const decoded = fromBinary(MachineSchema, bytes);
    assert.equal(decoded.state, number);
    assert.deepEqual(toBinary(MachineSchema, decoded), bytes);
  }
  const negative = field(2, { kind: 'int32', int: -7n });
  assert.equal(fromBinary(MachineSchema, negative).state, -7);
  assert.deepEqual(toBinary(MachineSchema, fromBinary(MachineSchema, negative)), negative);
});

test('an unknown enum value in a list is kept, packed or not', () => {
  const packed = fromHex('0a 03 01 63 08');
  assert.deepEqual(fromBinary(ListFilterSchema, packed).states, [1, 99, 8]);
  assert.deepEqual(fromBinary(ListFilterSchema, fromHex('08 01 08 63 08 08')).states, [1, 99, 8]);
  assert.deepEqual(toBinary(ListFilterSchema, fromBinary(ListFilterSchema, packed)), packed);
});

// ---- unknown fields ----

test('unknown fields of every wire type are kept, at every depth', () => {
  const unknown = fromHex('c0 3e 05  c1 3e 0102030405060708  c2 3e 02 ffff  c5 3e 01020304');
  const host = Uint8Array.of(...field(2, { kind: 'string', text: 'i-1' }), ...unknown);
  const bytes = Uint8Array.of(
    ...field(1, { kind: 'string', text: 'm' }),
    ...field(3, { kind: 'bytes', bytes: host }),
    ...unknown,
  );
  const decoded = fromBinary(MachineSchema, bytes);
  assert.equal(decoded.host?.ref, 'i-1');
  assert.equal(decoded.$unknown?.length, 4);
  assert.deepEqual(toBinary(MachineSchema, decoded), bytes);
});

test('an unknown frame is an unset oneof that is still there when sent on', () => {
  const bytes = field(5000, { kind: 'bytes', bytes: Uint8Array.of(8, 1) });
  const decoded = fromBinary(OperatorMessageSchema, bytes);
  assert.equal(decoded.payload.case, undefined);
  assert.deepEqual(toBinary(OperatorMessageSchema, decoded), bytes);
});

test('the last arm of a oneof wins', () => {
  const bytes = Uint8Array.of(
    ...field(1, { kind: 'bytes', bytes: new Uint8Array() }),
    ...field(4, { kind: 'bytes', bytes: new Uint8Array() }),
  );
  assert.equal(fromBinary(OperatorMessageSchema, bytes).payload.case, 'reclaimAck');
});

test('unknown fields inside a map entry are dropped: the one loss', () => {
  const entry = Uint8Array.of(...field(1, { kind: 'string', text: 'k' }), 0x18, 0x05);
  const decoded = fromBinary(MachineSchema, field(10, { kind: 'bytes', bytes: entry }));
  assert.deepEqual({ ...decoded.labels }, { k: '' });
  assert.equal(decoded.$unknown, undefined);
});

// ---- presence ----

test('an absent message and an empty message differ', () => {
  assert.equal(fromBinary(MachineSchema, new Uint8Array()).host, undefined);
  const empty = fromBinary(MachineSchema, fromHex('1a 00'));
  assert.deepEqual(empty.host, create(HostRefSchema));
  assert.equal(hex(toBinary(MachineSchema, empty)), '1a00');
  assert.equal(hex(toBinary(MachineSchema, create(MachineSchema))), '');
});

test('an optional false and an absent one differ', () => {
  assert.equal(fromBinary(SetActuationRequestSchema, new Uint8Array()).paused, undefined);
  const explicit = fromBinary(SetActuationRequestSchema, fromHex('08 00'));
  assert.equal(explicit.paused, false);
  assert.equal(hex(toBinary(SetActuationRequestSchema, explicit)), '0800');
});

test('an explicit zero on a plain field reads as absent', () => {
  const decoded = fromBinary(MachineSchema, fromHex('0a 00 10 00 39 0000000000000000'));
  assert.deepEqual(decoded, create(MachineSchema));
  assert.equal(hex(toBinary(MachineSchema, decoded)), '');
});

test('a message that comes in two parts is merged', () => {
  const decoded = fromBinary(MachineSchema, fromHex('1a 03 0a 01 61  1a 03 12 01 62'));
  assert.equal(decoded.host?.provider, 'a');
  assert.equal(decoded.host?.ref, 'b');
});

// ---- doubles ----

const doubles = [
  Number.NaN,
  Infinity,
  -Infinity,
  -0,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
  0.1,
  2 ** -1074,
];

for (const double of doubles) {
  test(`double ${Object.is(double, -0) ? '-0' : double} is kept`, () => {
    const bytes = field(7, { kind: 'double', double });
    const decoded = fromBinary(MachineSchema, bytes);
    assert.ok(Object.is(decoded.pricePerHour, double));
    assert.deepEqual(toBinary(MachineSchema, decoded), bytes);
  });
}

// ---- hostile lengths and depth ----

test('a huge length is refused without allocating for it', () => {
  const lengths = ['ff ff ff 7f', 'ff ff ff ff 07', 'ff ff ff ff 0f'];
  const before = process.memoryUsage();
  for (const length of lengths) {
    for (let round = 0; round < 200; round++) {
      // A string, a message, a map entry, an unknown field; messages in a list, bytes; packed.
      for (const tag of ['0a', '1a', '52', 'c2 3e']) {
        assert.throws(() => fromBinary(MachineSchema, fromHex(`${tag} ${length}`)), RangeError);
      }
      for (const tag of ['0a', '12']) {
        assert.throws(() => fromBinary(MachineListSchema, fromHex(`${tag} ${length}`)), RangeError);
      }
      assert.throws(() => fromBinary(ListFilterSchema, fromHex(`0a ${length} 01 02`)), RangeError);
    }
  }
  const after = process.memoryUsage();
  const grown = after.heapTotal + after.arrayBuffers - before.heapTotal - before.arrayBuffers;
  assert.ok(grown < 64 << 20, `grew by ${grown} bytes`);
});

test('deep nesting is refused, not followed until the stack ends', () => {
  // Groups are the only way to nest without a schema.
  const groups = new Uint8Array(1 << 20).fill(0x0b);
  for (const schema of [OperatorMessageSchema, MachineSchema, CreateRequestSchema]) {
    const unknownGroups = groups.map((_, index) => (index % 2 === 0 ? 0xc3 : 0x3e));
    assert.throws(() => fromBinary(schema, unknownGroups), /maximum recursion depth/);
    assert.throws(() => fromBinary(schema, groups), Error);
  }
});

test('garbage is refused with an error, never with a crash', () => {
  for (const text of [
    '00',
    '07',
    'ff',
    '0b',
    '0c',
    '80',
    '0a',
    'ff ff ff ff ff ff ff ff ff ff 01',
  ]) {
    assert.throws(() => fromBinary(MachineSchema, fromHex(text)), Error, text);
  }
});
