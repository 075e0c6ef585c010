// Proves that a shard starts itself again with the memory settings it lacks, once, and that neither
// another command nor what an administrator said is touched.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type StartedAs, withMemorySettings } from './memory-settings.ts';

const ENTRY = fileURLToPath(new URL('./testing/start-again-main.ts', import.meta.url));

interface Facts {
  readonly pid: number;
  readonly command: readonly string[];
  readonly flags: readonly string[];
  readonly arenas?: string;
}

function started(command: string, changes: Partial<StartedAs> = {}): StartedAs {
  const argv = ['/bin/node', '/main.ts', command, '--id=s'];
  return { execPath: '/bin/node', execArgv: [], argv, env: { HOME: '/h' }, ...changes };
}

test('what is missing is added, in front of what was said; then nothing is missing', () => {
  const again = withMemorySettings(started('shard', { execArgv: ['--no-warnings'] }));
  assert.ok(again !== undefined);
  assert.deepEqual(again.args, [
    '/bin/node',
    '--max-semi-space-size=16',
    '--heap-growing-percent=60',
    '--no-parallel-scavenge',
    '--no-warnings',
    '/main.ts',
    'shard',
    '--id=s',
  ]);
  assert.equal(again.env['HOME'], '/h');
  assert.equal(again.env['MALLOC_MMAP_THRESHOLD_'], '131072');
  const execArgv = again.args.slice(1, 5);
  assert.equal(withMemorySettings(started('shard', { execArgv, env: again.env })), undefined);
});

test('what the administrator said stays, wherever it was said', () => {
  const again = withMemorySettings(
    started('shard', {
      execArgv: ['--heap_growing_percent=10', '--parallel-scavenge'],
      env: { NODE_OPTIONS: '--no-warnings --max-semi-space-size=4', MALLOC_ARENA_MAX: '1' },
    }),
  );
  assert.deepEqual(again?.args, [
    '/bin/node',
    '--heap_growing_percent=10',
    '--parallel-scavenge',
    '/main.ts',
    'shard',
    '--id=s',
  ]);
  assert.equal(again.env['MALLOC_ARENA_MAX'], '1');
});

test('other commands start as they are', () => {
  for (const command of ['coordinator', 'explain', '--help', '']) {
    assert.equal(withMemorySettings(started(command)), undefined, command);
  }
});

test('a real process: once, under the same pid, with the settings and its own arguments', () => {
  const output = execFileSync(process.execPath, [ENTRY, 'shard', '--flag'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  const [before, after, ...more] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Facts);
  assert.deepEqual(more, []);
  assert.deepEqual(before, { pid: after?.pid, command: ['shard', '--flag'], flags: [] });
  assert.deepEqual(after, {
    ...before,
    flags: ['--max-semi-space-size=16', '--heap-growing-percent=60', '--no-parallel-scavenge'],
    arenas: '4',
  });
});
