// Proves that the checksum is the published CRC-32C and that continuing it equals one pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crc32c } from './crc32c.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (c) => c.charCodeAt(0));

test('known answers: the check value and the vectors of RFC 3720', () => {
  const ascending = Uint8Array.from({ length: 32 }, (_, at) => at);
  const answers: readonly [string, Uint8Array, number][] = [
    ['nothing', new Uint8Array(0), 0],
    ['check value', ascii('123456789'), 0xe306_9283],
    ['zeroes', new Uint8Array(32), 0x8a91_36aa],
    ['ones', new Uint8Array(32).fill(0xff), 0x62a8_ab43],
    ['ascending', ascending, 0x46dd_794e],
    ['descending', ascending.toReversed(), 0x113f_db5c],
  ];
  for (const [name, bytes, expected] of answers) assert.equal(crc32c(bytes), expected, name);
});

test('continued over any cut it is the checksum of the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      assert.equal(crc32c(b, crc32c(a)), crc32c(Uint8Array.from([...a, ...b])));
    }),
  );
});
