// A stand-in for kube-scheduler on clusters that have none (the demo, tests on the test API server): binds
// Pods to nodes that fit (`node-fit.ts`), the highest priority and the oldest first, onto the first node by
// name, so that nodes fill up one after the other. Whatever fits nowhere is told so in its PodScheduled
// condition. It preempts nobody.
//
// Cost: one pass over all Pods and nodes per batch of changes; meant for hundreds of either.

import { compareText, type Runtime, type Timer } from '@bigfleet/base';
import type { ApiAnswer, ApiObject } from '../../api/answer.ts';
import { describeRefusal } from '../../api/answer.ts';
import type { KubeClient } from '../../api/client.ts';
import { isTerminalPod, type Pod } from '../../api/objects.ts';
import { effectiveRequests } from '../../api/pod-requests.ts';
import { NODES, PODS } from '../../api/resource.ts';
import { Reflector } from '../../reflector/reflector.ts';
import { asList, asObj, at, textAt, textMap, timeText } from '../api-server/json.ts';
import {
  type Amounts,
  amountsOf,
  misfit,
  type NodeRecord,
  type Placement,
  readNode,
} from './node-fit.ts';
import { RetryingWork } from './retrying-work.ts';

export interface StandInSchedulerOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly onProblem?: ((problem: string) => void) | undefined;
}

interface PodRecord {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly isWaiting: boolean;
  readonly isToldUnschedulable: boolean;
  readonly priority: number;
  readonly createdAt: string;
  readonly placement: Placement;
}

/** Changes of a burst are looked at together. */
const BATCH_MS = 50;
const WORKERS = 16;
const SCHEDULER = 'default-scheduler';

export class StandInScheduler {
  readonly #options: StandInSchedulerOptions;
  readonly #pods: Reflector<PodRecord>;
  readonly #nodes: Reflector<NodeRecord>;
  readonly #work: RetryingWork;
  /** Decided, and not yet seen in the watch: uid of the Pod and its node. */
  readonly #assumed = new Map<string, string>();
  readonly #refused = new Map<string, string>();
  #timer: Timer | undefined;

  constructor(options: StandInSchedulerOptions) {
    this.#options = options;
    const { runtime, client, signal, onProblem = () => undefined } = options;
    const observer = {
      upserted: () => this.#wake(),
      synced: () => this.#wake(),
      failed: ({ problem }: { readonly problem: string }) => onProblem(problem),
    };
    this.#work = new RetryingWork({
      runtime,
      signal,
      workers: WORKERS,
      work: (key) => this.#write(key),
      onProblem,
    });
    this.#pods = new Reflector<PodRecord>({
      runtime,
      client,
      resource: PODS,
      read: (object, { key }) => readPod(object, key),
      observer: {
        ...observer,
        removed: (_, { uid }) => {
          this.#assumed.delete(uid);
          this.#wake();
        },
      },
    });
    this.#nodes = new Reflector<NodeRecord>({
      runtime,
      client,
      resource: NODES,
      read: (object) => readNode(object),
      observer: { ...observer, removed: () => this.#wake() },
    });
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    await Promise.all([this.#pods.run(signal), this.#nodes.run(signal)]);
    this.#timer?.cancel();
  }

  #wake(): void {
    if (this.#options.signal.aborted) return;
    this.#timer ??= this.#options.runtime.timers.after(BATCH_MS, () => {
      this.#timer = undefined;
      if (this.#pods.isSynced && this.#nodes.isSynced) this.#pass();
    });
  }

  #pass(): void {
    const nodes = Array.from(this.#nodes.records()).sort((a, b) => compareText(a.name, b.name));
    const used = this.#usage();
    const waiting = Array.from(this.#pods.records()).filter(
      ({ isWaiting, uid }) => isWaiting && !this.#assumed.has(uid),
    );
    for (const pod of waiting.sort(byTurn)) {
      const reasons = new Map<string, number>();
      const node = nodes.find((one) => {
        const reason = misfit(one, pod.placement, used.get(one.name) ?? new Map());
        if (reason !== undefined) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        return reason === undefined;
      });
      if (node === undefined) {
        this.#refused.set(pod.key, refusalText(nodes.length, reasons));
        if (!pod.isToldUnschedulable) this.#work.add(pod.key);
        continue;
      }
      this.#assumed.set(pod.uid, node.name);
      used.set(node.name, sum(used.get(node.name), pod.placement.requests));
      this.#work.add(pod.key);
    }
  }

  /** What bound and about-to-be-bound Pods take of each node. */
  #usage(): Map<string, Amounts> {
    const used = new Map<string, Amounts>();
    for (const { uid, node, placement } of this.#pods.records()) {
      const on = node === '' ? this.#assumed.get(uid) : node;
      if (node !== '') this.#assumed.delete(uid);
      if (on !== undefined) used.set(on, sum(used.get(on), placement.requests));
    }
    return used;
  }

  async #write(key: string): Promise<string | undefined> {
    const pod = this.#pods.get(key);
    if (pod?.isWaiting !== true) return undefined;
    const node = this.#assumed.get(pod.uid);
    const answer = await (node === undefined ? this.#tell(pod) : this.#bind(pod, node));
    if (answer.kind === 'ok' || answer.status === 404) return undefined;
    // Somebody else bound it, or it is ending: the watch will say.
    this.#assumed.delete(pod.uid);
    this.#wake();
    return answer.status === 409 ? undefined : describeRefusal(answer);
  }

  #bind({ namespace, name, uid }: PodRecord, node: string): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const body = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    return client.create(PODS, body, { lane: 'node', signal, subresource: 'binding' });
  }

  #tell({ key, namespace, name }: PodRecord): Promise<ApiAnswer> {
    const { client, signal, runtime } = this.#options;
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: this.#refused.get(key) ?? '',
      lastTransitionTime: timeText(runtime.clock.unixNanos()),
    };
    this.#refused.delete(key);
    return client.mergePatch(
      PODS,
      { namespace, name },
      {
        lane: 'node',
        signal,
        subresource: 'status',
        patch: { status: { conditions: [condition] } },
      },
    );
  }
}

function byTurn(a: PodRecord, b: PodRecord): number {
  return (
    b.priority - a.priority || compareText(a.createdAt, b.createdAt) || compareText(a.key, b.key)
  );
}

/** The words that kube-scheduler uses. */
function refusalText(nodeCount: number, reasons: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return 'no nodes available to schedule pods';
  const listed = Array.from(reasons, ([reason, count]) => `${count} ${reason}`).sort(compareText);
  return `0/${nodeCount} nodes are available: ${listed.join(', ')}.`;
}

function sum(a: Amounts | undefined, b: Amounts): Amounts {
  const total = new Map(a);
  for (const [name, amount] of b) total.set(name, (total.get(name) ?? 0n) + amount);
  return total;
}

function readPod(object: ApiObject, key: string): PodRecord | undefined {
  const pod = object as unknown as Pod;
  if (isTerminalPod(pod)) return undefined;
  const { metadata, spec } = pod;
  const scheduled = asList(at(object, 'status', 'conditions')).find(
    (one) => textAt(one, 'type') === 'PodScheduled',
  );
  const node = spec.nodeName ?? '';
  const isEnding = metadata.deletionTimestamp !== undefined;
  const isOurs = textAt(object, 'spec', 'schedulerName') === SCHEDULER;
  const isGated = (spec.schedulingGates ?? []).length > 0;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return {
    key,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    node,
    isWaiting: node === '' && !isEnding && isOurs && !isGated,
    isToldUnschedulable:
      textAt(scheduled, 'status') === 'False' && textAt(scheduled, 'reason') === 'Unschedulable',
    priority: spec.priority ?? 0,
    createdAt: metadata.creationTimestamp ?? '',
    placement: {
      selector: textMap(spec.nodeSelector),
      terms: (terms ?? []).map(({ matchExpressions }) => matchExpressions ?? []),
      tolerations: asList(at(object, 'spec', 'tolerations')).map(asObj),
      requests: amountsOf({ ...effectiveRequests(pod), pods: 1 }),
    },
  };
}
