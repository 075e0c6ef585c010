// SIGTERM to a shard with fifty open sessions: what it says, and how long it took to end.

import assert from 'node:assert/strict';
import { createTempDir, eventually, http, monotonicMs } from '../toolkit/index.ts';
import { startOperator, startShardProcess } from './shard-process.ts';

const SESSIONS = 50;

/** Milliseconds from the signal to the end. */
export async function stopWithSessions(): Promise<number> {
  await using folder = createTempDir('shard-stop');
  await using shard = await startShardProcess([
    `--data-dir=${folder.path}`,
    '--fake-provider',
    '--seed-machines=20',
  ]);
  await using operators = new AsyncDisposableStack();
  const sessions = Array.from({ length: SESSIONS }, (_, at) =>
    operators.use(startOperator(`c${at}`, () => shard.address)),
  );
  await eventually(() => sessions.every(({ session }) => session.isConnected), {
    what: 'every session',
  });
  const isReady = async (): Promise<boolean> =>
    (await http({ url: `http://${shard.metricsAddress}/readyz` })).status === 200;
  await eventually(isReady, { what: 'the first List is taken in' });
  const startMs = monotonicMs();
  shard.process.signal('SIGTERM');
  assert.deepEqual(await shard.process.waitExit(), { kind: 'code', code: 0 });
  const tookMs = monotonicMs() - startMs;
  const output = shard.process.output.text();
  assert.match(
    output,
    /msg="signal received, shutting down" component=shard shard_id=shard-0 epoch=1/,
  );
  assert.match(output, /shard stopped/);
  return tookMs;
}
