// A client of one cluster, by a context of a kubeconfig file: over the network, as kubectl comes.

import type { Runtime } from '@bigfleet/base';
import { clusterAccess, HttpsTransport, KubeClient, WriteLanes } from '@bigfleet/kube';

export interface ConnectOptions {
  readonly runtime: Runtime;
  readonly kubeconfig: string;
  /** The file's current one when absent. */
  readonly context?: string | undefined;
  /** Who writes: `fieldManager`, and the program in the server's audit log. */
  readonly name: string;
}

/** Above what a person's hands or the demo's clock ever ask for; a runaway loop still meets an end. */
const QPS = 200;
const BURST = 400;

/** Throws when the file or the context cannot be read; close its transport when done. */
export async function connect({
  runtime,
  kubeconfig,
  context,
  name,
}: ConnectOptions): Promise<KubeClient> {
  // Without the environment: the demo speaks to the cluster that it was given, and to no other.
  const access = await clusterAccess({ kubeconfig, context, env: {}, clock: runtime.clock });
  return new KubeClient({
    runtime,
    transport: new HttpsTransport({ access, userAgent: name }),
    lanes: new WriteLanes({ runtime, qps: QPS, burst: BURST }),
    fieldManager: name,
  });
}
