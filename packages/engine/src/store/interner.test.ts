// Proves that interned numbers stay their text's own while anybody holds them, and are reused
// afterwards: nothing leaks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError, createRandom } from '@bigfleet/base';
import { Interner } from './interner.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'interner-1';

test('the empty string is 0 and is never released', () => {
  const interner = new Interner();
  assert.equal(interner.retain(''), 0);
  for (let times = 0; times < 5; times++) interner.release(0);
  assert.equal(interner.find(''), 0);
  assert.equal(interner.text(0), '');
  assert.equal(interner.size, 1);
});

test('one text has one number until its last holder lets go', () => {
  const interner = new Interner();
  const id = interner.retain('a');
  assert.equal(interner.retain('a'), id);
  interner.release(id);
  assert.equal(interner.find('a'), id);
  assert.equal(interner.text(id), 'a');
  interner.release(id);
  assert.equal(interner.find('a'), -1);
  assert.equal(interner.size, 1);
});

test('a number is reused, by one text at a time', () => {
  const interner = new Interner();
  const first = interner.retain('a');
  interner.release(first);
  assert.equal(interner.retain('b'), first);
  assert.notEqual(interner.retain('a'), first);
});

test('releasing more often than retaining is a bug', () => {
  const interner = new Interner();
  const id = interner.retain('a');
  interner.release(id);
  assert.throws(() => interner.release(id), AssertionError);
  assert.throws(() => interner.release(99), AssertionError);
});

test(`agrees with a plain multiset over random use (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const interner = new Interner();
  const uses = new Map<string, { readonly id: number; count: number }>();
  for (let step = 0; step < 20_000; step++) {
    const text = `t${random.below(60)}`;
    const known = uses.get(text);
    if (random.below(2) === 0) {
      const id = interner.retain(text);
      if (known === undefined) uses.set(text, { id, count: 1 });
      else {
        assert.equal(id, known.id);
        known.count += 1;
      }
    } else if (known !== undefined) {
      interner.release(known.id);
      known.count -= 1;
      if (known.count === 0) uses.delete(text);
    }
    assert.equal(interner.find(text), uses.get(text)?.id ?? -1);
  }
  const ids = [...uses.values()].map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.ok(
    ids.every((id) => id >= 1 && id <= 60),
    'numbers stay dense',
  );
  for (const [text, { id, count }] of uses) {
    assert.equal(interner.text(id), text);
    for (let left = count; left > 0; left--) interner.release(id);
  }
  assert.equal(interner.size, 1);
});
