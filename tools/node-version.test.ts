// Proves that another Node major is refused with one line that says what to run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeVersionProblem } from './node-version.ts';

test('only major 24 is accepted', () => {
  const table: ReadonlyArray<readonly [version: string, accepted: boolean]> = [
    ['v24.0.0', true],
    ['v24.21.0', true],
    ['v20.19.0', false],
    ['v25.0.0', false],
    ['v2.4.0', false],
    ['garbage', false],
  ];
  for (const [version, accepted] of table) {
    const problem = nodeVersionProblem(version);
    assert.equal(problem === undefined, accepted, version);
    if (problem !== undefined) {
      assert.match(problem, /make help/);
      assert.ok(problem.includes(version));
      assert.ok(!problem.includes('\n'));
    }
  }
});
