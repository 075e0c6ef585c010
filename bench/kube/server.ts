// The API server of the kube benches, in a process of its own, so that neither its memory nor its work is
// counted as the client's: the test API server over HTTPS with objects drawn from a seed.

import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { LABELS } from '@bigfleet/kube';
import { ApiServer, createDefinitions, listen, REQUESTS_PATH } from '@bigfleet/kube/testing';
import type { Answers } from '../harness/answer-questions.ts';
import { drawPod, drawSpec, requestName } from './objects.ts';

export interface ServerOrder {
  readonly role: 'server';
  readonly seed: number;
  readonly pods: number;
  readonly requests: number;
  readonly tls: { readonly certPem: string; readonly keyPem: string; readonly caPem: string };
}

const PODS_PER_SECOND = 200;
const STEP_MS = 10;
const SEEN_WITHIN_MS = 60_000;
const KEY_COUNT = 300;

export async function serveCluster({ seed, pods, requests, tls }: ServerOrder): Promise<Answers> {
  const server = new ApiServer({ runtime: realRuntime(), controllers: { garbage: false } });
  const ask = (method: string, path: string, body?: unknown, contentType?: string) => {
    const answer = server.answer({ method, path, body: JSON.stringify(body), contentType });
    if (answer.kind !== 'answer') throw new Error(`${method} ${path} is no plain request`);
    return { status: answer.status, object: JSON.parse(answer.text) as Record<string, unknown> };
  };
  createDefinitions({ ask });
  const random = createRandom(BigInt(seed)).stream('cluster');
  const type = (group: string, version: string, plural: string) => {
    const found = server.types.find(group, version, plural);
    if (found === undefined) throw new Error(`no ${plural}`);
    return found;
  };
  const podType = type('', 'v1', 'pods');
  const requestType = type('bigfleet.lucy.sh', 'v1alpha1', 'capacityrequests');
  let podCount = 0;
  const createPod = (from: Random): string => {
    const { namespace, object } = drawPod(from, podCount++);
    const created = server.objects.create(podType, namespace, object);
    return (created['metadata'] as { uid: string }).uid;
  };
  for (let i = 0; i < pods; i++) createPod(random);
  for (let i = 0; i < requests; i++) {
    server.objects.create(requestType, 'default', {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: requestName(i) },
      spec: drawSpec(random, KEY_COUNT),
    });
  }
  const listening = await listen({ server, tls });
  return {
    url: () => listening.url,
    podCount: () => [...server.store.values('/pods')].length,
    requestCount: () => [...server.store.values(REQUESTS)].length,
    podListBytes: () => {
      const answer = server.answer({ method: 'GET', path: '/api/v1/pods' });
      return answer.kind === 'answer' ? Buffer.byteLength(answer.text) : 0;
    },
    acknowledgedCount: () =>
      [...server.store.values(REQUESTS)].filter(
        ({ object }) => (object['status'] as { phase?: string })?.phase === 'Acknowledged',
      ).length,
    /** Milliseconds from each Pod's creation to its request's, for that many Pods at a steady rate. */
    podToRequest: (count) => podToRequest(server, { count, create: () => createPod(random) }),
  };
}

const REQUESTS = 'bigfleet.lucy.sh/capacityrequests';

/** One clock, the server's: Pods are created here, and their requests arrive here. */
async function podToRequest(
  server: ApiServer,
  { count, create }: { readonly count: number; readonly create: () => string },
): Promise<readonly number[]> {
  const createdAtMs = new Map<string, number>();
  const latenciesMs: number[] = [];
  const path = REQUESTS_PATH.replace('/namespaces/default', '');
  const opened = server.answer({
    method: 'GET',
    path: `${path}?watch=1&resourceVersion=${server.store.revision}`,
  });
  if (opened.kind !== 'watch') throw new Error('no watch of requests');
  const following = follow(opened.watch, (podUid) => {
    const at = createdAtMs.get(podUid);
    if (at !== undefined) latenciesMs.push(performance.now() - at);
    createdAtMs.delete(podUid);
  });
  const startMs = performance.now();
  for (let made = 0; made < count; await sleep(STEP_MS)) {
    const due = Math.min(count, ((performance.now() - startMs) * PODS_PER_SECOND) / 1000);
    for (; made < due; made++) {
      const atMs = performance.now();
      createdAtMs.set(create(), atMs);
    }
  }
  const giveUpMs = performance.now() + SEEN_WITHIN_MS;
  while (createdAtMs.size > 0 && performance.now() < giveUpMs) await sleep(STEP_MS);
  opened.watch.end();
  await following;
  return latenciesMs;
}

interface Readable {
  read(): Promise<{ readonly kind: string; readonly text?: string }>;
}

async function follow(watch: Readable, onRequest: (podUid: string) => void): Promise<void> {
  for (;;) {
    const read = await watch.read();
    if (read.kind !== 'text') return;
    for (const line of (read.text ?? '').trim().split('\n')) {
      const event = JSON.parse(line) as {
        type: string;
        object: { metadata: { labels?: Record<string, string> } };
      };
      const podUid = event.object.metadata.labels?.[LABELS.ownedByPod];
      if (event.type === 'ADDED' && podUid !== undefined) onRequest(podUid);
    }
  }
}
