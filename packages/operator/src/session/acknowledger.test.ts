// Proves which confirmed requests are written and when: each once, those whose writes fail after all
// others, and none that the cluster's cache no longer shows as Pending.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import type { RequestRef } from '../rollup/capacity-request.ts';
import { DemandIndex } from '../rollup/demand-index.ts';
import { request } from '../rollup/testing/requests.ts';
import { Acknowledger } from './acknowledger.ts';
import type { ClusterPort } from './cluster-port.ts';
import { createOperatorMetrics } from './metrics.ts';
import { defaultSessionSettings } from './settings.ts';
import { Supervisor } from './supervisor.ts';

class TestBed {
  readonly time = createVirtualRuntime({ seed: 'acknowledger', drain: drainMicrotasks });
  readonly index = new DemandIndex();
  readonly written: string[] = [];
  readonly failing = new Set<string>();
  readonly acknowledger: Acknowledger;

  constructor(writeMs: number) {
    const { runtime } = this.time;
    this.acknowledger = new Acknowledger({
      runtime,
      cluster: {
        demand: () => this.index,
        acknowledge: async ({ uid }: RequestRef) => {
          await new Promise<void>((resolve) => runtime.timers.after(writeMs, resolve));
          this.written.push(uid);
          if (this.failing.has(uid)) throw new BigFleetError('kube_refused', 'a webhook says no');
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
  }

  pending(...uids: readonly string[]): void {
    for (const uid of uids) this.index.set(request({ uid, isAcknowledged: false }));
  }

  /** A roll-up is built, and the shard confirms it. */
  confirm(): void {
    this.acknowledger.cacheMoved();
    this.acknowledger.acknowledge(this.index.rollup().unacknowledged);
  }
}

describe('Acknowledger', () => {
  it('writes once while the cache lags, and forgets when it has caught up', async () => {
    const bed = new TestBed(10);
    bed.pending('a');
    for (let round = 0; round < 3; round++) {
      bed.confirm();
      await bed.time.runFor(100);
    }
    assert.deepEqual(bed.written, ['a']);
    bed.index.set(request({ uid: 'a', isAcknowledged: true }));
    bed.confirm();
    bed.pending('a');
    bed.confirm();
    await bed.time.runFor(100);
    assert.deepEqual(bed.written, ['a', 'a']);
  });

  it('writes a request once however often it is confirmed, and not when it is gone before its turn', async () => {
    const bed = new TestBed(100);
    bed.pending('a', 'b', 'c', 'd');
    bed.confirm();
    bed.confirm();
    bed.index.delete('b');
    bed.index.set(request({ uid: 'c', isAcknowledged: true }));
    await bed.time.runFor(1_000);
    assert.deepEqual(bed.written, ['a', 'd']);
  });

  it('tries failed writes again after all others', async () => {
    const bed = new TestBed(100);
    bed.failing.add('a').add('b');
    bed.pending('a', 'b', 'c', 'd');
    bed.confirm();
    await bed.time.runFor(250);
    bed.failing.clear();
    bed.confirm();
    await bed.time.runFor(1_000);
    assert.deepEqual(bed.written, ['a', 'b', 'c', 'd', 'a', 'b']);
  });

  it('takes up a new request after those confirmed before it', async () => {
    const bed = new TestBed(100);
    bed.pending('a', 'b');
    bed.confirm();
    bed.pending('c');
    bed.confirm();
    await bed.time.runFor(1_000);
    assert.deepEqual(bed.written, ['a', 'b', 'c']);
  });

  it('looks at no more requests of a confirmation than it writes', async () => {
    const bed = new TestBed(100);
    bed.pending('a', 'b', 'c', 'd');
    const seen = new Set<string>();
    const watched = bed.index.rollup().unacknowledged.map(
      (one) =>
        new Proxy(one, {
          get: (target, name) => {
            seen.add(target.uid);
            return Reflect.get(target, name) as unknown;
          },
        }),
    );
    bed.acknowledger.acknowledge(watched);
    bed.acknowledger.cacheMoved();
    bed.acknowledger.acknowledge(watched);
    assert.deepEqual([...seen], ['a']);
    await bed.time.runFor(1_000);
    assert.deepEqual([...seen], ['a', 'b', 'c', 'd']);
  });

  it('starts nothing after its end', async () => {
    const bed = new TestBed(100);
    bed.pending('a', 'b');
    bed.confirm();
    bed.acknowledger.close();
    await bed.time.runFor(1_000);
    assert.deepEqual(bed.written, ['a']);
  });
});
