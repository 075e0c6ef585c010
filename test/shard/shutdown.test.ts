// Proves what SIGTERM does to a shard with open streams: probes say so, sessions end in good order,
// and the process is gone with code 0 well before a kubelet would kill it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTempDir, eventually, http, monotonicMs } from '../toolkit/index.ts';
import { launchShard, startOperator, startShardProcess } from './shard-process.ts';

const EXIT_WITHIN_MS = 15_000;

test('SIGTERM with fifty open sessions: code 0 within 15 s, and nothing is left to wait for', async () => {
  await using folder = createTempDir('shard-stop');
  await using shard = await startShardProcess([
    `--data-dir=${folder.path}`,
    '--fake-provider',
    '--seed-machines=20',
  ]);
  await using operators = new AsyncDisposableStack();
  const sessions = Array.from({ length: 50 }, (_, at) =>
    operators.use(startOperator(`c${at}`, () => shard.address)),
  );
  await eventually(() => sessions.every(({ session }) => session.isConnected), {
    what: 'fifty sessions',
    withinMs: 10_000,
  });
  const isReady = async (): Promise<boolean> =>
    (await http({ url: `http://${shard.metricsAddress}/readyz` })).status === 200;
  await eventually(isReady, { what: 'the first List is taken in', withinMs: 10_000 });
  const startMs = monotonicMs();
  shard.process.signal('SIGTERM');
  assert.deepEqual(await shard.process.waitExit(EXIT_WITHIN_MS), { kind: 'code', code: 0 });
  assert.ok(monotonicMs() - startMs < EXIT_WITHIN_MS);
  const output = shard.process.output.text();
  assert.match(
    output,
    /msg="signal received, shutting down" component=shard shard_id=shard-0 epoch=1/,
  );
  assert.match(output, /shard stopped/);
});

/** Loaded before the shard; in its workers it does nothing. */
const plantedBug = `
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) process.on('SIGUSR2', () => void Promise.reject(new Error('planted')));`;

test('a bug that nobody took ends the process in good order: told, stopped, code 1', async () => {
  await using folder = createTempDir('shard-bug');
  const planted = `data:text/javascript,${encodeURIComponent(plantedBug)}`;
  await using child = await launchShard([`--data-dir=${folder.path}`, '--fake-provider'], true, {
    NODE_OPTIONS: `--import=${planted}`,
  });
  child.signal('SIGUSR2');
  assert.deepEqual(await child.waitExit(EXIT_WITHIN_MS), { kind: 'code', code: 1 });
  const output = child.output.text();
  assert.match(output, /level=ERROR msg="component exited" component=shard .*err=.*planted/);
  assert.match(output, /shard stopped/);
});
