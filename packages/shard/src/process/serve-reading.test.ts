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
import { KEPT_CYCLES, PHASES } from '../metrics/phase-timings.ts';
import { metricValue } from '../session/testing/metric-reader.ts';
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
  const registry = createRegistry();
  const starting = startShard({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    registry,
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
  const phantomMachineIds = ['elsewhere', 'host'];
  operator.send({ case: 'nodeIdentity', value: { phantomMachineIds } });
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
  /** Of the histogram that the phase stands in. */
  const sampleCount = (phase: string): Promise<number> =>
    phase === 'cycle'
      ? metricValue(registry, 'bigfleet_shard_cycle_duration_seconds_count')
      : metricValue(
          registry,
          'bigfleet_shard_cycle_phase_duration_seconds_count',
          `phase="${phase}"`,
        );
  const countedBefore = new Map<string, number>();
  for (const phase of [...PHASES, 'cycle']) countedBefore.set(phase, await sampleCount(phase));
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
  assert.deepEqual(
    status.phases.map(({ phase }) => phase),
    ['reconcile', 'snapread', 'phase1', 'phase2', 'phase3', 'execute', 'emit', 'cycle'],
  );
  for (const { phase, cycles, p50Seconds, p99Seconds, maxSeconds } of status.phases) {
    const least = countedBefore.get(phase) ?? 0;
    const most = await sampleCount(phase);
    assert.ok(least > 2 && most < KEPT_CYCLES, `${phase} ${least} ${most}`);
    assert.ok(least <= cycles && cycles <= most, `${phase} ${cycles}`);
    assert.ok(p50Seconds <= p99Seconds && p99Seconds <= maxSeconds, phase);
  }
  const session = await first(query.listSessions({}));
  assert.deepEqual([session.clusterId, session.needRows, session.machines], ['blue', 1, 1]);
  assert.deepEqual(session.phantomMachineIds, ['host']);
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
