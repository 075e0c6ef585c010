// Proves that a Lease has one holder at any time, that it changes hands when the holder releases it, dies
// or cannot reach the API server, and never while the holder renews it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient } from '../api/client.ts';
import { WriteLanes } from '../api/lanes.ts';
import { Lease } from '../api/lease.ts';
import { InMemoryTransport } from './in-memory-transport.ts';
import { type TestCluster, testCluster } from './test-cluster.ts';

const DURATION_MS = 15_000;
const PATH = '/apis/coordination.k8s.io/v1/namespaces/default/leases/op';

class Candidate {
  readonly events: string[] = [];
  readonly failures: string[] = [];
  isHolding = false;
  readonly #all: readonly Candidate[];
  readonly #transport: InMemoryTransport;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor({ time, server }: TestCluster, identity: string, all: Candidate[]) {
    this.#all = all;
    const { runtime } = time;
    this.#transport = new InMemoryTransport({ runtime, server });
    const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
    const client = new KubeClient({
      runtime,
      transport: this.#transport,
      lanes,
      fieldManager: 'test',
    });
    all.push(this);
    this.#running = new Lease({
      runtime,
      client,
      namespace: 'default',
      name: 'op',
      identity,
      durationMs: DURATION_MS,
      hooks: {
        acquired: () => this.events.push('acquired'),
        waiting: (holder) => this.events.push(`waiting for ${holder}`),
        lost: () => this.events.push('lost'),
        failed: (problem) => this.failures.push(problem),
      },
    }).run(this.#stop.signal, (held) => this.#work(held));
  }

  #work(held: AbortSignal): Promise<void> {
    assert.equal(this.#all.filter(({ isHolding }) => isHolding).length, 0, 'one holder at a time');
    this.isHolding = true;
    return new Promise((resolve) => {
      held.addEventListener('abort', () => {
        this.isHolding = false;
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new BigFleetError('cancelled', 'it stops'));
    await this.#running;
  }

  /** Without a word: nothing of it reaches the server any more. */
  die(): void {
    this.#transport.close();
  }
}

function stage(): { cluster: TestCluster; add: (identity: string) => Candidate } {
  const cluster = testCluster();
  const all: Candidate[] = [];
  return { cluster, add: (identity) => new Candidate(cluster, identity, all) };
}

test('the first holds it for hours, the second waits; a release is taken over at once', async () => {
  const { cluster, add } = stage();
  const first = add('first');
  await cluster.time.runFor(3_000);
  const second = add('second');
  await cluster.time.runFor(4 * 3_600_000);
  assert.deepEqual(first.events, ['acquired']);
  assert.deepEqual(second.events, ['waiting for first']);
  const stopping = first.stop();
  await cluster.time.runFor(4_000);
  await stopping;
  assert.equal(second.isHolding, true);
  const { spec } = cluster.ask('GET', PATH).object as {
    spec: { holderIdentity: string; leaseTransitions: number };
  };
  assert.deepEqual([spec.holderIdentity, spec.leaseTransitions], ['second', 1]);
  const over = second.stop();
  await cluster.time.runFor(1_000);
  await over;
});

test('a holder that is cut off gives up before anybody takes over', async () => {
  const { cluster, add } = stage();
  const first = add('first');
  await cluster.time.runFor(3_000);
  const second = add('second');
  await cluster.time.runFor(3_000);
  first.die();
  await cluster.time.runFor(11_000);
  assert.deepEqual([first.isHolding, second.isHolding], [false, false]);
  assert.deepEqual(first.events, ['acquired', 'lost']);
  await cluster.time.runFor(10_000);
  assert.equal(second.isHolding, true);
  await Promise.all([first.stop(), second.stop(), cluster.time.runFor(5_000)]);
});

test('faults that pass cost nobody the Lease', async () => {
  const { cluster, add } = stage();
  const first = add('first');
  await cluster.time.runFor(3_000);
  const second = add('second');
  for (let round = 0; round < 200; round++) {
    cluster.server.faults.add(
      { share: 0.3, times: 2 },
      round % 2 === 0 ? { kind: 'reset-after' } : { kind: 'refuse', code: 503 },
    );
    await cluster.time.runFor(5_000);
    cluster.server.faults.clear();
  }
  assert.deepEqual(first.events, ['acquired']);
  assert.equal(second.isHolding, false);
  await Promise.all([first.stop(), second.stop(), cluster.time.runFor(5_000)]);
});

test('many that come at the same instant: one holds it', async () => {
  const { cluster, add } = stage();
  const all = Array.from({ length: 8 }, (_, index) => add(`candidate-${index}`));
  await cluster.time.runFor(60_000);
  assert.equal(all.filter(({ isHolding }) => isHolding).length, 1);
  assert.equal(all.flatMap(({ events }) => events).filter((each) => each === 'acquired').length, 1);
  await Promise.all([...all.map((each) => each.stop()), cluster.time.runFor(60_000)]);
});

test('a Lease that somebody deleted is made again by its holder', async () => {
  const { cluster, add } = stage();
  const first = add('first');
  await cluster.time.runFor(3_000);
  cluster.ask('DELETE', PATH);
  await cluster.time.runFor(5_000);
  assert.deepEqual(first.events, ['acquired']);
  assert.equal(cluster.ask('GET', PATH).status, 200, first.failures.join());
  await Promise.all([first.stop(), cluster.time.runFor(5_000)]);
});
