// Proves that another Node major is refused, with one line that says what to run.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { nodeProblem } from './node-version.ts';

test('only major 24 is accepted', () => {
  const table: ReadonlyArray<readonly [version: string, accepted: boolean]> = [
    ['v24.0.0', true],
    ['24.21.0', true],
    ['v20.19.0', false],
    ['25.0.0', false],
    ['v2.4.0', false],
    ['v240.0.0', false],
    ['garbage', false],
  ];
  for (const [version, accepted] of table) {
    const problem = nodeProblem(version);
    assert.equal(problem, accepted ? undefined : `needs Node.js 24, this is ${version}`);
  }
});

test('a process on another major ends with one line and exit code 2', () => {
  const module = new URL('./node-version.ts', import.meta.url).href;
  const source = `
    Object.defineProperty(process, 'version', { value: 'v20.19.0' });
    const { requireNode24 } = await import('${module}');
    requireNode24();
    console.log('not reached');
  `;
  const args = ['--input-type=module', '-e', source];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  assert.match(stderr, /^BigFleet needs Node\.js 24, this is v20\.19\.0: .*make help.*\n$/);
});
