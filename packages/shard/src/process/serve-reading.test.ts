// Proves that a whole shard, started as every world starts it, serves the read services as an
// extension: sessions, provider health, drains and names come from its own parts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { createClient, ShardQuery, ShardRead, TokenSource } from '@bigfleet/wire';
import { createMemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { noAuditLog } from '../audit/audit-log.ts';
import { fourCores } from '../core/testing/stage.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { replayDirectory } from '../offline/replay-directory.ts';
import { LIBRARY_SETTINGS } from './shard-options.ts';
import { startShard } from './start-shard.ts';
import { MemorySegments } from '../records/testing/memory-segments.ts';
import { demandOf } from './testing/shard-stage.ts';
import { ProviderSet } from '../provider/provider-set.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import { FakeFile } from '../rails/testing/fake-file.ts';
import { TestOperator } from '../session/testing/test-operator.ts';
import { FakeProvider, InProcessProvider } from '../testing/index.ts';
import { serveReading } from './serve-reading.ts';

const ADDRESS = 'shard:7780';

test('a started shard can be read, and its records replay', async () => {
  const time = createVirtualRuntime({ seed: 'serve', drain: drainMicrotasks });
  const { runtime } = time;
  const network = createMemoryNetwork({
    runtime,
    faults: { profile: perfectLink, events: [] },
  });
  const fake = new FakeProvider({ runtime, latencyMs: 500 });
  fake.addIdle(fourCores('host'));
  const tokens = new TokenSource('shard-0', 3n);
  const provider = new InProcessProvider({ runtime, fake, tokens });
  const segments = new MemorySegments();
  const starting = startShard({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    registry: createRegistry(),
    shardId: 'shard-0',
    epoch: 3n,
    host: createInlineHost(runtime, { hasTrace: true }),
    providers: new ProviderSet([new ProviderSource({ name: 'alpha', provider })]),
    storage: { rails: new FakeFile(), records: segments, audit: noAuditLog },
    transport: {
      mode: 'plaintext',
      listen: async (router) => {
        const server = network.listen(ADDRESS, router);
        return { address: ADDRESS, stop: () => server.stop(1_000) };
      },
    },
    settings: {
      ...LIBRARY_SETTINGS,
      recordsMaxBytes: 1 << 20,
      hasLocalBootstrap: true,
    },
    extend: serveReading({
      version: '9.9.9',
      providerFacts: () => ({ address: 'memory', source: 'flag', shared: false }),
    }),
  });
  await time.runFor(0);
  const shard = await starting;
  const operator = new TestOperator(network.connect({ from: 'blue', to: ADDRESS })).hello('blue', [
    'node-identity',
  ]);
  await time.runFor(25);
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await time.runFor(30_000);
  const channel = network.connect({ from: 'reader', to: ADDRESS });
  const query = createClient(ShardQuery, channel);
  const answered = async <T>(call: Promise<T>): Promise<T> => {
    await time.runFor(1_000);
    return call;
  };
  const first = async <T>(stream: AsyncIterator<T>): Promise<T> => {
    const step = await answered(stream.next());
    assert.ok(step.done !== true);
    await answered(Promise.resolve(stream.return?.()));
    return step.value;
  };
  const status = await answered(query.getShardStatus({}));
  assert.equal(status.version, '9.9.9');
  assert.equal(status.ready, true);
  assert.equal(status.sessions, 1);
  assert.equal(status.actuation?.paused, false);
  const [alpha] = status.providers;
  assert.deepEqual(
    [alpha?.name, alpha?.address, alpha?.totalMachines, alpha?.healthy, alpha?.source],
    ['alpha', 'memory', 1, true, 'flag'],
  );
  assert.ok((alpha?.lastListUnixNanos ?? 0n) > 0n);
  const session = await first(query.listSessions({}));
  assert.deepEqual([session.clusterId, session.needRows, session.machines], ['blue', 1, 1]);
  const batch = await first(query.listMachines({}));
  assert.equal(batch.machines[0]?.clusterId, 'blue');
  const brakes = await first(query.listBrakes({}));
  assert.equal(brakes.enabled, false, 'the rail is off in the library');
  const hello = await first(query.watch({ machines: true }));
  assert.equal(hello.frame.case, 'hello');
  const header = await first(createClient(ShardRead, channel).inspectNeeds({}));
  assert.ok(header.frame.case === 'header' && header.frame.value.totalNeeds === 1);
  const stopped = shard.stop();
  await time.runFor(30_000);
  await stopped;
  fake.close();
  network.close();
  const replayed = await replayDirectory(segments);
  assert.equal(replayed.outcome, 'identical');
  assert.ok(replayed.matchedCount > 2 && replayed.matchedCount === replayed.recordCount);
});
