// Proves over 200 restarts of a shard under 50 operator sessions, or as many as BIGFLEET_LONG_MS
// allows, that every session comes back and that each leaves one connection: the kernel counts one
// socket per operator on either side, however the shard ended and whenever the operators dialled.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { createGrpcChannel } from '@bigfleet/wire';
import {
  connectionsOf,
  createTempDir,
  eventually,
  leasePort,
  monotonicMs,
  type SocketCounts,
  sleep,
} from '../toolkit/index.ts';
import { type ShardProcess, startOperator, startShardProcess } from './shard-process.ts';

const RESTARTS = 200;
const OPERATORS = 50;
const DEFAULT_MS = 15 * 60_000;
/** Longer than the first back-off of a channel: a closed one that still tries has tried by then. */
const SETTLED_MS = 800;
/** From the end of a shard to the next start: operators are to be caught in any state. */
const MAX_DOWN_MS = 600;

const runtime = realRuntime();

function isOneEach({ client, server }: SocketCounts): boolean {
  return client === OPERATORS && server === OPERATORS;
}

test(`${RESTARTS} restarts under ${OPERATORS} sessions: one connection each`, async (t) => {
  const endMs = monotonicMs() + Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const seed = process.env['BIGFLEET_SEED'] ?? 'shard restarts';
  const random = createRandom(seed);
  await using folder = createTempDir('shard-restarts');
  await using lease = await leasePort();
  const target = `127.0.0.1:${lease.port}`;
  const argv = [
    `--listen=${target}`,
    `--data-dir=${path.join(folder.path, 'shard')}`,
    '--fake-provider',
  ];
  await using opened = new AsyncDisposableStack();
  // With the back-off of production, as an operator dials.
  const dial = (): ReturnType<typeof createGrpcChannel> =>
    createGrpcChannel({ runtime, target, keepalive: 'session' });
  const operators = Array.from({ length: OPERATORS }, (_, at) =>
    opened.use(startOperator(`cluster-${at}`, { dial })),
  );
  const connected = (): number => operators.filter(({ session }) => session.isConnected).length;
  let [restarts, killed] = [0, 0];
  try {
    for (; restarts === 0 || (restarts < RESTARTS && monotonicMs() < endMs); restarts += 1) {
      await using shard: ShardProcess = await startShardProcess(argv);
      await eventually(() => connected() === OPERATORS, {
        what: `life ${restarts}: ${OPERATORS} sessions`,
        details: () => `${connected()} are connected\n${shard.process.output.text()}`,
      });
      await sleep(SETTLED_MS);
      // A session that starves on a busy machine is replaced; a connection too many stays.
      await eventually(() => isOneEach(connectionsOf(lease.port)), {
        what: `life ${restarts}, seed ${seed}: one connection per session`,
        details: () => JSON.stringify(connectionsOf(lease.port)),
      });
      if (restarts % 2 === 0) {
        await shard.process.kill();
        killed += 1;
      } else await shard.process.stop();
      await sleep(random.float() * MAX_DOWN_MS);
    }
  } finally {
    t.diagnostic(`${restarts} restarts, ${killed} of them by SIGKILL, seed ${seed}`);
  }
  await opened.disposeAsync();
  await sleep(SETTLED_MS);
  assert.deepEqual(connectionsOf(lease.port), { client: 0, server: 0 });
});
