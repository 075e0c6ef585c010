// Proves that the memory of written requests lasts until the cluster's cache shows them, and no longer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import type { RequestRef } from '../rollup/capacity-request.ts';
import { Acknowledger } from './acknowledger.ts';
import type { ClusterPort } from './cluster-port.ts';
import { createOperatorMetrics } from './metrics.ts';
import { defaultSessionSettings } from './settings.ts';
import { Supervisor } from './supervisor.ts';

function ref(uid: string): RequestRef {
  return { uid, name: uid, namespace: 'n', resourceVersion: '1' };
}

function open(writeMs: number) {
  const time = createVirtualRuntime({ seed: 'acknowledger', drain: drainMicrotasks });
  const { runtime } = time;
  const written: string[] = [];
  const acknowledger = new Acknowledger({
    runtime,
    cluster: {
      acknowledge: async ({ uid }: RequestRef) => {
        await new Promise<void>((resolve) => runtime.timers.after(writeMs, resolve));
        written.push(uid);
        return 'acknowledged';
      },
    } as Partial<ClusterPort> as ClusterPort,
    clusterId: 'c',
    settings: { ...defaultSessionSettings, acknowledgeConcurrency: 1 },
    metrics: createOperatorMetrics(createRegistry()),
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    supervisor: new Supervisor(),
    lifetime: new AbortController().signal,
  });
  return { time, acknowledger, written };
}

describe('Acknowledger', () => {
  it('writes once while the cache lags, and forgets when it has caught up', async () => {
    const { time, acknowledger, written } = open(10);
    for (let round = 0; round < 3; round++) {
      acknowledger.cacheShows([ref('a')]);
      acknowledger.acknowledge([ref('a')]);
      await time.runFor(100);
    }
    assert.deepEqual(written, ['a']);
    acknowledger.cacheShows([]);
    acknowledger.acknowledge([ref('a')]);
    await time.runFor(100);
    assert.deepEqual(written, ['a', 'a']);
  });

  it('queues a request once, and drops it when it is gone before its turn', async () => {
    const { time, acknowledger, written } = open(100);
    acknowledger.acknowledge([ref('a'), ref('b'), ref('c')]);
    acknowledger.acknowledge([ref('b'), ref('a')]);
    acknowledger.cacheShows([ref('a'), ref('c')]);
    await time.runFor(1_000);
    assert.deepEqual(written, ['a', 'c']);
  });

  it('starts nothing after its end', async () => {
    const { time, acknowledger, written } = open(100);
    acknowledger.acknowledge([ref('a'), ref('b')]);
    acknowledger.close();
    await time.runFor(1_000);
    assert.deepEqual(written, ['a']);
  });
});
