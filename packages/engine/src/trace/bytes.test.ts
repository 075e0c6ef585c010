// Proves that numbers, times and texts come back exactly, that each has one spelling, and that
// reading garbage fails without an exception and without reading past its end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteTable } from './byte-table.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { FrontDecoder, FrontEncoder } from './front-coding.ts';
import { MAX_TEXT_BYTES } from './limits.ts';
import { hostileText } from './testing/arbitraries.ts';
import { decodeText, encodeText } from './text-bytes.ts';
import { TimeDecoder, TimeEncoder } from './time-code.ts';

const EDGES = [
  0,
  -0,
  1,
  -1,
  127,
  128,
  -(2 ** 31),
  2 ** 31 - 1,
  2 ** 51 - 1,
  2 ** 51,
  -(2 ** 51),
  2 ** 52 - 1,
  2 ** 52,
  -(2 ** 52),
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 53,
  0.1,
  -0.5,
  Number.MIN_VALUE,
  Number.MAX_VALUE,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];

const anyNumber = fc.oneof(
  fc.double({ noNaN: true }),
  fc.maxSafeInteger(),
  fc.constantFrom(...EDGES),
);

test('every number but NaN comes back as itself', () => {
  fc.assert(
    fc.property(anyNumber, (value) => {
      const out = new ByteWriter();
      out.number(value);
      const reader = new ByteReader(out.written);
      assert.ok(Object.is(reader.number(), value), String(value));
      assert.equal(reader.remaining, 0);
      assert.equal(reader.problem, undefined);
    }),
    { examples: EDGES.map((value): [number] => [value]) },
  );
  assert.throws(() => new ByteWriter().number(Number.NaN));
});

test('every series of times comes back as itself, and NaN is refused', () => {
  fc.assert(
    fc.property(fc.array(anyNumber), (times) => {
      const out = new ByteWriter();
      const encoder = new TimeEncoder();
      for (const time of times) assert.ok(encoder.write(time, out));
      const reader = new ByteReader(out.written);
      const decoder = new TimeDecoder();
      for (const time of times) assert.ok(Object.is(decoder.read(reader), time), String(time));
      assert.equal(reader.problem, undefined);
    }),
    { examples: [[EDGES], [EDGES.toReversed()]] },
  );
  const out = new ByteWriter();
  assert.equal(new TimeEncoder().write(Number.NaN, out), false);
  assert.equal(out.length, 0);
});

test('every signed 64-bit number comes back as itself', () => {
  const edges = [0n, -1n, 1n, 2n ** 63n - 1n, -(2n ** 63n)];
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
      const out = new ByteWriter();
      out.signed64(value);
      assert.equal(new ByteReader(out.written).signed64(), value);
      assert.ok(out.length <= 10);
    }),
    { examples: edges.map((value): [bigint] => [value]) },
  );
});

test('a number has one spelling: what reads without a problem writes the same bytes', () => {
  const forms: readonly [(r: ByteReader) => unknown, (w: ByteWriter, value: never) => void][] = [
    [(r) => r.varint(), (w, value) => w.varint(value)],
    [(r) => r.number(), (w, value) => w.number(value)],
    [(r) => r.signed64(), (w, value) => w.signed64(value)],
  ];
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom(...forms),
      (bytes, [read, write]) => {
        const reader = new ByteReader(bytes);
        const value = read(reader);
        if (reader.problem !== undefined) return;
        const out = new ByteWriter();
        write(out, value as never);
        assert.deepEqual(out.written, bytes.subarray(0, bytes.length - reader.remaining));
      },
    ),
    { numRuns: 2000 },
  );
});

test('texts come back as they are, lone surrogates included', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const into = new Uint8Array(text.length * 3);
      const length = encodeText(text, into);
      assert.equal(decodeText(into.subarray(0, length)), text);
    }),
    {
      examples: [
        ['\ud800'],
        ['\udc00\ud800'],
        ['a\ud83d\ude00b'],
        ['\ud800\ud83d\ude00'],
        ['\u0000'],
      ],
    },
  );
});

test('a text that crosses the internal chunks comes back', () => {
  const text = `${'x'.repeat(2047)}\ud800${'é'.repeat(4096)}\ud83d\ude00`;
  const into = new Uint8Array(text.length * 3);
  assert.equal(decodeText(into.subarray(0, encodeText(text, into))), text);
});

test('bytes are either no text or the only spelling of one', () => {
  const near = fc.array(
    fc.constantFrom(0x41, 0xc0, 0xc2, 0xe0, 0xed, 0xf0, 0xf4, 0x80, 0xa0, 0xbf),
  );
  let texts = 0;
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), near), (list) => {
      const bytes = Uint8Array.from(list);
      const text = decodeText(bytes);
      if (text === undefined) return;
      texts += 1;
      const into = new Uint8Array(text.length * 3);
      assert.deepEqual(into.subarray(0, encodeText(text, into)), bytes);
    }),
    { numRuns: 5000 },
  );
  assert.ok(texts > 100, `only ${texts} texts`);
  // A pair written as two surrogates, also across a chunk.
  const split = [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80];
  assert.equal(decodeText(Uint8Array.from(split)), undefined);
  assert.equal(
    decodeText(Uint8Array.from([...Array<number>(2047).fill(0x41), ...split])),
    undefined,
  );
});

test('a series of texts comes back; one that is too long writes nothing', () => {
  fc.assert(
    fc.property(fc.array(hostileText), (texts) => {
      const out = new ByteWriter();
      const encoder = new FrontEncoder();
      for (const text of texts) assert.ok(encoder.write(text, out));
      const reader = new ByteReader(out.written);
      const decoder = new FrontDecoder();
      assert.deepEqual(
        texts.map(() => decoder.read(reader)),
        texts,
      );
      assert.equal(reader.problem, undefined);
    }),
  );
  const out = new ByteWriter();
  assert.equal(new FrontEncoder().write('x'.repeat(MAX_TEXT_BYTES + 1), out), false);
  assert.equal(new FrontEncoder().write('é'.repeat(MAX_TEXT_BYTES / 2 + 1), out), false);
  assert.equal(out.length, 0);
  assert.equal(new FrontEncoder().write('x'.repeat(MAX_TEXT_BYTES), out), true);
});

test('neighbours cost what they add', () => {
  const out = new ByteWriter();
  const encoder = new FrontEncoder();
  encoder.write('machine-0000041', out);
  const before = out.length;
  encoder.write('machine-0000042', out);
  assert.equal(out.length - before, 2);
});

test('after the first problem a reader gives zeroes and consumes nothing', () => {
  const reader = new ByteReader(Uint8Array.of(1, 2, 3));
  reader.fail('first');
  reader.fail('second');
  assert.equal(reader.problem, 'first');
  assert.deepEqual(
    [reader.byte(), reader.varint(), reader.number(), reader.signed64()],
    [0, 0, 0, 0n],
  );
  assert.equal(reader.bytes(2).length, 0);
  assert.equal(reader.remaining, 3);
});

test('a count beyond the bytes that are left is refused', () => {
  const reader = new ByteReader(Uint8Array.of(0xff, 0xff, 0xff, 0x7f, 0));
  assert.equal(reader.count(), 0);
  assert.match(reader.problem ?? '', /count/);
});

test('a text that continues more than there was before is refused', () => {
  const out = new ByteWriter();
  new FrontEncoder().write('abc', out);
  const shared = 4;
  out.byte(shared << 4);
  const reader = new ByteReader(out.written);
  const decoder = new FrontDecoder();
  assert.equal(decoder.read(reader), 'abc');
  assert.equal(decoder.read(reader), '');
  assert.match(reader.problem ?? '', /shorter/);
});

/** So many that some of them share all 32 bits of their hash. */
test('the byte table finds what was added and nothing else', () => {
  const count = 300_000;
  const table = new ByteTable();
  const keyOf = (value: number): Uint8Array => {
    const out = new ByteWriter();
    out.varint(value * 7919);
    return out.written;
  };
  for (let round = 0; round < 2; round++) {
    const numbers: number[] = [];
    for (let value = 0; value < count; value++) {
      if (table.find(keyOf(value)) !== 0) assert.fail(`${value} is found before it is added`);
      numbers.push(table.add(keyOf(value)));
    }
    let found = 0;
    for (let value = 0; value < count; value++) {
      const number = table.find(keyOf(value));
      // A long chain may be given up; what is found is right.
      if (number === 0) continue;
      found += 1;
      if (number !== numbers[value]) assert.fail(`${value} is found as another`);
    }
    assert.ok(found > count * 0.999, `found ${found} of ${count}`);
    table.clear();
    assert.equal(table.size, 0);
  }
});
