// Proves what SIGTERM does to a shard with open streams: probes say so, sessions end in good order,
// and the process is gone with code 0 well before a kubelet would kill it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTempDir, eventually, http, monotonicMs } from '../toolkit/index.ts';
import { startOperator, startShardProcess } from './shard-process.ts';

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
