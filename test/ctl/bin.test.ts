// Proves that what is in bin/ are commands: from any directory, through symbolic links,
// on the pinned Node, with the arguments, exit codes and signals of the program behind them; and that a
// checkout which is not installed says what to do.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir, HANG_MS, startProcess } from '../toolkit/index.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const NAMES = [
  'bigfleet',
  'bigfleetctl',
  'bigfleet-operator',
  'bigfleet-unschedulable-pod-controller',
] as const;
/** No node on it: the commands bring their own. */
const BARE = { PATH: '/usr/bin:/bin', HOME: '/nonexistent' };

function run(command: string, argv: readonly string[], cwd: string) {
  const options = { cwd, env: BARE, encoding: 'utf8', timeout: HANG_MS } as const;
  const { status, stdout, stderr } = spawnSync(command, argv, options);
  return { status, stdout, stderr };
}

for (const name of NAMES) {
  const bin = path.join(ROOT, 'bin', name);

  test(`${name} runs from any directory, also through links`, async () => {
    await using folder = createTempDir('bin');
    const toFile = path.join(folder.path, 'another-name');
    const toCheckout = path.join(folder.path, 'check out');
    symlinkSync(bin, toFile);
    symlinkSync(ROOT, toCheckout);
    const ways: readonly (readonly [command: string, cwd: string])[] = [
      [bin, folder.path],
      [`./bin/${name}`, ROOT],
      [toFile, '/'],
      [path.join(toCheckout, 'bin', name), folder.path],
    ];
    for (const [command, cwd] of ways) {
      const { status, stdout, stderr } = run(command, ['--help'], cwd);
      assert.deepEqual([status, stderr], [0, ''], `${command} in ${cwd}`);
      assert.match(stdout, new RegExp(`^Usage: ${name} [<[]`));
    }
  });

  test(`${name} passes arguments and the exit code on`, () => {
    const { status, stderr } = run(bin, ["it's two words"], '/');
    assert.equal(status, name === 'bigfleet' ? 2 : 1);
    assert.match(stderr, /un(?:known (?:subcommand|verb)|expected argument) "it's two words"/);
  });

  test(`${name} of a checkout that is not installed says what to do`, async () => {
    await using folder = createTempDir('bin');
    cpSync(path.join(ROOT, 'bin'), path.join(folder.path, 'bin'), { recursive: true });
    const { status, stdout, stderr } = run(path.join(folder.path, 'bin', name), ['--help'], '/');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, new RegExp(`^${name}: .* is not installed yet: run make install there`));
    assert.ok(stderr.includes(folder.path));
  });
}

test('a signal to the command is a signal to the process behind it', async () => {
  await using folder = createTempDir('bin');
  await using running = await startProcess({
    name: 'bigfleet coordinator',
    command: path.join(ROOT, 'bin/bigfleet'),
    args: [
      'coordinator',
      '--bootstrap',
      `--data-dir=${folder.path}`,
      '--listen=127.0.0.1:0',
      '--metrics-addr=0',
    ],
    ready: { kind: 'line', pattern: /msg="coordinator started"/ },
  });
  running.signal('SIGTERM');
  assert.deepEqual(await running.waitExit(), { kind: 'code', code: 0 });
  assert.match(running.output.text(), /signal received/);
});
