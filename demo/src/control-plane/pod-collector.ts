// The controller manager's Pod collector: Pods whose Node is gone are removed, or their Deployment would
// count them for ever. A Node is looked for once more before that: watches of Pods and Nodes are not in
// step.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import { type KubeClient, NODES, type Pod, PODS, Reflector } from '@bigfleet/kube';

export interface PodCollectorOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: string) => void;
}

interface BoundPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly nodeName: string;
}

const EVERY_MS = 1_000;

/** Until the signal. */
export async function collectPods(options: PodCollectorOptions): Promise<void> {
  const { runtime, client, signal, onProblem } = options;
  const observer = {
    failed: ({ problem }: { readonly problem: string }) => onProblem(`pod collector: ${problem}`),
  };
  const nodes = new Reflector<true>({
    runtime,
    client,
    resource: NODES,
    read: () => true,
    observer,
  });
  const pods = new Reflector<BoundPod>({
    runtime,
    client,
    resource: PODS,
    read: (object) => boundPod(object as unknown as Pod),
    observer,
  });
  const look = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(runtime, EVERY_MS, signal).catch(() => undefined);
      if (!nodes.isSynced || !pods.isSynced) continue;
      const orphans = [...pods.records()].filter(
        ({ nodeName }) => nodes.get(nodeName) === undefined,
      );
      for (const pod of orphans) await collect(options, pod);
    }
  };
  await Promise.all([nodes.run(signal), pods.run(signal), look()]);
}

async function collect(
  { client, signal, onProblem }: PodCollectorOptions,
  pod: BoundPod,
): Promise<void> {
  try {
    const node = await client.get(NODES, { namespace: '', name: pod.nodeName }, signal);
    if (node.kind === 'ok' || node.status !== 404) return;
    const { uid } = pod;
    await client.delete(PODS, pod, { lane: 'node', signal, uid, gracePeriodSeconds: 0 });
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof BigFleetError)) throw error;
    onProblem(`pod collector: ${error.message}`);
  }
}

function boundPod({ metadata, spec }: Pod): BoundPod | undefined {
  const { name, namespace = '', uid } = metadata;
  const { nodeName = '' } = spec;
  return nodeName === '' ? undefined : { namespace, name, uid, nodeName };
}
