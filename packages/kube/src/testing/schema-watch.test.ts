// Proves that a changed definition is noticed, also long after its last version was compacted, and that
// following it asks the API server no more than a watch does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient } from '../api/client.ts';
import { WriteLanes } from '../api/lanes.ts';
import { CAPACITY_REQUESTS } from '../api/resource.ts';
import { schemaWatch } from '../reflector/schema-watch.ts';
import type { KubeHttpRequest } from '../transport/transport.ts';
import { InMemoryTransport } from './in-memory-transport.ts';
import { createDefinitions, pod, PODS_PATH, testCluster } from './test-cluster.ts';

const PATH =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';

class CountingTransport extends InMemoryTransport {
  count = 0;

  override send(request: KubeHttpRequest): ReturnType<InMemoryTransport['send']> {
    this.count++;
    return super.send(request);
  }
}

test('a definition is followed past compactions, without a storm of requests', async () => {
  const cluster = testCluster();
  createDefinitions(cluster);
  const { runtime } = cluster.time;
  const transport = new CountingTransport({ runtime, server: cluster.server });
  const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'test' });
  let changeCount = 0;
  const watch = schemaWatch({
    runtime,
    client,
    resource: CAPACITY_REQUESTS,
    changed: () => changeCount++,
    failed: () => undefined,
  });
  const ender = new AbortController();
  const running = watch.run(ender.signal);
  await cluster.time.runFor(1_000);
  // Everything that the definition's own version stood for is forgotten.
  for (let i = 0; i < 20; i++) cluster.ask('POST', PODS_PATH, pod(`p${i}`));
  cluster.server.compact();
  await cluster.time.runFor(3_600_000);
  assert.equal(changeCount, 0);
  assert.ok(transport.count < 60, `${transport.count} requests in an hour`);
  cluster.merge(PATH, { spec: { names: { categories: ['all'] } } });
  await cluster.time.runFor(1_000);
  assert.equal(changeCount, 1);
  ender.abort(new BigFleetError('cancelled', 'the test is over'));
  await running;
});
