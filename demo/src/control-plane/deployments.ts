// The controller manager's part in Deployments, as small as the demo needs it: so many Pods as replicas say,
// replaced when they are evicted or deleted, newest first to go. No roll-outs: Pods that exist keep the
// template that they were made from.

import type { Runtime } from '@bigfleet/base';
import {
  type ApiObject,
  describeRefusal,
  isTerminalPod,
  type KubeClient,
  type NamedBody,
  type Pod,
  PODS,
  Reflector,
} from '@bigfleet/kube';
import { RetryingWork } from '@bigfleet/kube/testing';
import { DEPLOYMENTS } from '../kube/resources.ts';

export interface DeploymentsOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly onProblem: (problem: string) => void;
}

interface DeploymentRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly replicas: number;
  readonly template: ApiObject;
  /** What its status says now, to write it only when it changes. */
  readonly statusText: string;
}

interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly owner: string;
  readonly createdAt: string;
  readonly isRunning: boolean;
  /** It ends or has ended: another one is due. */
  readonly isOver: boolean;
}

const WORKERS = 4;

export class Deployments {
  readonly #options: DeploymentsOptions;
  readonly #work: RetryingWork;
  readonly #deployments: Reflector<DeploymentRecord>;
  readonly #pods: Reflector<PodRecord>;
  /** By Deployment uid: Pods by key. */
  readonly #owned = new Map<string, Map<string, PodRecord>>();
  /** Deployments by uid. */
  readonly #keys = new Map<string, string>();

  constructor(options: DeploymentsOptions) {
    const { runtime, client, signal, onProblem } = options;
    this.#options = options;
    this.#work = new RetryingWork({
      runtime,
      signal,
      workers: WORKERS,
      onProblem,
      work: (key) => this.#reconcile(key),
    });
    this.#deployments = new Reflector<DeploymentRecord>({
      runtime,
      client,
      resource: DEPLOYMENTS,
      read: readDeployment,
      observer: {
        upserted: (key, { uid }) => {
          this.#keys.set(uid, key);
          this.#work.add(key);
        },
        removed: (_key, { uid }) => this.#keys.delete(uid),
        synced: () => this.#lookAtAll(),
        failed: ({ problem }) => onProblem(`deployments: ${problem}`),
      },
    });
    this.#pods = new Reflector<PodRecord>({
      runtime,
      client,
      resource: PODS,
      read: readPod,
      observer: {
        upserted: (_key, pod) => this.#podSeen(pod),
        removed: (key, { owner }) => {
          this.#owned.get(owner)?.delete(key);
          if (this.#owned.get(owner)?.size === 0) this.#owned.delete(owner);
          this.#due(owner);
        },
        synced: () => this.#lookAtAll(),
        failed: ({ problem }) => onProblem(`pods: ${problem}`),
      },
    });
  }

  /** Until the signal. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    await Promise.all([this.#deployments.run(signal), this.#pods.run(signal)]);
  }

  #lookAtAll(): void {
    for (const key of this.#keys.values()) this.#work.add(key);
  }

  #podSeen(pod: PodRecord): void {
    if (pod.owner === '') return;
    const owned = this.#owned.get(pod.owner) ?? new Map<string, PodRecord>();
    owned.set(`${pod.namespace}/${pod.name}`, pod);
    this.#owned.set(pod.owner, owned);
    this.#due(pod.owner);
  }

  #due(owner: string): void {
    const key = this.#keys.get(owner);
    if (key !== undefined) this.#work.add(key);
  }

  async #reconcile(key: string): Promise<undefined> {
    const deployment = this.#deployments.get(key);
    if (deployment === undefined || !this.#pods.isSynced) return;
    const owned = [...(this.#owned.get(deployment.uid)?.values() ?? [])];
    const living = owned.filter(({ isOver }) => !isOver).sort(byUse);
    for (let count = living.length; count < deployment.replicas; count++) {
      await this.#create(deployment);
    }
    for (const pod of living.slice(deployment.replicas)) await this.#delete(pod);
    await this.#report(deployment, living);
  }

  /** What was written counts as seen: the watch lags behind, and another look would create it again. */
  async #create(deployment: DeploymentRecord): Promise<void> {
    const { client, signal } = this.#options;
    const { namespace, name, uid, template } = deployment;
    const metadata = (template['metadata'] ?? {}) as ApiObject;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true };
    const pod: NamedBody = {
      ...template,
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, namespace, generateName: `${name}-`, ownerReferences: [owner] },
    };
    const answer = await client.create(PODS, pod, { lane: 'demand', signal });
    if (answer.kind === 'refused') throw new Error(describeRefusal(answer));
    const created = readPod(answer.object);
    // What the watch has shown meanwhile is newer.
    const isSeen = this.#owned.get(uid)?.has(`${created.namespace}/${created.name}`) === true;
    if (!isSeen) this.#podSeen(created);
  }

  async #delete(pod: PodRecord): Promise<void> {
    const { client, signal } = this.#options;
    const { uid } = pod;
    const answer = await client.delete(PODS, pod, { lane: 'demand', signal, uid });
    const isGone = answer.kind === 'refused' && (answer.status === 404 || answer.status === 409);
    if (answer.kind === 'refused' && !isGone) throw new Error(describeRefusal(answer));
    this.#podSeen({ ...pod, isOver: true });
  }

  async #report(deployment: DeploymentRecord, living: readonly PodRecord[]): Promise<void> {
    const { client, signal } = this.#options;
    const readyReplicas = living.filter(({ isRunning }) => isRunning).length;
    const status = {
      observedGeneration: deployment.generation,
      replicas: living.length,
      updatedReplicas: living.length,
      readyReplicas,
      availableReplicas: readyReplicas,
    };
    if (JSON.stringify(status) === deployment.statusText) return;
    const answer = await client.mergePatch(DEPLOYMENTS, deployment, {
      lane: 'acknowledge',
      signal,
      subresource: 'status',
      patch: { status },
    });
    if (answer.kind === 'refused' && answer.status !== 404)
      throw new Error(describeRefusal(answer));
  }
}

/** The first to stay first: those that run, then the oldest. */
function byUse(a: PodRecord, b: PodRecord): number {
  if (a.isRunning !== b.isRunning) return a.isRunning ? -1 : 1;
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}

interface StoredDeployment {
  readonly metadata: Pod['metadata'] & { readonly generation?: number };
  readonly spec: { readonly replicas?: number; readonly template: ApiObject };
  readonly status?: Readonly<Record<string, number>>;
}

function readDeployment(object: ApiObject): DeploymentRecord | undefined {
  const { metadata, spec, status } = object as unknown as StoredDeployment;
  if (metadata.deletionTimestamp !== undefined) return undefined;
  const { name, namespace = '', uid, generation = 0 } = metadata;
  const { observedGeneration, replicas, updatedReplicas, readyReplicas, availableReplicas } =
    status ?? {};
  return {
    namespace,
    name,
    uid,
    generation,
    replicas: spec.replicas ?? 1,
    template: spec.template,
    statusText: JSON.stringify({
      observedGeneration,
      replicas,
      updatedReplicas,
      readyReplicas,
      availableReplicas,
    }),
  };
}

function readPod(object: ApiObject): PodRecord {
  const pod = object as unknown as Pod;
  const { name, namespace = '', uid, ownerReferences, creationTimestamp = '' } = pod.metadata;
  const controller = ownerReferences?.find((owner) => owner.controller === true);
  return {
    namespace,
    name,
    uid,
    owner: controller?.kind === 'Deployment' ? controller.uid : '',
    createdAt: creationTimestamp,
    isRunning: pod.status?.phase === 'Running',
    isOver: pod.metadata.deletionTimestamp !== undefined || isTerminalPod(pod),
  };
}
