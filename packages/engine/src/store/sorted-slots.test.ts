// Proves that the chunked set equals a sorted array over random changes, through splits and
// emptied chunks, for reading by cursor too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { SlotCursor, type SlotOrder, SortedSlots, slotKey } from './sorted-slots.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'sorted-slots-1';

/** Distinct ranks in random order, few penalties: what pool order looks like. */
function orderOf(count: number, random: Random): SlotOrder {
  const ranks = Array.from({ length: count }, (_, at) => ({ at, key: random.uint32() }));
  ranks.sort((a, b) => a.key - b.key);
  const rank = new Uint32Array(count);
  ranks.forEach(({ at }, place) => {
    rank[at] = place * 7 + 3;
  });
  const reclamationBucket = Uint8Array.from({ length: count }, () =>
    random.below(4) === 0 ? 9 : 1,
  );
  return { rank, reclamationBucket };
}

function contents(set: SortedSlots): number[] {
  const slots: number[] = [];
  for (let at = 0; at < set.chunkCount; at++) {
    assert.ok(set.lengthAt(at) > 0, 'no chunk is empty');
    assert.ok(set.lengthAt(at) <= set.chunkAt(at).length);
    slots.push(...set.chunkAt(at).subarray(0, set.lengthAt(at)));
  }
  return slots;
}

function byCursor(set: SortedSlots): number[] {
  const cursor = new SlotCursor(set);
  const slots: number[] = [];
  for (let slot = cursor.peek(); slot >= 0; slot = cursor.peek()) {
    assert.equal(cursor.remaining, set.size - slots.length);
    slots.push(slot);
    cursor.advance();
  }
  assert.equal(cursor.remaining, 0);
  return slots;
}

function check(set: SortedSlots, model: ReadonlySet<number>, order: SlotOrder): void {
  const expected = [...model].sort((a, b) => slotKey(order, a) - slotKey(order, b));
  assert.deepEqual(contents(set), expected);
  assert.deepEqual(byCursor(set), expected);
  assert.equal(set.size, expected.length);
}

test('penalty comes before id, and both fit one exact number', () => {
  const rank = Uint32Array.of(0xffff_ffff, 0, 5);
  const reclamationBucket = Uint8Array.of(1, 2, 27);
  const order = { rank, reclamationBucket };
  assert.ok(slotKey(order, 0) < slotKey(order, 1));
  assert.ok(slotKey(order, 1) < slotKey(order, 2));
  assert.ok(Number.isSafeInteger(slotKey(order, 2)));
  const set = new SortedSlots();
  for (const slot of [2, 0, 1]) set.insert(slot, order);
  assert.deepEqual(contents(set), [0, 1, 2]);
});

test('an empty set', () => {
  const set = new SortedSlots();
  check(set, new Set(), orderOf(1, createRandom(SEED)));
  assert.equal(set.remove(0, orderOf(1, createRandom(SEED))), false);
});

for (const [name, bias] of [
  ['growing', 0.75],
  ['balanced', 0.5],
  ['shrinking', 0.35],
] as const) {
  test(`agrees with a sorted array, ${name} (seed ${SEED})`, () => {
    const random = createRandom(`${SEED}-${name}`);
    const count = 3000;
    const order = orderOf(count, random);
    const set = new SortedSlots();
    const model = new Set<number>();
    if (name === 'shrinking') {
      for (let slot = 0; slot < count; slot++) {
        set.insert(slot, order);
        model.add(slot);
      }
    }
    for (let step = 0; step < 6000; step++) {
      const slot = random.below(count);
      if (random.float() < bias) {
        if (!model.has(slot)) set.insert(slot, order);
        model.add(slot);
      } else {
        assert.equal(set.remove(slot, order), model.delete(slot));
      }
      if (step % 500 === 0) check(set, model, order);
    }
    check(set, model, order);
    for (const slot of model) {
      assert.ok(set.remove(slot, order));
      model.delete(slot);
    }
    check(set, model, order);
    assert.equal(set.chunkCount, 0);
  });
}

test('ascending and descending loads of thousands', () => {
  const count = 5000;
  const order = {
    rank: Uint32Array.from({ length: count }, (_, slot) => slot * 2),
    reclamationBucket: new Uint8Array(count).fill(1),
  };
  const slots = Array.from({ length: count }, (_, slot) => slot);
  const [ascending, descending] = [new SortedSlots(), new SortedSlots()];
  for (const slot of slots) ascending.insert(slot, order);
  for (const slot of slots.toReversed()) descending.insert(slot, order);
  for (const set of [ascending, descending]) {
    check(set, new Set(slots), order);
    assert.ok(set.chunkCount >= count / 256);
    set.remove(2500, order);
    set.insert(2500, order);
    check(set, new Set(slots), order);
  }
});

test('a slot that is not in the set is not removed, even between its neighbours', () => {
  const random = createRandom(SEED);
  const order = orderOf(1000, random);
  const set = new SortedSlots();
  for (let slot = 0; slot < 1000; slot += 2) set.insert(slot, order);
  for (let slot = 1; slot < 1000; slot += 2) assert.equal(set.remove(slot, order), false);
  assert.equal(set.size, 500);
});

test('a cursor starts over after reset', () => {
  const order = orderOf(600, createRandom(SEED));
  const set = new SortedSlots();
  for (let slot = 0; slot < 600; slot++) set.insert(slot, order);
  const cursor = new SlotCursor(set);
  for (let times = 0; times < 300; times++) cursor.advance();
  assert.equal(cursor.remaining, 300);
  cursor.reset();
  assert.equal(cursor.peek(), contents(set)[0]);
  assert.equal(cursor.remaining, 600);
});
