// The need of a Pod: its CapacityRequest, read by the operator's own rule, so that the dashboard names a need
// exactly as the shard knows it. Asked of the cluster when a page asks; nothing is watched.

import {
  BigFleetError,
  describeThrown,
  err,
  ok,
  type Result,
  type Runtime,
  runWithDeadline,
} from '@bigfleet/base';
import type { PodNeeds } from '@bigfleet/dashboard';
import {
  type ApiAnswer,
  CAPACITY_REQUESTS,
  clusterAccess,
  describeRefusal,
  HttpsTransport,
  isObject,
  KubeClient,
  LABELS,
  PODS,
  textOf,
  WriteLanes,
} from '@bigfleet/kube';
import { type CapacityRequest, readRequest } from '@bigfleet/operator';
import { BUILD_VERSION, type Env } from '../command.ts';

export interface PodNeedsOptions {
  readonly runtime: Runtime;
  readonly env: Env;
  /** Cluster → kubeconfig file. */
  readonly kubeconfigs: ReadonlyMap<string, string>;
  readonly requireTls: boolean;
}

type Need = Awaited<ReturnType<PodNeeds['needOfPod']>>;

const PROGRAM = 'bigfleet-dashboard';
const ANSWER_WITHIN_MS = 5_000;
const NAME = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z0-9][a-z0-9.-]{0,252})$/;
const UID = /^[\w-]{1,63}$/;

/** Undefined when no cluster is named. A kubeconfig that cannot be read refuses the start. */
export async function openPodNeeds(options: PodNeedsOptions): Promise<PodNeeds | undefined> {
  const { runtime, env, kubeconfigs, requireTls } = options;
  if (kubeconfigs.size === 0) return undefined;
  const clients = new Map<string, KubeClient>();
  const transports: HttpsTransport[] = [];
  for (const [cluster, kubeconfig] of kubeconfigs) {
    const access = await clusterAccess({ kubeconfig, env, clock: runtime.clock, requireTls });
    const transport = new HttpsTransport({ access, userAgent: `${PROGRAM}/${BUILD_VERSION}` });
    transports.push(transport);
    // It never writes.
    const lanes = new WriteLanes({ runtime, qps: 1, burst: 1 });
    clients.set(cluster, new KubeClient({ runtime, transport, lanes, fieldManager: PROGRAM }));
  }
  return {
    clusters: [...clients.keys()],
    needOfPod: (cluster, pod) => needOfPod(runtime, clients, cluster, pod),
    close: () => {
      for (const transport of transports) transport.close();
    },
  };
}

async function needOfPod(
  runtime: Runtime,
  clients: ReadonlyMap<string, KubeClient>,
  cluster: string,
  pod: string,
): Promise<Need> {
  const client = clients.get(cluster);
  if (client === undefined) {
    const known = [...clients.keys()].join(', ');
    const message = `Pods of ${JSON.stringify(cluster)} cannot be looked up: --kubeconfig names ${known}`;
    return err({ code: 'source_absent', message });
  }
  const [, namespace = '', name = ''] = NAME.exec(pod) ?? [];
  if (name === '') {
    const message = `pod ${JSON.stringify(pod.slice(0, 80))}: write <namespace>/<name>`;
    return err({ code: 'parameter_invalid', message });
  }
  try {
    return await runWithDeadline(runtime, { ms: ANSWER_WITHIN_MS }, (signal) =>
      readNeed(client, { cluster, namespace, name }, signal),
    );
  } catch (error) {
    if (!(error instanceof BigFleetError)) throw error;
    return err({ code: error.code, message: `cluster ${cluster}: ${describeThrown(error)}` });
  }
}

interface PodName {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

async function readNeed(client: KubeClient, pod: PodName, signal: AbortSignal): Promise<Need> {
  const { cluster, namespace, name } = pod;
  const found = answered(await client.get(PODS, { namespace, name }, signal), pod);
  if (!found.ok) return found;
  const { metadata } = found.value;
  const uid = isObject(metadata) ? textOf(metadata['uid']) : '';
  if (!UID.test(uid)) return err({ code: 'kube_answer_malformed', message: 'the Pod has no uid' });
  const query = { namespace, labelSelector: `${LABELS.ownedByPod}=${uid}`, limit: 1 };
  const listed = answered(await client.list(CAPACITY_REQUESTS, query, signal), pod);
  if (!listed.ok) return listed;
  const { items } = listed.value;
  const [request] = Array.isArray(items) ? (items as readonly unknown[]) : [];
  if (!isObject(request)) {
    const message =
      `Pod ${namespace}/${name} of ${cluster} has no CapacityRequest: it is no demand, ` +
      'or the pod controller has not seen it yet';
    return err({ code: 'request_not_found', message });
  }
  // Its shape is what the reader checks.
  const spec = request['spec'] as CapacityRequest['spec'];
  const demand = readRequest({ namespace, spec });
  if (!demand.ok) {
    const message = `its CapacityRequest is refused (${demand.error.reason}): ${demand.error.problem}`;
    return err({ code: 'request_refused', message });
  }
  const { profile, group } = demand.value;
  return ok({ cluster, fingerprint: profile.fingerprint, group });
}

function answered(
  answer: ApiAnswer,
  { cluster, namespace, name }: PodName,
): Result<Extract<ApiAnswer, { kind: 'ok' }>['object'], { code: string; message: string }> {
  if (answer.kind === 'ok') return ok(answer.object);
  if (answer.status === 404) {
    const message = `cluster ${cluster} has no Pod ${namespace}/${name}`;
    return err({ code: 'pod_not_found', message });
  }
  return err({ code: 'kube_refused', message: `cluster ${cluster}: ${describeRefusal(answer)}` });
}
