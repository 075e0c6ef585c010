// Proves that a pattern of --team matches whole names, with a star for any text, and that the first pattern
// that matches names the team.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { isMatch, teamOf } from './teams.ts';

const CASES: readonly (readonly [pattern: string, name: string, isMatched: boolean])[] = [
  ['search', 'search', true],
  ['search', 'search-1', false],
  ['search', 'research', false],
  ['*', 'anything', true],
  ['search-*', 'search-', true],
  ['search-*', 'search', false],
  ['*-eu', 'search-eu', true],
  ['*-eu', 'search-eu-2', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['ab*b', 'ab', false],
  ['a*b*c', 'axxbxxc', true],
  ['a*b*c', 'axxcxxb', false],
  ['a*bc*c', 'abc', false],
  ['a**c', 'abc', true],
  ['a.c', 'abc', false],
];

for (const [pattern, name, isMatched] of CASES) {
  test(`${pattern} ${isMatched ? 'matches' : 'does not match'} ${name}`, () => {
    assert.equal(isMatch(pattern, name), isMatched);
  });
}

test('any pattern decides as the regular expression that it means', () => {
  const random = createRandom('team patterns');
  const text = (letters: string, most: number): string =>
    Array.from({ length: random.below(most) }, () => letters[random.below(letters.length)]).join(
      '',
    );
  for (let round = 0; round < 5_000; round++) {
    const pattern = text('ab*', 8);
    const name = text('ab', 10);
    const meant = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
    assert.equal(isMatch(pattern, name), meant, `${pattern} ${name}`);
  }
});

test('the first pattern that matches names the team, and a team may have several', () => {
  const teams = [
    { team: 'search', pattern: 'search-*' },
    { team: 'search', pattern: 'index-1' },
    { team: 'rest', pattern: 's*' },
  ];
  assert.equal(teamOf(teams, 'search-eu'), 'search');
  assert.equal(teamOf(teams, 'index-1'), 'search');
  assert.equal(teamOf(teams, 'shop'), 'rest');
  assert.equal(teamOf(teams, 'ads'), '');
  assert.equal(teamOf([{ team: 'all', pattern: '*' }], ''), '', 'no cluster is of no team');
});
