// Proves that text order is the byte order of UTF-8.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareText } from './text-order.ts';

test('law: the sign equals that of comparing UTF-8 bytes', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'é', '\uffff', '\ue000', '😀', '\u{10ffff}'),
    maxLength: 6,
  });
  const encoder = new TextEncoder();
  fc.assert(
    fc.property(text, text, (a, b) => {
      const bytes = Buffer.compare(encoder.encode(a), encoder.encode(b));
      assert.equal(Math.sign(compareText(a, b)), bytes);
    }),
    { numRuns: 5_000 },
  );
});

test('astral characters sort after the private-use area, where UTF-16 units would not', () => {
  const [face, replacement] = ['\u{1F600}', '\uFFFD'];
  assert.ok(face < replacement);
  assert.ok(compareText(face, replacement) > 0);
  assert.equal(compareText('', ''), 0);
  assert.ok(compareText('a', 'ab') < 0);
});
