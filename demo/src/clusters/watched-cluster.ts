// One cluster as its API server tells it: what waits, what runs, what is known to BigFleet, and which nodes
// carry it. Counts only; the view shows no more of a cluster.

import type { Runtime } from '@bigfleet/base';
import {
  CAPACITY_REQUESTS,
  type ApiObject,
  isTerminalPod,
  type KubeClient,
  type Node,
  NODES,
  type Pod,
  PODS,
  Reflector,
  type Resource,
  UPCOMING_NODES,
} from '@bigfleet/kube';
import type { Logger } from '@bigfleet/telemetry';

export interface ClusterCounts {
  readonly runningCount: number;
  readonly pendingCount: number;
  readonly requestCount: number;
  readonly acknowledgedCount: number;
  readonly nodeCount: number;
  /** Machines on their way in: no Node of theirs is Ready yet. */
  readonly upcomingCount: number;
}

export interface WatchedClusterOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly logger: Logger;
}

type PodState = 'running' | 'pending';

export class WatchedCluster {
  readonly #pods: Reflector<PodState>;
  readonly #requests: Reflector<boolean>;
  readonly #nodes: Reflector<boolean>;
  readonly #upcoming: Reflector<string>;

  constructor(options: WatchedClusterOptions) {
    this.#pods = reflect(options, PODS, podStateOf);
    this.#requests = reflect(options, CAPACITY_REQUESTS, isAcknowledged);
    this.#nodes = reflect(options, NODES, isReady);
    this.#upcoming = reflect(options, UPCOMING_NODES, phaseOf);
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const all = [this.#pods, this.#requests, this.#nodes, this.#upcoming];
    await Promise.all(all.map((reflector) => reflector.run(signal)));
  }

  get counts(): ClusterCounts {
    return {
      runningCount: countOf(this.#pods, (state) => state === 'running'),
      pendingCount: countOf(this.#pods, (state) => state === 'pending'),
      requestCount: this.#requests.size,
      acknowledgedCount: countOf(this.#requests, (isKnown) => isKnown),
      nodeCount: countOf(this.#nodes, (isUsable) => isUsable),
      upcomingCount: countOf(this.#upcoming, (phase) => ARRIVING.includes(phase)),
    };
  }
}

const ARRIVING: readonly string[] = ['Provisioning', 'Launched', 'Registered'];

function reflect<T>(
  { runtime, client, logger }: WatchedClusterOptions,
  resource: Resource,
  read: (object: ApiObject) => T | undefined,
): Reflector<T> {
  const failed = ({ problem }: { readonly problem: string }): void => {
    logger.warn('a watch failed', { resource: resource.plural, err: problem });
  };
  return new Reflector({ runtime, client, resource, read, observer: { failed } });
}

function countOf<T>(reflector: Reflector<T>, counts: (record: T) => boolean): number {
  let count = 0;
  for (const record of reflector.records()) if (counts(record)) count += 1;
  return count;
}

function podStateOf(object: ApiObject): PodState | undefined {
  const pod = object as unknown as Pod;
  if (isTerminalPod(pod) || pod.metadata.deletionTimestamp !== undefined) return undefined;
  return pod.status?.phase === 'Running' ? 'running' : 'pending';
}

function isAcknowledged(object: ApiObject): boolean {
  return phaseOf(object) === 'Acknowledged';
}

function isReady(object: ApiObject): boolean {
  const { status } = object as unknown as Node;
  return (status?.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );
}

function phaseOf(object: ApiObject): string {
  const { phase = '' } = (object['status'] ?? {}) as { readonly phase?: string };
  return phase;
}
