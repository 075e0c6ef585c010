// Proves that the table of mutants fits today's sources: every text that a mutant replaces is
// there exactly once, and no mutant touches what mutants are judged by.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf, countOf, MUTATED_AREAS } from './mutation.ts';
import { mutations } from './table.ts';
import { readSource } from './workspace.ts';

test('every text that a mutant replaces occurs exactly once', () => {
  const problems = mutations.flatMap(({ id, file, find }) => {
    const count = countOf(readSource(file), find);
    return count === 1 ? [] : [`${id}: ${count} times in ${file}: ${find}`];
  });
  assert.deepEqual(problems, []);
});

test('mutants are many, named apart, real changes, and never of the oracle', () => {
  assert.ok(mutations.length >= 60, `${mutations.length} mutants`);
  assert.equal(new Set(mutations.map(({ id }) => id)).size, mutations.length);
  for (const mutation of mutations) {
    assert.ok(MUTATED_AREAS.includes(areaOf(mutation)), mutation.file);
    assert.ok(!/\.(?:test|long)\.ts$|\/testing\//.test(mutation.file), mutation.file);
    assert.notEqual(mutation.find, mutation.replace, mutation.id);
  }
});
