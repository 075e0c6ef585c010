// The common client with its own informer, doing the same: the reference. The one file that knows it; it
// imports nothing of ours that would count as its memory.

import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  type V1Pod,
} from '@kubernetes/client-node';
import type { Answers } from '../../harness/answer-questions.ts';
import { acknowledged, ACKNOWLEDGE_CONCURRENCY, inParallel } from '../acknowledgements.ts';
import { memoryNow, timedSync } from '../client-measures.ts';
import type { ClientOrder } from '../client-order.ts';

const OURS = { group: 'bigfleet.lucy.sh', version: 'v1alpha1', plural: 'capacityrequests' };

export function referenceClient({ url, caPem }: ClientOrder): Promise<Answers> {
  const config = new KubeConfig();
  const caData = Buffer.from(caPem).toString('base64');
  const cluster = { name: 'bench', server: url, caData, skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'bench' });
  const core = config.makeApiClient(CoreV1Api);
  const custom = config.makeApiClient(CustomObjectsApi);
  const informer = makeInformer<V1Pod>(config, '/api/v1/pods', () =>
    core.listPodForAllNamespaces(),
  );
  informer.on('error', (error: unknown) => {
    // It reports its own stop as an error.
    if (!(error instanceof Error) || error.name !== 'AbortError') console.error('informer:', error);
  });
  // `list()` of a namespace copies; of all namespaces it throws at this size.
  const size = (): number =>
    ['default', 'kube-system'].reduce((sum, name) => sum + informer.list(name).length, 0);
  return Promise.resolve({
    sync: () => timedSync(() => informer.start(), size),
    resync: () =>
      timedSync(async () => {
        await informer.stop();
        // What it does itself after a 410.
        Object.assign(informer, { resourceVersion: '' });
        await informer.start();
      }, size),
    memory: () => memoryNow(),
    acknowledge: (count) =>
      inParallel(count, ACKNOWLEDGE_CONCURRENCY, async (name) => {
        await custom.patchNamespacedCustomObjectStatus(
          { ...OURS, namespace: 'default', name, body: acknowledged() },
          setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
        );
      }),
    control: async () => {
      informer.on('add', (pod) => {
        const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
        custom
          .createNamespacedCustomObject({ ...OURS, namespace, body: requestOf(name, uid) })
          .catch((error: unknown) => console.error(error));
      });
      await informer.start();
      return true;
    },
  });
}

/** Less than ours: nothing is derived from the Pod and no phase is stamped. */
function requestOf(name: string, uid: string): object {
  return {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: {
      name: `cr-pod-${name}`.slice(0, 63),
      labels: { 'bigfleet.lucy.sh/owned-by-pod': uid },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: { priority: 0, resources: { cpu: '1' } },
  };
}
