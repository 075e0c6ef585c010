// Proves that texts of every length and alphabet come back, also where their length needs a
// second byte or an encoder, and that numbers written around them stay.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';

const texts = [
  // A mark that decoders like to swallow.
  '\ufeffbom',
  ...[0, 1, 127, 128, 300, 0x3fff, 0x4000, 0x4001].flatMap((length) => [
    'a'.repeat(length),
    `${'a'.repeat(length)}é`,
    '€'.repeat(length),
  ]),
];

test('texts and the numbers between them come back', () => {
  const out = new ByteWriter();
  for (const text of texts) {
    out.varint(text.length);
    out.text(text);
  }
  const reader = new ByteReader(out.written);
  for (const text of texts) {
    assert.equal(reader.varint(), text.length);
    assert.equal(reader.text(), text);
  }
  assert.ok(reader.isAtEnd);
});
