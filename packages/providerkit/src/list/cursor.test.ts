// Proves that a cursor round-trips, and that everything else (foreign, damaged, oversized, beyond
// the head) means "full list" instead of a wrong position.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './cursor.ts';

const scope = { incarnation: 'inc-1', life: 'inc-1~1', head: 1_000 };

test('a cursor of this store up to its head is read back', () => {
  for (const revision of [0, 1, 999, 1_000]) {
    assert.equal(decodeCursor(encodeCursor('inc-1', revision), scope), revision);
  }
  assert.equal(decodeCursor(encodeCursor('inc-1', 1_001), scope), undefined, 'beyond the head');
  assert.equal(decodeCursor(encodeCursor('inc-2', 5), scope), undefined, 'another incarnation');
  assert.equal(decodeCursor(encodeCursor('inc-1~1', 5), scope), 5, 'of this life');
  assert.equal(decodeCursor(encodeCursor('inc-1~2', 5), scope), undefined, 'of another life');
});

test('any incarnation text works, and none imitates another', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(1_000), (a, b, revision) => {
      const cursor = encodeCursor(`i${a}`, revision);
      const read = decodeCursor(cursor, { incarnation: `i${b}`, life: 'l', head: 1_000 });
      assert.equal(read, a === b ? revision : undefined);
      assert.equal(
        decodeCursor(cursor, { incarnation: `i${a}`, life: 'l', head: 1_000 }),
        revision,
      );
    }),
  );
});

test('no damaged cursor is believed', () => {
  const good = encodeCursor('inc-1', 777);
  const text = new TextEncoder();
  const damaged: readonly Uint8Array[] = [
    new Uint8Array(0),
    text.encode('garbage'),
    new Uint8Array([0xff, 0xfe, 0, 1, 2]),
    new Uint8Array(4_096).fill(0xde),
    new Uint8Array([...good, 0x21]),
    new Uint8Array([0x7e, ...good]),
    new Uint8Array([...good, 0x00, 0xff]),
    good.subarray(0, -1),
  ];
  for (const bytes of damaged) assert.equal(decodeCursor(bytes, scope), undefined);
  for (let at = 0; at < good.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const flipped = new Uint8Array(good);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      assert.equal(decodeCursor(flipped, scope), undefined, `byte ${at}, bit ${bit}`);
    }
  }
});

test('random bytes never throw and are never believed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      assert.equal(decodeCursor(bytes, scope), undefined);
    }),
  );
});
