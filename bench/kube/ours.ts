// Our client in a process of its own: a reflector of Pods with the record that the pod controller keeps,
// acknowledgements as the operator writes them, and the pod controller itself.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  type ApiObject,
  CAPACITY_REQUESTS,
  HttpsTransport,
  KubeClient,
  type Pod,
  PODS,
  Reflector,
  WriteLanes,
} from '@bigfleet/kube';
import type { Answers } from '../harness/answer-questions.ts';
import { memoryNow, timedSync } from './client-measures.ts';
import type { ClientOrder } from './client-order.ts';
import { acknowledged, ACKNOWLEDGE_CONCURRENCY, inParallel } from './acknowledgements.ts';

interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly phase: string;
}

/** No limit of its own: the client is measured, not its budget. */
const UNLIMITED = 1e9;

export function ourClient({ url, caPem }: ClientOrder): Promise<Answers> {
  const runtime = realRuntime();
  const { signal } = new AbortController();
  const transport = new HttpsTransport({
    userAgent: 'bench',
    access: {
      server: new URL(url),
      tls: { ca: caPem, rejectUnauthorized: true },
      credentials: { read: async () => ({}), forget: () => {} },
      namespace: 'default',
    },
  });
  const lanes = new WriteLanes({ runtime, qps: UNLIMITED, burst: UNLIMITED });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'bench' });
  let listed = (): void => {};
  const pods = new Reflector<PodRecord>({
    runtime,
    client,
    resource: PODS,
    read: readPod,
    observer: {
      relisted: () => listed(),
      failed: ({ code, problem }) => console.error(`reflector: ${code} ${problem}`),
    },
  });
  const nextList = (): Promise<void> =>
    new Promise((resolve) => {
      listed = resolve;
    });
  return Promise.resolve({
    sync: () =>
      timedSync(
        () => {
          const done = nextList();
          pods.run(signal).catch(fatal);
          return done;
        },
        () => pods.size,
      ),
    resync: () =>
      timedSync(
        () => {
          const done = nextList();
          pods.relist('periodic');
          return done;
        },
        () => pods.size,
      ),
    memory: () => memoryNow(),
    acknowledge: (count) =>
      inParallel(count, ACKNOWLEDGE_CONCURRENCY, async (name) => {
        const answer = await client.mergePatch(
          CAPACITY_REQUESTS,
          { namespace: 'default', name },
          { lane: 'acknowledge', signal, subresource: 'status', patch: acknowledged() },
        );
        if (answer.kind === 'refused') throw new BigFleetError('kube_refused', answer.message);
      }),
    control: async () => {
      // Loaded here: the reflector's memory is measured without it.
      const { PodController } = await import('@bigfleet/pod-controller');
      const controller = new PodController({
        runtime,
        client,
        rules: { classes: new Map(), daemonSetPods: 'count', excludedNamespaces: new Set() },
        hooks: {
          reconciled: () => {},
          performed: () => {},
          created: () => {},
          pendingFailed: (request, problem) => console.error(request, problem),
          failed: (pod, problem) => console.error(pod, problem),
          reflectorFailed: (resource, { problem }) => console.error(resource, problem),
        },
      });
      controller.run(signal).catch(fatal);
      while (!controller.isSynced || controller.waitingCount > 0) await runtime.timers.turn();
      return true;
    },
  });
}

function readPod(object: ApiObject): PodRecord {
  const { metadata, spec, status } = object as unknown as Pod;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    nodeName: spec.nodeName ?? '',
    phase: status?.phase ?? '',
  };
}

function fatal(bug: unknown): void {
  console.error(bug);
  process.exit(1);
}
