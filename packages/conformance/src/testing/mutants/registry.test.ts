// Proves that the registry is well formed: enough mutants, each told in two sentences, each caught by
// behaviours of the catalogue, every behaviour with a mutant that it catches, and the wrong
// providers that the specification names among them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { behaviours } from '../../catalogue/catalogue.ts';
import { allMutants } from './set/index.ts';

const MIN_MUTANTS = 60;

test('mutants are many and named apart', () => {
  assert.ok(allMutants.length >= MIN_MUTANTS, `${allMutants.length} mutants`);
  const names = allMutants.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z0-9]+(-[a-z0-9]+)+$/);
});

test('each says in one sentence what it does, and in one how it comes about', () => {
  for (const { name, wrong, story } of allMutants) {
    for (const sentence of [wrong, story]) assert.match(sentence, /^[A-Z"].*\.$/, name);
    assert.equal(wrong.match(/\. [A-Z]/), null, `${name}: ${wrong}`);
  }
});

test('each is caught by behaviours of the catalogue, in its order', () => {
  const order = behaviours.map(({ id }) => id);
  for (const { name, caughtBy } of allMutants) {
    assert.ok(caughtBy.length > 0, `${name} is caught by nothing`);
    assert.deepEqual(
      caughtBy,
      order.filter((id) => caughtBy.includes(id)),
      name,
    );
  }
});

test('every behaviour catches a mutant', () => {
  const caught = new Set(allMutants.flatMap(({ caughtBy }) => caughtBy));
  const never = behaviours.map(({ id }) => id).filter((id) => !caught.has(id));
  assert.deepEqual(never, []);
});

test('the wrong providers that conformance §8 names are there', () => {
  const names = new Set(allMutants.map(({ name }) => name));
  for (const name of [
    'fence-per-shard',
    'replay-before-fence',
    'metadata-dropped-on-list',
    'head-cursor-after-the-first-page',
    'tick-touches-a-machine',
    'position-is-failed-precondition',
    'failed-is-retried',
    'ack-before-persist',
    'configured-on-boot',
  ]) {
    assert.ok(names.has(name), name);
  }
});
