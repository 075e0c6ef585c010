// Stand-ins for the kubelets of one cluster, for tests and the demo: each registers its Node from a rendered
// bootstrap blob, renews its Lease, runs the Pods bound to it and ends those that were told to end. They
// speak to the API server as kubelets do, so they work against the test API server and a real one alike.
// One watch of Pods serves all of them. Nothing runs in a Pod: it is Running once it is bound.

import { describeThrown, type Runtime, sleep, type Timer } from '@bigfleet/base';
import { describeRefusal, type ApiAnswer } from '../../api/answer.ts';
import type { Taint } from '../../api/capacity.ts';
import type { KubeClient } from '../../api/client.ts';
import { isTerminalPod, type Pod, type ResourceList } from '../../api/objects.ts';
import { LEASES, NODES, PODS } from '../../api/resource.ts';
import { Reflector } from '../../reflector/reflector.ts';
import { asList, at as valueAt, textAt, timeText } from '../api-server/json.ts';
import { type JoinBlob, readJoinBlob } from './join-blob.ts';
import { RetryingWork } from './retrying-work.ts';

export interface KubeletsOptions {
  readonly runtime: Runtime;
  /** With the rights of a cluster's administrator, and a budget of writes for many nodes. */
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly onProblem?: ((problem: string) => void) | undefined;
  /** Why the cluster refuses a bootstrap token; undefined: it is good. Without it none is asked for. */
  readonly checkToken?: ((token: string) => Promise<string | undefined>) | undefined;
}

/** What the hardware says about itself. */
export interface MachineShape {
  /** The node's name, unless the blob gives another. */
  readonly name: string;
  readonly providerId?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly allocatable?: ResourceList | undefined;
  readonly taints?: readonly Taint[] | undefined;
}

export type JoinResult =
  | { readonly kind: 'joined'; readonly nodeName: string; readonly uid: string }
  | { readonly kind: 'refused'; readonly problem: string };

interface Kubelet {
  readonly name: string;
  readonly machine: MachineShape;
  readonly uid: string;
  isReady: boolean;
  heartbeat: Timer | undefined;
}

interface PodRecord {
  readonly pod: Pod;
  readonly uid: string;
  readonly isReady: boolean;
}

const RETRY_MS = 500;
const TOO_MANY_REQUESTS = 429;
/** Also what an API server says to everybody that has just started. */
const DENIED = [401, 403];
const HEARTBEAT_MS = 10_000;
const LEASE_SECONDS = 40;
const WORKERS = 32;
const LEASE_NAMESPACE = 'kube-node-lease';
const ALLOCATABLE = { cpu: '4', memory: '16Gi', 'ephemeral-storage': '100Gi' };
const MAX_PODS = '110';

export class Kubelets {
  readonly #options: KubeletsOptions;
  readonly #kubelets = new Map<string, Kubelet>();
  readonly #podsOf = new Map<string, Set<string>>();
  readonly #pods: Reflector<PodRecord>;
  readonly #podWork: RetryingWork;
  readonly #leaseWork: RetryingWork;

  constructor(options: KubeletsOptions) {
    this.#options = options;
    const { runtime, client, signal, onProblem = () => undefined } = options;
    const queue = (work: (key: string) => Promise<string | undefined>): RetryingWork =>
      new RetryingWork({ runtime, signal, workers: WORKERS, work, onProblem });
    this.#podWork = queue((key) => this.#attendPod(key));
    this.#leaseWork = queue((name) => this.#renew(name));
    this.#pods = new Reflector<PodRecord>({
      runtime,
      client,
      resource: PODS,
      read: (object, { uid }) => boundPod(object as unknown as Pod, uid),
      observer: {
        upserted: (key, record) => this.#seen(key, record),
        removed: (key, record) => this.#podsOf.get(nodeOf(record))?.delete(key),
        failed: ({ problem }) => onProblem(`pods: ${problem}`),
      },
    });
  }

  /** Until the signal aborts. */
  async run(): Promise<void> {
    await this.#pods.run(this.#options.signal);
    for (const name of this.nodeNames) this.silence(name);
  }

  get nodeNames(): readonly string[] {
    return Array.from(this.#kubelets.keys());
  }

  /** Boots a machine with its blob; joined means that its Node is Ready. */
  async join(machine: MachineShape, blob: string): Promise<JoinResult> {
    const read = readJoinBlob(blob);
    const refusal = read.token === undefined ? undefined : await this.#checkToken(read.token);
    if (refusal !== undefined) return { kind: 'refused', problem: refusal };
    const name = read.nodeName ?? machine.name;
    const registered = await this.#persist(() => this.#register(name, machine, read));
    if (registered.kind === 'refused') {
      return { kind: 'refused', problem: describeRefusal(registered) };
    }
    const kubelet: Kubelet = {
      name,
      machine,
      uid: textAt(registered.object, 'metadata', 'uid'),
      isReady: true,
      heartbeat: undefined,
    };
    const reported = await this.#persist(() => this.#report(kubelet));
    if (reported.kind === 'refused') return { kind: 'refused', problem: describeRefusal(reported) };
    this.#kubelets.get(name)?.heartbeat?.cancel();
    this.#kubelets.set(name, kubelet);
    this.#beat(kubelet);
    for (const key of this.#podsOf.get(name) ?? []) this.#podWork.add(key);
    return { kind: 'joined', nodeName: name, uid: kubelet.uid };
  }

  /** The kubelet lives and says that its node cannot run Pods, or that it can again. */
  async setReady(name: string, isReady: boolean): Promise<void> {
    const kubelet = this.#kubelets.get(name);
    if (kubelet === undefined) throw new Error(`no kubelet runs on ${name}`);
    kubelet.isReady = isReady;
    await this.#accept(this.#report(kubelet));
  }

  /** The machine is cut off: no heartbeat, and nothing is done about its Pods. Its Node stays. */
  silence(name: string): void {
    this.#kubelets.get(name)?.heartbeat?.cancel();
    this.#kubelets.delete(name);
  }

  /**
   * The machine is no more: its Node goes, and its Pods with it, as the cloud's node controller and the Pod
   * collector would have it.
   */
  async leave(name: string): Promise<void> {
    const { client, signal } = this.#options;
    const uid = this.#kubelets.get(name)?.uid;
    this.silence(name);
    const options = { lane: 'node', signal, uid } as const;
    await this.#accept(this.#persist(() => client.delete(NODES, at('', name), options)));
    for (const key of this.#podsOf.get(name) ?? []) {
      const record = this.#pods.get(key);
      if (record !== undefined) await this.#accept(this.#finalise(record));
    }
  }

  /** The containers of a Pod end by themselves. */
  async finishPod(namespace: string, name: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
    const { client, signal } = this.#options;
    const conditions = [condition('Ready', 'False', this.#nowText, 'PodCompleted')];
    await this.#accept(
      client.mergePatch(PODS, at(namespace, name), {
        lane: 'node',
        signal,
        subresource: 'status',
        patch: { status: { phase, conditions } },
      }),
    );
  }

  get #nowText(): string {
    return timeText(this.#options.runtime.clock.unixNanos());
  }

  async #checkToken(token: string): Promise<string | undefined> {
    return this.#options.checkToken?.(token);
  }

  /** A kubelet that boots while the API server is away waits for it. */
  async #persist(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    const { runtime, signal, onProblem } = this.#options;
    for (;;) {
      const answer = await ask().catch((error: unknown) => describeThrown(error));
      if (typeof answer !== 'string') {
        if (answer.kind === 'ok') return answer;
        if (answer.status < TOO_MANY_REQUESTS && !DENIED.includes(answer.status)) return answer;
        onProblem?.(describeRefusal(answer));
      } else if (!signal.aborted) onProblem?.(answer);
      await sleep(runtime, RETRY_MS, signal);
    }
  }

  async #accept(pending: Promise<ApiAnswer>): Promise<void> {
    const answer = await pending;
    // Gone, or another object of that name by now.
    if (answer.kind === 'ok' || answer.status === 404 || answer.status === 409) return;
    throw new Error(describeRefusal(answer));
  }

  // ── nodes ───────────────────────────────────────────────────────────────────────────────

  /** As a kubelet does it: onto the Node of that name when there is one, with whatever cordon it has. */
  async #register(name: string, machine: MachineShape, blob: JoinBlob): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const providerID = blob.providerId ?? machine.providerId;
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      ...machine.labels,
      ...blob.labels,
    };
    const taints = [...(machine.taints ?? []), ...blob.taints];
    const created = await client.create(
      NODES,
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels },
        spec: { ...(providerID === undefined ? {} : { providerID }), taints },
      },
      { lane: 'node', signal },
    );
    if (created.kind === 'ok' || created.status !== 409) return created;
    const taken = await client.mergePatch(NODES, at('', name), {
      lane: 'node',
      signal,
      patch: { metadata: { labels } },
    });
    const wasDeleted = taken.kind === 'refused' && taken.status === 404;
    return wasDeleted ? this.#register(name, machine, blob) : taken;
  }

  #report({ name, machine, isReady }: Kubelet): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const now = this.#nowText;
    const allocatable = { ...ALLOCATABLE, pods: MAX_PODS, ...machine.allocatable };
    const ready = isReady
      ? condition('Ready', 'True', now, 'KubeletReady')
      : condition('Ready', 'False', now, 'KubeletNotReady');
    const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) =>
      condition(type, 'False', now, 'KubeletHasSufficient'),
    );
    return client.mergePatch(NODES, at('', name), {
      lane: 'node',
      signal,
      subresource: 'status',
      patch: {
        status: {
          capacity: allocatable,
          allocatable,
          conditions: [...pressures, ready].map((one) => ({ ...one, lastHeartbeatTime: now })),
          addresses: [{ type: 'Hostname', address: name }],
          nodeInfo: { kubeletVersion: 'v0.0.0-stand-in', operatingSystem: 'linux' },
        },
      },
    });
  }

  #beat(kubelet: Kubelet): void {
    if (this.#options.signal.aborted || this.#kubelets.get(kubelet.name) !== kubelet) return;
    this.#leaseWork.add(kubelet.name);
    kubelet.heartbeat = this.#options.runtime.timers.after(HEARTBEAT_MS, () => this.#beat(kubelet));
  }

  async #renew(name: string): Promise<string | undefined> {
    const { client, signal, runtime } = this.#options;
    const kubelet = this.#kubelets.get(name);
    if (kubelet === undefined) return undefined;
    const renewTime = microTimeText(runtime.clock.unixNanos());
    const renewed = await client.mergePatch(LEASES, at(LEASE_NAMESPACE, name), {
      lane: 'node',
      signal,
      patch: { spec: { renewTime } },
    });
    if (renewed.kind === 'ok') return this.#contradict(kubelet);
    if (renewed.status !== 404) return describeRefusal(renewed);
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: kubelet.uid };
    const created = await client.create(
      LEASES,
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [owner] },
        spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime },
      },
      { lane: 'node', signal },
    );
    return created.kind === 'ok' || created.status === 409 ? undefined : describeRefusal(created);
  }

  /** A Node that was called silent while nobody heard its Lease says itself that it is Ready, as a kubelet does. */
  async #contradict(kubelet: Kubelet): Promise<string | undefined> {
    const { client, signal } = this.#options;
    const found = await client.get(NODES, at('', kubelet.name), signal);
    if (found.kind === 'refused') {
      return found.status === 404 ? undefined : describeRefusal(found);
    }
    if (isReady(found.object) === kubelet.isReady) return undefined;
    const reported = await this.#report(kubelet);
    return reported.kind === 'ok' ? undefined : describeRefusal(reported);
  }

  // ── Pods ────────────────────────────────────────────────────────────────────────────────

  #seen(key: string, record: PodRecord): void {
    const node = nodeOf(record);
    const known = this.#podsOf.get(node) ?? new Set();
    this.#podsOf.set(node, known.add(key));
    if (this.#kubelets.has(node)) this.#podWork.add(key);
  }

  async #attendPod(key: string): Promise<string | undefined> {
    const record = this.#pods.get(key);
    if (record === undefined || !this.#kubelets.has(nodeOf(record))) return undefined;
    const { pod } = record;
    const isEnding = pod.metadata.deletionTimestamp !== undefined;
    // A Running Pod that is not ready: the Node was called silent, and its Pods with it.
    const isStarted = pod.status?.phase === 'Running' && record.isReady;
    if (!isEnding && (isTerminalPod(pod) || isStarted)) return undefined;
    await this.#accept(isEnding ? this.#finalise(record) : this.#start(record));
    return undefined;
  }

  #start({ pod, uid }: PodRecord): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const { name, namespace = '' } = pod.metadata;
    const now = this.#nowText;
    const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) =>
      condition(type, 'True', now),
    );
    const containerStatuses = pod.spec.containers.map((container) => ({
      name: container.name,
      image: textAt(container, 'image'),
      imageID: '',
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: now } },
    }));
    return client.mergePatch(PODS, at(namespace, name), {
      lane: 'node',
      signal,
      subresource: 'status',
      patch: {
        metadata: { uid },
        status: { phase: 'Running', startTime: now, conditions, containerStatuses },
      },
    });
  }

  #finalise({ pod, uid }: PodRecord): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const { name, namespace = '' } = pod.metadata;
    const options = { lane: 'node', signal, uid, gracePeriodSeconds: 0 } as const;
    return client.delete(PODS, at(namespace, name), options);
  }
}

function at(namespace: string, name: string): { namespace: string; name: string } {
  return { namespace, name };
}

function nodeOf({ pod }: PodRecord): string {
  return pod.spec.nodeName ?? '';
}

function boundPod(pod: Pod, uid: string): PodRecord | undefined {
  const { nodeName = '', containers } = pod.spec;
  if (nodeName === '') return undefined;
  const { name, namespace, deletionTimestamp, resourceVersion } = pod.metadata;
  return {
    uid,
    isReady: isReady(pod),
    pod: {
      metadata: { name, namespace, uid, deletionTimestamp, resourceVersion },
      spec: { nodeName, containers },
      status: { phase: pod.status?.phase },
    },
  };
}

/** Of a Node or a Pod. */
function isReady(object: unknown): boolean {
  const conditions = asList(valueAt(object, 'status', 'conditions'));
  return conditions.some(
    (one) => textAt(one, 'type') === 'Ready' && textAt(one, 'status') === 'True',
  );
}

function condition(
  type: string,
  status: 'True' | 'False',
  now: string,
  reason?: string,
): Record<string, string> {
  return { type, status, lastTransitionTime: now, ...(reason === undefined ? {} : { reason }) };
}

/** metav1.MicroTime. */
function microTimeText(unixNanos: bigint): string {
  const micros = String((unixNanos / 1_000n) % 1_000_000n).padStart(6, '0');
  return timeText(unixNanos).replace('Z', `.${micros}Z`);
}
