// Proves bigfleetctl as a process: what is printed where, its exit code, Ctrl-C in a watch, and its
// place in a pipe.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startFakeCoordinator } from './ctl/testing/fake-coordinator.ts';

const MAIN = fileURLToPath(new URL('./ctl-main.ts', import.meta.url));
const ENV = { ...process.env, BIGFLEETCTL_CONFIG: '/nowhere/config.yaml' };

interface Ended {
  readonly code: number | null;
  readonly output: string;
  readonly error: string;
}

async function run(argv: readonly string[], onOutput?: (kill: () => void) => void): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: ENV,
  });
  const printed = { output: '', error: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.output += text;
    onOutput?.(() => child.kill('SIGINT'));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.error += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}

test('answers to stdout with 0, errors to stderr with 1', async () => {
  await using fake = await startFakeCoordinator();
  const listed = await run([`--coordinator=${fake.address}`, 'list-quotas']);
  assert.deepEqual([listed.code, listed.error], [0, '']);
  assert.match(listed.output, /^PROVIDER {2}REGION/);
  const wrong = await run(['--coordinator=127.0.0.1:1', 'list-quotas']);
  assert.deepEqual([wrong.code, wrong.output], [1, '']);
  assert.match(wrong.error, /coordinator_unreachable/);
});

test('Ctrl-C ends a watch with 0', async () => {
  await using fake = await startFakeCoordinator();
  const argv = [`--coordinator=${fake.address}`, 'list-quotas', '--watch', '--interval=50ms'];
  const { code, output } = await run(argv, (kill) => kill());
  assert.equal(code, 0);
  assert.match(output, /^# \d{4}-.*\nPROVIDER/);
});

test('a reader that begins late gets all of a long answer', async () => {
  const shards = Array.from({ length: 20_000 }, (_, at) => ({
    shardId: `shard-${at}`,
    address: `shard-${at}.shards:7780`,
  }));
  await using fake = await startFakeCoordinator({ shards });
  const argv = [MAIN, `--coordinator=${fake.address}`, 'list-shards', '-o', 'json'];
  const child = spawn(process.execPath, argv, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  const error = text(child.stderr);
  // Once there is something to read, the pipe is full before this process reads it.
  await once(child.stdout, 'readable');
  const rows = JSON.parse(await text(child.stdout)) as unknown[];
  assert.deepEqual([rows.length, await error], [shards.length, '']);
});

test('a reader that has enough ends it without a complaint', async () => {
  await using fake = await startFakeCoordinator();
  const argv = [MAIN, `--coordinator=${fake.address}`, 'list-quotas', '--watch', '--interval=50ms'];
  const child = spawn(process.execPath, argv, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  const error = text(child.stderr);
  await once(child.stdout, 'readable');
  child.stdout.destroy();
  const [code] = (await once(child, 'close')) as [number | null];
  assert.deepEqual([code, await error], [141, '']);
});
