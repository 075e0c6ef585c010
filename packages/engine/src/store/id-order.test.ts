// Proves that ranks compare like the ids they stand for, however ids come and go, and that no
// order of arrival makes the ranks of everybody be written again and again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareText, createRandom } from '@bigfleet/base';
import { IdOrder } from './id-order.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'id-order-1';

class Fleet {
  readonly ids: string[] = [];
  readonly order: IdOrder = new IdOrder(this.ids);
  readonly live: Set<number> = new Set();
  /** Counts what a change rewrites. */
  writes = 0;
  readonly rank: Uint32Array;

  constructor(capacity: number) {
    this.rank = new Proxy(new Uint32Array(capacity), {
      set: (ranks, slot, value: number): boolean => {
        this.writes += 1;
        return Reflect.set(ranks, slot, value, ranks);
      },
    });
  }

  insert(slot: number, id: string): void {
    this.ids[slot] = id;
    this.order.insert(slot, this.rank);
    this.live.add(slot);
  }

  remove(slot: number): void {
    this.order.remove(slot);
    this.live.delete(slot);
    this.ids[slot] = '';
  }

  check(): void {
    const slots = [...this.live];
    const text = (slot: number): string => this.ids[slot] ?? '';
    slots.sort((a, b) => compareText(text(a), text(b)));
    for (let at = 1; at < slots.length; at++) {
      const [before, after] = [slots[at - 1] ?? -1, slots[at] ?? -1];
      const isAbove = (this.rank[after] ?? 0) > (this.rank[before] ?? 0);
      assert.ok(isAbove, `${text(before)} is not below ${text(after)}`);
    }
  }
}

test(`ranks order like ids over random inserts and removes (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const capacity = 2000;
  const fleet = new Fleet(capacity);
  const free = Array.from({ length: capacity }, (_, slot) => slot);
  const used = new Set<string>();
  for (let step = 0; step < 12_000; step++) {
    const slot = free.at(-1);
    if (slot !== undefined && random.below(5) < 3) {
      // Short alphabets with an astral character: prefixes, neighbours and UTF-8 order.
      const id = Array.from({ length: 1 + random.below(6) }, () =>
        'ab\uff5e😀'.charAt(random.below(5)),
      );
      const text = id.join('');
      if (used.has(text)) continue;
      used.add(text);
      free.pop();
      fleet.insert(slot, text);
    } else {
      const victim = [...fleet.live][random.below(Math.max(1, fleet.live.size))];
      if (victim === undefined) continue;
      used.delete(fleet.ids[victim] ?? '');
      fleet.remove(victim);
      free.push(victim);
    }
    if (step % 1000 === 0) fleet.check();
  }
  fleet.check();
});

test('a gap that is halved until nothing is left makes room', () => {
  const fleet = new Fleet(3000);
  fleet.insert(0, 'a');
  fleet.insert(1, 'b');
  // Each id lands between the last one and its upper neighbour: the gap halves every time.
  let id = 'a';
  for (let slot = 2; slot < 3000; slot++) {
    id += 'x';
    fleet.insert(slot, id);
    if (slot % 500 === 0) fleet.check();
  }
  fleet.check();
});

const COUNT = 20_000;
const padded = (value: number): string => String(value).padStart(8, '0');

/** How a provider may list its machines; each order is one that a cold start must survive. */
const ARRIVALS: Readonly<Record<string, (at: number) => string>> = {
  ascending: padded,
  descending: (at) => padded(COUNT - at),
  'a second block in front of the first': (at) => `${at < COUNT / 2 ? 'b' : 'a'}${padded(at)}`,
  'a block inside another': (at) =>
    at < COUNT / 2 ? padded(at * 2) : `${padded(COUNT / 2)}-${padded(at)}`,
  'blocks interleaved': (at) => `${at % 7}-${padded(at)}`,
};

for (const [name, idAt] of Object.entries(ARRIVALS)) {
  test(`${name}: a bounded number of ranks is written per id`, () => {
    const fleet = new Fleet(COUNT);
    for (let slot = 0; slot < COUNT; slot++) fleet.insert(slot, idAt(slot));
    fleet.check();
    const perId = fleet.writes / COUNT;
    assert.ok(perId < 200, `${perId.toFixed(0)} writes per id`);
  });
}

test('ids that only rise while old ones go keep their cost, past the end of the numbers', () => {
  const capacity = 512;
  const fleet = new Fleet(capacity);
  // A large gap per append exhausts 32 bits quickly enough for a test: start near the end.
  for (let slot = 0; slot < capacity; slot++) fleet.insert(slot, padded(slot));
  for (let slot = 0; slot < capacity; slot++) fleet.rank[slot] = 0xffff_fffe - (capacity - slot);
  fleet.writes = 0;
  const rounds = 20_000;
  for (let at = 0; at < rounds; at++) {
    const slot = at % capacity;
    fleet.remove(slot);
    fleet.insert(slot, padded(capacity + at));
  }
  fleet.check();
  assert.ok(fleet.writes / rounds < 200, `${fleet.writes / rounds} writes per id`);
});
