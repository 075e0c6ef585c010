// The product's own client with a kubeconfig, for stand-ins that work on a control plane of the tests.

import { realRuntime } from '@bigfleet/base/real';
import { clusterAccess, HttpsTransport, KubeClient, WriteLanes } from '@bigfleet/kube';

const runtime = realRuntime();
/** Stand-ins are many kubelets in one: nobody grants them a budget. */
const UNBOUNDED = 100_000;

export async function kubeClient(kubeconfig: string, fieldManager: string): Promise<KubeClient> {
  const access = await clusterAccess({ kubeconfig, env: {}, clock: runtime.clock });
  const transport = new HttpsTransport({ access, userAgent: fieldManager });
  const lanes = new WriteLanes({ runtime, qps: UNBOUNDED, burst: UNBOUNDED });
  return new KubeClient({ runtime, transport, lanes, fieldManager });
}
