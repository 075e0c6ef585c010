// Empties a node through evictions, so that disruption budgets decide the order (kubernetes §4.3). The
// cordon and the memory of the instruction are one patch: an operator that dies in between finds the
// drain again on the Node itself. A Pod is never deleted here: a DELETE passes every budget by.

import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import {
  ANNOTATIONS,
  type ApiObject,
  type ApiRefusal,
  describeRefusal,
  isDaemonSetPod,
  isMirrorPod,
  isTerminalPod,
  type KubeClient,
  LABELS,
  metaOf,
  NODES,
  type Pod,
  PODS,
  refusalError,
  textOf,
} from '@bigfleet/kube';
import type {
  CordonOutcome,
  DrainControl,
  DrainOutcome,
  DrainPlan,
  InterruptedDrain,
} from '../session/cluster-port.ts';
import { machineIdLabel } from './names.ts';
import { type NodeRecord, readNode } from './node-index.ts';

/** Value of the Node's reclaim annotation. */
export interface ReclaimMark {
  readonly id: string;
  readonly deadlineUnixMs: number;
  readonly machineId: string;
  /** The drain has an outcome: a restarted operator must not begin it again. */
  readonly isOver: boolean;
}

function markText({ id, deadlineUnixMs, machineId, isOver }: ReclaimMark): string {
  const deadline = new Date(deadlineUnixMs).toISOString();
  return JSON.stringify({ id, deadline, machine: machineId, over: isOver || undefined });
}

/** Undefined for text that is not ours, or was edited into something else. */
export function readMark(text: string): ReclaimMark | undefined {
  if (text === '') return undefined;
  try {
    const mark = JSON.parse(text) as Readonly<Record<string, unknown>> | null;
    const deadlineUnixMs = Date.parse(String(mark?.['deadline']));
    if (typeof mark?.['id'] !== 'string' || Number.isNaN(deadlineUnixMs)) return undefined;
    return {
      id: mark['id'],
      deadlineUnixMs,
      machineId: textOf(mark['machine']),
      isOver: mark['over'] === true,
    };
  } catch {
    return undefined;
  }
}

export type EvictionOutcome = 'evicted' | 'gone' | 'blocked' | 'forbidden' | 'error';

export interface ReclaimsOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly onEviction: (outcome: EvictionOutcome) => void;
  /** Logged with a bound by the caller. */
  readonly onTransient: (pod: string, problem: string) => void;
}

type DrainTime = Pick<DrainControl, 'signal' | 'remainingMs'>;

interface Round {
  /** Undefined: the Pods could not be listed. */
  readonly podCount?: number;
  readonly waitMs: number;
  /** What a 403 said. */
  readonly forbidden?: string | undefined;
}

const LOOP_MS = 2_000;
/** A server that starts answers 403 until it has read its roles; one that still does by then means it. */
const FORBIDDEN_MS = 10_000;
const CONCURRENCY = 64;
/** Of a Node that others keep writing to. */
const DELETE_TRIES = 5;

export class Reclaims {
  readonly #options: ReclaimsOptions;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: ReclaimsOptions) {
    this.#options = options;
  }

  /**
   * The Node with the machine's label as it is now: a watch that is behind has not shown the Node of a
   * machine that joined a moment ago. Two of them name no Node.
   */
  async nodeOf(machineId: string, signal: AbortSignal): Promise<NodeRecord | undefined> {
    const labelSelector = `${LABELS.machineId}=${machineIdLabel(machineId)}`;
    const answer = await this.#options.client.list(NODES, { labelSelector, limit: 2 }, signal);
    if (answer.kind === 'refused') throw refusalError(answer);
    const [node, ...others] = (answer.object['items'] ?? []) as readonly ApiObject[];
    return node === undefined || others.length > 0 ? undefined : readNode(node);
  }

  async cordon(
    node: NodeRecord,
    plan: DrainPlan,
    machineId: string,
    signal: AbortSignal,
  ): Promise<CordonOutcome> {
    const { instructionId: id, deadlineUnixMs } = plan;
    const mark = { id, deadlineUnixMs, machineId, isOver: false };
    const answer = await this.#options.client.mergePatch(NODES, nodeName(node), {
      lane: 'cordon',
      signal,
      patch: {
        metadata: { uid: node.uid, annotations: { [ANNOTATIONS.reclaim]: markText(mark) } },
        spec: { unschedulable: true },
      },
    });
    if (answer.kind === 'ok') return { kind: 'cordoned' };
    if (answer.status === 404 || answer.status === 409) return { kind: 'not_found' };
    return { kind: 'failed', error: describeRefusal(answer) };
  }

  /** The mark stays until the Node goes or serves again, and says that nothing is left to do. */
  async drainIsOver(node: NodeRecord, signal: AbortSignal): Promise<void> {
    const mark = readMark(node.reclaim);
    if (mark === undefined || mark.isOver) return;
    await this.#options.client.mergePatch(NODES, nodeName(node), {
      lane: 'node',
      signal,
      patch: {
        metadata: {
          uid: node.uid,
          annotations: { [ANNOTATIONS.reclaim]: markText({ ...mark, isOver: true }) },
        },
      },
    });
  }

  /** Only with our mark on it: a node without it was cordoned by a person. */
  async uncordon(node: NodeRecord, signal: AbortSignal): Promise<void> {
    const answer = await this.#options.client.mergePatch(NODES, nodeName(node), {
      lane: 'cordon',
      signal,
      patch: {
        metadata: { uid: node.uid, annotations: { [ANNOTATIONS.reclaim]: null } },
        spec: { unschedulable: null },
      },
    });
    if (answer.kind === 'refused' && answer.status !== 404 && answer.status !== 409) {
      throw refusalError(answer);
    }
  }

  /**
   * The machine has left: a kubelet that comes back under this name begins with a new object. One that was
   * quicker has taken this object over and would never register again, so the object is deleted as it was
   * when nobody could have taken it.
   */
  async deleteNode(
    node: Pick<NodeRecord, 'name' | 'uid'>,
    isTaken: (current: NodeRecord) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    for (let tries = 1; ; tries++) {
      const found = await client.get(NODES, nodeName(node), signal);
      if (found.kind === 'refused') {
        if (found.status === 404) return;
        throw refusalError(found);
      }
      const meta = metaOf(found.object);
      if (meta?.uid !== node.uid || isTaken(readNode(found.object))) return;
      const { uid, resourceVersion } = meta;
      const options = { lane: 'node', signal, uid, resourceVersion } as const;
      const answer = await client.delete(NODES, nodeName(node), options);
      if (answer.kind === 'ok' || answer.status === 404) return;
      if (answer.status !== 409 || tries === DELETE_TRIES) throw refusalError(answer);
    }
  }

  async drain(
    node: NodeRecord,
    control: DrainTime,
  ): Promise<Exclude<DrainOutcome, { kind: 'given_up' }>> {
    // Nothing is evicted any more: what an operator that died had begun, nobody went on with in time.
    if (control.remainingMs() === 0) return unseen('it ended while no operator was draining');
    const { runtime } = this.#options;
    let remaining: number | undefined;
    let forbiddenSinceMs: number | undefined;
    for (;;) {
      const { podCount, waitMs, forbidden } = await this.#round(node.name, control);
      remaining = podCount ?? remaining;
      if (podCount === 0) return { kind: 'empty' };
      const nowMs = runtime.clock.monotonicMs();
      forbiddenSinceMs = forbidden === undefined ? undefined : (forbiddenSinceMs ?? nowMs);
      if (forbidden !== undefined && forbiddenSinceMs !== undefined) {
        const isLasting = nowMs - forbiddenSinceMs >= FORBIDDEN_MS;
        if (isLasting || control.remainingMs() <= LOOP_MS) {
          return { kind: 'forbidden', error: forbidden };
        }
      }
      const pauseMs = Math.min(waitMs, Math.max(0, control.remainingMs()));
      await sleep(runtime, pauseMs, control.signal).catch(() => undefined);
      if (!control.signal.aborted) continue;
      if (remaining === undefined) return unseen('the Pods of the node could not be listed');
      return { kind: 'deadline', podsRemaining: remaining };
    }
  }

  /** One look and one eviction of each Pod; a failure is the next round's business. */
  async #round(node: string, control: DrainTime): Promise<Round> {
    let pods: readonly Pod[];
    try {
      pods = await this.#blockingPods(node, control.signal);
    } catch (error) {
      if (control.signal.aborted) return { waitMs: 0 };
      if (!(error instanceof BigFleetError)) throw error;
      this.#options.onTransient(`Pods of ${node}`, error.message);
      const isForbidden = error.fields['status'] === 403;
      return { waitMs: LOOP_MS, forbidden: isForbidden ? `list: ${error.message}` : undefined };
    }
    const waits = await Promise.all(pods.map((pod) => this.#evict(pod, control)));
    return {
      podCount: pods.length,
      waitMs: Math.max(LOOP_MS, ...waits.filter((wait) => typeof wait === 'number')),
      forbidden: waits.find((wait) => typeof wait === 'string'),
    };
  }

  /** Pods that keep the node from being empty; the server selects, the operator caches no Pods. */
  async #blockingPods(node: string, signal: AbortSignal): Promise<readonly Pod[]> {
    const pods: Pod[] = [];
    let token: string | undefined;
    do {
      const query = { fieldSelector: `spec.nodeName=${node}`, limit: 500, continue: token };
      const answer = await this.#options.client.list(PODS, query, signal);
      if (answer.kind === 'refused') throw refusalError(answer);
      const items = (answer.object['items'] ?? []) as readonly Pod[];
      pods.push(...items.filter(isBlocking));
      const meta = answer.object['metadata'] as { continue?: string } | undefined;
      token = meta?.continue === '' ? undefined : meta?.continue;
    } while (token !== undefined);
    return pods;
  }

  /** How long to wait at least before the next look, or what the server says about missing rights. */
  async #evict(pod: Pod, control: DrainTime): Promise<number | string> {
    if (pod.metadata.deletionTimestamp !== undefined) return 0;
    await this.#enter();
    try {
      if (control.signal.aborted) return 0;
      return this.#answered(pod, await this.#post(pod, control));
    } catch (error) {
      if (control.signal.aborted) return 0;
      if (!(error instanceof BigFleetError)) throw error;
      this.#options.onEviction('error');
      this.#options.onTransient(podKey(pod), error.message);
      return 0;
    } finally {
      this.#leave();
    }
  }

  async #post(pod: Pod, control: DrainTime): Promise<ApiRefusal | undefined> {
    const { name, namespace = '', uid } = pod.metadata;
    const left = Math.floor(control.remainingMs() / 1000);
    const own = pod.spec.terminationGracePeriodSeconds ?? 30;
    const answer = await this.#options.client.create(
      PODS,
      {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace },
        // Without the uid, a StatefulSet's new Pod of this name on another node would be evicted.
        deleteOptions: { preconditions: { uid }, gracePeriodSeconds: Math.min(own, left) },
      },
      { lane: 'eviction', subresource: 'eviction', signal: control.signal },
    );
    return answer.kind === 'ok' ? undefined : answer;
  }

  #answered(pod: Pod, refusal: ApiRefusal | undefined): number | string {
    const { onEviction, onTransient } = this.#options;
    if (refusal === undefined) {
      onEviction('evicted');
      return 0;
    }
    switch (refusal.status) {
      case 404:
      case 409:
        onEviction('gone');
        return 0;
      case 403:
        onEviction('forbidden');
        onTransient(podKey(pod), describeRefusal(refusal));
        return `eviction of ${podKey(pod)}: ${describeRefusal(refusal)}`;
      case 429:
        onEviction('blocked');
        onTransient(podKey(pod), describeRefusal(refusal));
        return (refusal.retryAfterSeconds ?? 0) * 1000;
      default:
        onEviction('error');
        onTransient(podKey(pod), describeRefusal(refusal));
        return 0;
    }
  }

  async #enter(): Promise<void> {
    if (this.#running >= CONCURRENCY) await new Promise<void>((enter) => this.#waiting.push(enter));
    this.#running++;
  }

  #leave(): void {
    this.#running--;
    this.#waiting.shift()?.();
  }
}

/** A count of 0 would say that the node is empty. */
function unseen(why: string): Extract<DrainOutcome, { kind: 'deadline' }> {
  return { kind: 'deadline', podsRemaining: 0, error: `${why}, pods remaining: unknown` };
}

/** Drains that an earlier process began, from the marks on Nodes. */
export function interruptedDrains(nodes: Iterable<NodeRecord>): readonly InterruptedDrain[] {
  const found: InterruptedDrain[] = [];
  for (const node of nodes) {
    const mark = readMark(node.reclaim);
    if (mark === undefined || mark.isOver) continue;
    found.push({
      target: { node: node.name, machineId: mark.machineId },
      instructionId: mark.id,
      deadlineUnixMs: mark.deadlineUnixMs,
    });
  }
  return found;
}

function isBlocking(pod: Pod): boolean {
  return !isMirrorPod(pod) && !isDaemonSetPod(pod) && !isTerminalPod(pod);
}

function podKey({ metadata }: Pod): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}

function nodeName({ name }: Pick<NodeRecord, 'name'>): { namespace: string; name: string } {
  return { namespace: '', name };
}
