// One CapacityRequest per Pod for the Pod's whole life (kubernetes §5): a source that wrote requests for
// waiting Pods only would leave the demand of all running ones uncounted, and the fleet would be
// reclaimed and bought in circles. Requests are known before the first Pod is looked at, a create has
// the same name at every attempt, and what was written counts as seen until the watch shows it: two
// requests for one Pod would buy it twice.

import { type Runtime, sleep } from '@bigfleet/base';
import {
  ANNOTATIONS,
  type ApiAnswer,
  type ApiObject,
  type ApiRefusal,
  type CapacityRequestSpec,
  CAPACITY_REQUESTS,
  describeRefusal,
  EventSender,
  type KubeClient,
  LABELS,
  type Metadata,
  metaOf,
  type NamedBody,
  NODES,
  type Pod,
  PODS,
  Reflector,
  type ReflectorFailure,
  refusalError,
  schemaWatch,
  type UpcomingNodeStatus,
  UPCOMING_NODES,
} from '@bigfleet/kube';
import { durationSeconds } from '@bigfleet/telemetry';
import {
  changedFields,
  deriveSpec,
  fieldHashes,
  type PodWarning,
  type RequestObject,
  requestObject,
} from '../derive/derive.ts';
import { nextStep, type PodStep } from './decide.ts';
import { ForeignNodes } from './foreign-nodes.ts';
import {
  demandOf,
  type NodeRecord,
  type PodRecord,
  type PodRules,
  readNode,
  readPod,
  readRequest,
  type RequestRecord,
} from './records.ts';
import { WorkQueue } from './work-queue.ts';

export const OUTCOMES = [
  'cr_created',
  'cr_exists',
  'cr_updated',
  'pod_gone',
  'pod_terminal',
  'excluded',
  'duplicate_deleted',
  'foreign_marked',
  'foreign_cleared',
  'error',
] as const;

export type Outcome = (typeof OUTCOMES)[number];

export interface PodControllerOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly rules: PodRules;
  readonly hooks: PodControllerHooks;
}

/** What the process tells its owner. */
export interface PodControllerHooks {
  reconciled(outcome: Outcome): void;
  /** One step that wrote, from its turn to the server's answer. */
  performed(startMs: number, seconds: number): void;
  created(pod: string, request: string): void;
  /** The stamp of a new request failed; the operator stamps it too. */
  pendingFailed(request: string, problem: string): void;
  failed(pod: string, problem: string): void;
  reflectorFailed(resource: string, failure: ReflectorFailure): void;
}

interface Reflectors {
  readonly requests: Reflector<RequestRecord>;
  readonly pods: Reflector<PodRecord>;
  readonly nodes: Reflector<NodeRecord>;
  /** The node that each UpcomingNode names; empty while it names none. */
  readonly upcoming: Reflector<string>;
}

/** The request that a Pod should have. */
interface Wanted {
  readonly podUid: string;
  readonly object: RequestObject;
  readonly warnings: readonly PodWarning[];
}

const CONCURRENCY = 16;
const STOP_GRACE_MS = 5_000;
/** A watch is this late rarely; a request that it never showed is asked for by name. */
const UNSEEN_MS = 30_000;
/** Derived specs of Pods that wait for their request; a Pod beyond these is read again. */
const MAX_FRESH = 5_000;

export class PodController {
  readonly #options: PodControllerOptions;
  readonly #fresh = new Map<string, Wanted>();
  /** By Pod uid; from the watch, or written and not yet seen there. */
  readonly #requests = new Map<string, readonly RequestRecord[]>();
  /** Written by us and not yet in the watch, by key, with the time of the write. */
  readonly #unseen = new Map<
    string,
    { readonly record: RequestRecord; readonly sinceMs: number }
  >();
  readonly #foreign: ForeignNodes;
  readonly #reflectors: Reflectors;
  #queue: WorkQueue | undefined;
  #events: EventSender | undefined;

  constructor(options: PodControllerOptions) {
    this.#options = options;
    this.#foreign = new ForeignNodes({
      runtime: options.runtime,
      areComplete: () => this.#reflectors.nodes.isSynced && this.#reflectors.upcoming.isSynced,
      onChange: (nodeName) => this.#nodeJudgedAnew(nodeName),
    });
    this.#reflectors = this.#makeReflectors();
  }

  /** All collections had their first full list. */
  get isSynced(): boolean {
    return this.unsynced().length === 0;
  }

  /** Collections whose first full list is not complete. */
  unsynced(): readonly string[] {
    const { requests, pods, nodes, upcoming } = this.#reflectors;
    const collections = { capacityrequests: requests, pods, nodes, upcomingnodes: upcoming };
    return Object.entries(collections).flatMap(([name, { isSynced }]) => (isSynced ? [] : [name]));
  }

  get waitingCount(): number {
    return this.#queue?.size ?? 0;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, runtime, hooks } = this.#options;
    this.#events = new EventSender({
      client,
      clock: runtime.clock,
      component: 'bigfleet-unschedulable-pod-controller',
      signal,
    });
    this.#queue = new WorkQueue({
      runtime,
      signal,
      concurrency: CONCURRENCY,
      work: (key, until) => this.#reconcile(key, until),
      onFailure: (key, thrown) => {
        hooks.reconciled('error');
        hooks.failed(key, thrown instanceof Error ? thrown.message : String(thrown));
      },
    });
    const { requests, pods, nodes, upcoming } = this.#reflectors;
    signal.addEventListener('abort', () => this.#foreign.close(), { once: true });
    const schema = schemaWatch({
      runtime,
      client,
      resource: CAPACITY_REQUESTS,
      changed: () => requests.relist('schema'),
      failed: (failure) => hooks.reflectorFailed('customresourcedefinitions', failure),
    });
    const watches = [requests, pods, nodes, upcoming, schema].map((reflector) =>
      reflector.run(signal),
    );
    const asking = this.#askForUnseen(signal);
    await Promise.race([Promise.all([...watches, asking]), this.#queue.failed]);
    // A write under way is let finish: the next process would find it half done.
    await Promise.race([this.#queue.settled(STOP_GRACE_MS), this.#queue.failed]);
  }

  // ── what the watches tell ───────────────────────────────────────────────────────────────

  #makeReflectors(): Reflectors {
    const { runtime, client, rules, hooks } = this.#options;
    const failed = (resource: string) => (failure: ReflectorFailure) =>
      hooks.reflectorFailed(resource, failure);
    return {
      requests: new Reflector({
        runtime,
        client,
        resource: CAPACITY_REQUESTS,
        read: readRequest,
        observer: {
          upserted: (key, record) => {
            this.#unseen.delete(key);
            this.#requestSeen(record);
          },
          removed: (_key, record) => this.#requestGone(record),
          synced: () => this.#lookAtAllPods(),
          failed: failed('capacityrequests'),
        },
      }),
      pods: new Reflector({
        runtime,
        client,
        resource: PODS,
        read: (object) => this.#podRead(object, rules),
        observer: {
          upserted: (key) => this.#look(key),
          removed: (key) => this.#fresh.delete(key),
          synced: () => this.#lookAtAllPods(),
          failed: failed('pods'),
        },
      }),
      nodes: new Reflector({
        runtime,
        client,
        resource: NODES,
        read: readNode,
        observer: {
          upserted: (name, node) => this.#foreign.nodeChanged(name, node),
          removed: (name) => this.#foreign.nodeGone(name),
          synced: () => this.#lookAtAllPods(),
          failed: failed('nodes'),
        },
      }),
      upcoming: new Reflector({
        runtime,
        client,
        resource: UPCOMING_NODES,
        read: nodeNamedBy,
        observer: {
          upserted: (key, nodeName) => this.#foreign.upcomingChanged(key, nodeName),
          removed: (key) => this.#foreign.upcomingChanged(key, ''),
          synced: () => this.#lookAtAllPods(),
          failed: failed('upcomingnodes'),
        },
      }),
    };
  }

  /** The spec of a Pod without a request is kept until the request is written. */
  #podRead(object: ApiObject, rules: PodRules): PodRecord {
    const record = readPod(object, rules);
    const isNew = record.demand === 'one' && !this.#requests.has(record.uid);
    if (isNew && this.#fresh.size < MAX_FRESH) {
      this.#fresh.set(podKey(record), wantedOf(object as unknown as Pod, rules));
    }
    return record;
  }

  #requestSeen(record: RequestRecord): void {
    const others = this.#requestsOf(record.podUid).filter(({ name }) => name !== record.name);
    this.#requests.set(record.podUid, [...others, record]);
    this.#look(podKeyOf(record));
  }

  #requestGone(record: RequestRecord): void {
    const others = this.#requestsOf(record.podUid).filter(({ name }) => name !== record.name);
    if (others.length === 0) this.#requests.delete(record.podUid);
    else this.#requests.set(record.podUid, others);
    this.#look(podKeyOf(record));
  }

  #requestsOf(podUid: string): readonly RequestRecord[] {
    return this.#requests.get(podUid) ?? [];
  }

  /** Only Pods on the node: a node changes its owner rarely, so that a pass over all is cheap. */
  #nodeJudgedAnew(nodeName: string): void {
    if (!this.isSynced) return;
    for (const pod of this.#reflectors.pods.records()) {
      if (pod.nodeName === nodeName) this.#look(podKey(pod));
    }
  }

  #lookAtAllPods(): void {
    for (const pod of this.#reflectors.pods.records()) this.#look(podKey(pod));
  }

  /** Most looks find nothing to do; only the others are queued. */
  #look(key: string): void {
    const { requests, pods } = this.#reflectors;
    if (!requests.isSynced || !pods.isSynced) return;
    const step = this.#stepFor(key);
    // Whose node it runs on is not known yet: a first start in a cluster with static nodes would ask the
    // fleet for everything that runs on them. It has its place, so that its request can wait.
    const isEarly = step?.kind === 'create' && !this.isSynced && this.#isBound(key);
    if (isEarly) return;
    if (step !== undefined && step.kind !== 'nothing') this.#queue?.add(key);
    else this.#options.hooks.reconciled(step?.outcome ?? 'pod_gone');
  }

  #isBound(key: string): boolean {
    return (this.#reflectors.pods.get(key)?.nodeName ?? '') !== '';
  }

  #stepFor(key: string): PodStep | undefined {
    const pod = this.#reflectors.pods.get(key);
    if (pod === undefined) return undefined;
    const requests = this.#requestsOf(pod.uid);
    return nextStep({ pod, requests, isForeign: this.#foreign.isForeign(pod.nodeName) });
  }

  // ── what is done about it ───────────────────────────────────────────────────────────────

  async #reconcile(key: string, signal: AbortSignal): Promise<void> {
    const step = this.#stepFor(key);
    const pod = this.#reflectors.pods.get(key);
    if (step === undefined || pod === undefined || step.kind === 'nothing') return;
    const { runtime, hooks } = this.#options;
    const startMs = runtime.clock.monotonicMs();
    const outcome = await this.#perform(step, pod, signal);
    hooks.performed(startMs, durationSeconds(startMs, runtime.clock.monotonicMs()));
    hooks.reconciled(outcome);
    // A Pod may need more than one step: a duplicate deleted, then an update. One that is gone is only
    // waited for: the watch has not said so yet, and asking again would ask for ever.
    if (outcome !== 'pod_gone') this.#queue?.add(key);
  }

  #perform(
    step: Exclude<PodStep, { kind: 'nothing' }>,
    pod: PodRecord,
    signal: AbortSignal,
  ): Promise<Outcome> {
    switch (step.kind) {
      case 'create':
        return this.#create(pod, step.isForeign, signal);
      case 'delete':
        return this.#delete(step.request, step.outcome, signal);
      case 'update':
        return this.#update(step.request, pod, signal);
      case 'mark':
        return this.#mark(step.request, step.isForeign, signal);
    }
  }

  async #create(pod: PodRecord, isForeign: boolean, signal: AbortSignal): Promise<Outcome> {
    const { client, hooks } = this.#options;
    const wanted = await this.#wanted(pod, signal);
    if (wanted === undefined) return 'pod_gone';
    const object = isForeign ? markedForeign(wanted.object) : wanted.object;
    const answer = await client.create(CAPACITY_REQUESTS, object, { lane: 'demand', signal });
    if (answer.kind === 'ok') {
      this.#fresh.delete(podKey(pod));
      this.#written(answer.object);
      hooks.created(podKey(pod), object.metadata.name);
      await this.#stampPending(answer.object, signal);
      await this.#warn(pod, wanted.warnings);
      return 'cr_created';
    }
    // Created before, and not seen in the watch yet: an answer that was lost, or another replica.
    if (answer.reason === 'AlreadyExists') return this.#adopt(object.metadata, signal);
    if (isVerdict(answer)) {
      const message = `no capacity is asked for: ${describeRefusal(answer)}`;
      await this.#warn(pod, [{ reason: 'CapacityRequestRefused', message }]);
    }
    // 404 too: the CRD or the namespace is missing, and may come.
    throw refusalError(answer);
  }

  /** From the Pod as it is now, when it was not kept; undefined when it has no demand any more. */
  async #wanted(pod: PodRecord, signal: AbortSignal): Promise<Wanted | undefined> {
    const { client, rules } = this.#options;
    const fresh = this.#fresh.get(podKey(pod));
    if (fresh?.podUid === pod.uid) return fresh;
    const answer = await client.get(PODS, pod, signal);
    if (answer.kind === 'refused') {
      if (answer.status === 404) return undefined;
      throw refusalError(answer);
    }
    const whole = answer.object as unknown as Pod;
    const isOurs = whole.metadata.uid === pod.uid && demandOf(whole, rules) === 'one';
    return isOurs ? wantedOf(whole, rules) : undefined;
  }

  async #adopt(
    { namespace, name }: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const answer = await this.#options.client.get(CAPACITY_REQUESTS, { namespace, name }, signal);
    if (answer.kind === 'refused') throw refusalError(answer);
    this.#written(answer.object);
    return 'cr_exists';
  }

  /** With the version that was created: an acknowledgement in between wins, and is not undone. */
  async #stampPending(request: ApiObject, signal: AbortSignal): Promise<void> {
    const meta = metaOf(request);
    if (meta === undefined) return;
    const answer = await this.#options.client.mergePatch(CAPACITY_REQUESTS, meta, {
      lane: 'demand',
      signal,
      subresource: 'status',
      patch: {
        metadata: { resourceVersion: meta.resourceVersion },
        status: { phase: 'Pending' },
      },
    });
    if (answer.kind === 'refused' && answer.status !== 409) {
      this.#options.hooks.pendingFailed(meta.key, describeRefusal(answer));
    }
  }

  async #delete(request: RequestRecord, outcome: Outcome, signal: AbortSignal): Promise<Outcome> {
    const answer = await this.#options.client.delete(CAPACITY_REQUESTS, request, {
      lane: 'demand',
      signal,
      uid: request.uid,
    });
    // 409: another object of that name; the watch will show it.
    if (answer.kind === 'refused' && answer.status !== 404 && answer.status !== 409) {
      throw refusalError(answer);
    }
    this.#requestGone(request);
    return outcome;
  }

  async #update(request: RequestRecord, pod: PodRecord, signal: AbortSignal): Promise<Outcome> {
    const wanted = await this.#wanted(pod, signal);
    if (wanted === undefined) return 'pod_gone';
    const { client } = this.#options;
    const current = await client.get(CAPACITY_REQUESTS, request, signal);
    if (current.kind === 'refused') {
      this.#settle(current, request);
      return 'cr_exists';
    }
    const body = withChanges(current.object as unknown as StoredRequest, wanted.object.spec);
    const answer = await client.replace(CAPACITY_REQUESTS, body, { lane: 'demand', signal });
    this.#settle(answer, request);
    this.#fresh.delete(podKey(pod));
    await this.#warn(pod, wanted.warnings);
    return 'cr_updated';
  }

  async #mark(request: RequestRecord, isForeign: boolean, signal: AbortSignal): Promise<Outcome> {
    const answer = await this.#options.client.mergePatch(CAPACITY_REQUESTS, request, {
      lane: 'demand',
      signal,
      patch: {
        metadata: { uid: request.uid, labels: { [LABELS.foreignNode]: isForeign ? 'true' : null } },
      },
    });
    this.#settle(answer, request);
    return isForeign ? 'foreign_marked' : 'foreign_cleared';
  }

  /** What was written counts as seen, and what was not found as gone: the watch may lag behind. */
  #settle(answer: ApiAnswer, request: RequestRecord): void {
    if (answer.kind === 'ok') this.#written(answer.object);
    else if (answer.status === 404) this.#requestGone(request);
    else throw refusalError(answer);
  }

  #written(object: ApiObject): void {
    const meta = metaOf(object);
    const record = meta === undefined ? undefined : readRequest(object, meta);
    if (meta === undefined || record === undefined) return;
    if (this.#reflectors.requests.get(meta.key) === undefined) {
      const sinceMs = this.#options.runtime.clock.monotonicMs();
      this.#unseen.set(meta.key, { record, sinceMs });
    }
    this.#requestSeen(record);
  }

  /**
   * A request that somebody deleted before the watch showed it, while the watch was down or before our
   * write was answered, is in no event and in no list: its Pod would be without one for ever.
   */
  async #askForUnseen(signal: AbortSignal): Promise<void> {
    const { runtime, client, hooks } = this.#options;
    while (!signal.aborted) {
      await sleep(runtime, UNSEEN_MS, signal).catch(() => undefined);
      const before = runtime.clock.monotonicMs() - UNSEEN_MS;
      for (const [key, { record, sinceMs }] of this.#unseen) {
        if (sinceMs > before || signal.aborted) continue;
        const answer = await client.get(CAPACITY_REQUESTS, record, signal).catch(() => undefined);
        // A server that cannot be reached is told of by the watches.
        if (answer?.kind !== 'refused') continue;
        if (answer.status !== 404) hooks.failed(podKeyOf(record), describeRefusal(answer));
        else if (this.#unseen.delete(key)) this.#requestGone(record);
      }
    }
  }

  async #warn(pod: PodRecord, warnings: readonly EventWarning[]): Promise<void> {
    const { namespace, name, uid } = pod;
    const subject = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    for (const warning of warnings) {
      await this.#events?.send(subject, { type: 'Warning', ...warning });
    }
  }
}

/** For the owner of a Pod. */
interface EventWarning {
  readonly reason: PodWarning['reason'] | 'CapacityRequestRefused';
  readonly message: string;
}

/**
 * The API server found the request itself wrong, so that a repetition alone will not help: the CRD of
 * the cluster has another schema, or a quota or an admission plugin forbids it. Its Pod waits for
 * capacity that nobody asks for.
 */
function isVerdict({ status }: ApiRefusal): boolean {
  return status === 400 || status === 403 || status === 413 || status === 422;
}

interface StoredRequest extends NamedBody {
  readonly metadata: Metadata & { readonly [key: string]: unknown };
  readonly spec: CapacityRequestSpec;
}

/** A whole replacement: a merge would keep resources that the Pod no longer asks for. */
function withChanges(stored: StoredRequest, spec: CapacityRequestSpec): StoredRequest {
  const { annotations } = stored.metadata;
  const changed = changedFields(spec, annotations?.[ANNOTATIONS.derived]) ?? {};
  return {
    ...stored,
    metadata: {
      ...stored.metadata,
      annotations: { ...annotations, [ANNOTATIONS.derived]: fieldHashes(spec) },
    },
    spec: { ...stored.spec, ...changed },
  };
}

/** From its first moment: a mark that came later would let a roll-up count it. */
function markedForeign(object: RequestObject): RequestObject {
  const labels = { ...object.metadata.labels, [LABELS.foreignNode]: 'true' };
  return { ...object, metadata: { ...object.metadata, labels } };
}

function wantedOf(pod: Pod, rules: PodRules): Wanted {
  const derived = deriveSpec(pod, rules.classes);
  const { warnings } = derived;
  return { podUid: pod.metadata.uid, object: requestObject(pod, derived), warnings };
}

function nodeNamedBy(object: ApiObject): string {
  const status = object['status'] as UpcomingNodeStatus | undefined;
  return status?.nodeRef?.name ?? '';
}

function podKey({ namespace, name }: PodRecord): string {
  return `${namespace}/${name}`;
}

function podKeyOf({ namespace, podName }: RequestRecord): string {
  return `${namespace}/${podName}`;
}
