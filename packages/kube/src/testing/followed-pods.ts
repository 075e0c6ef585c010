// A reflector of Pods on the test API server, and the one law it is held to: its cache equals a fresh list.

import assert from 'node:assert/strict';
import { BigFleetError } from '@bigfleet/base';
import { KubeClient } from '../api/client.ts';
import { WriteLanes } from '../api/lanes.ts';
import { PODS } from '../api/resource.ts';
import { Reflector, type ReflectorFailure, type RelistReason } from '../reflector/reflector.ts';
import type { KubeTransport } from '../transport/transport.ts';
import { at, textAt } from './api-server/json.ts';
import type { ApiServerOptions } from './api-server/server.ts';
import { InMemoryTransport, type InMemoryTransportOptions } from './in-memory-transport.ts';
import { pod, PODS_PATH, type TestCluster, testCluster } from './test-cluster.ts';

export interface Stage extends TestCluster {
  readonly client: KubeClient;
  readonly transport: InMemoryTransport;
  readonly signal: AbortSignal;
  stop(): void;
}

export function stage(
  options: Partial<ApiServerOptions> = {},
  more: Partial<InMemoryTransportOptions> & {
    /** What the client uses in place of the transport. */
    readonly around?: (transport: InMemoryTransport) => KubeTransport;
  } = {},
  seed = '1',
): Stage {
  const cluster = testCluster({ ...options, seed });
  const { runtime } = cluster.time;
  const transport = new InMemoryTransport({ runtime, server: cluster.server, ...more });
  const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
  const client = new KubeClient({
    runtime,
    transport: more.around?.(transport) ?? transport,
    lanes,
    fieldManager: 'test',
  });
  const ender = new AbortController();
  return {
    ...cluster,
    client,
    transport,
    signal: ender.signal,
    stop: () => ender.abort(new BigFleetError('cancelled', 'the test is over')),
  };
}

export interface Followed {
  readonly reflector: Reflector<string>;
  readonly relists: RelistReason[];
  readonly failures: ReflectorFailure[];
  readonly differences: number[];
  /** Keys that a look-up did not show as the observer was told of them. */
  readonly astray: string[];
}

/** A reflector of Pods; a record is the value of the label `v`. */
export function follow({ time, client, signal }: Stage): Followed {
  const followed: Followed = {
    relists: [],
    failures: [],
    differences: [],
    astray: [],
    reflector: new Reflector<string>({
      runtime: time.runtime,
      client,
      resource: PODS,
      read: (object) => textAt(object, 'metadata', 'labels', 'v'),
      observer: {
        upserted: (key, record) => {
          if (followed.reflector.get(key) !== record) followed.astray.push(key);
        },
        removed: (key) => {
          if (followed.reflector.get(key) !== undefined) followed.astray.push(key);
        },
        relisted: (reason, count) => {
          followed.relists.push(reason);
          followed.differences.push(count);
        },
        failed: (failure) => followed.failures.push(failure),
      },
    }),
  };
  followed.reflector.run(signal).catch((error: unknown) => assert.fail(String(error)));
  return followed;
}

export function set({ ask, merge }: TestCluster, name: string, v: string): void {
  if (ask('GET', `${PODS_PATH}/${name}`).status === 404)
    ask('POST', PODS_PATH, pod(name, { labels: { v } }));
  else merge(`${PODS_PATH}/${name}`, { metadata: { labels: { v } } });
}

/** The cache equals what a fresh list says. */
export function checkEqual({ ask }: TestCluster, { reflector, astray }: Followed): void {
  assert.deepEqual(astray, []);
  const items = ask('GET', '/api/v1/pods').object['items'] as unknown[];
  assert.equal(reflector.size, items.length);
  for (const item of items) {
    const key = `default/${String(at(item, 'metadata', 'name'))}`;
    assert.equal(reflector.get(key), at(item, 'metadata', 'labels', 'v') ?? '', key);
  }
}
