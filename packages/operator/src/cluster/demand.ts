// The cluster's CapacityRequests as demand. The index is handed out only once the first full list of
// this process is done: a partial one would be a full replacement that asks the shard to reclaim the
// cluster (kubernetes §3.1). A relist changes the index within one turn, so that a roll-up sees the old
// set or the new one, never a mixture.

import {
  ANNOTATIONS,
  type ApiAnswer,
  type ApiObject,
  CAPACITY_REQUESTS,
  type CapacityRequestSpec,
  type EventSender,
  type KubeClient,
  LABELS,
  type Metadata,
  type ObjectMeta,
  Reflector,
  type ReflectorObserver,
  refusalError,
} from '@bigfleet/kube';
import type { RequestRefusal, Runtime } from '@bigfleet/base';
import type { CapacityRequest, RefusedRequest, RequestRef } from '../rollup/capacity-request.ts';
import { DemandIndex } from '../rollup/demand-index.ts';

const CHORES_AT_ONCE = 16;
/** Until a chore that failed is tried again. */
const CHORE_RETRY_MS = 5_000;

/** What is kept beside the index: enough to take a request out again, and to see open chores. */
interface RequestRecord extends RequestRef {
  readonly hasPhase: boolean;
  readonly isForeign: boolean;
  readonly isMarkedExcluded: boolean;
}

export interface DemandOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly events: EventSender;
  readonly observer: ReflectorObserver<unknown>;
  /** The set is complete, or changed after that. */
  readonly onChange: () => void;
  /** A chore of its own: the stamp of a phase, the annotation of a foreign request. */
  readonly onChore: (chore: Promise<void>) => void;
  readonly signal: AbortSignal;
}

export class Demand {
  readonly reflector: Reflector<RequestRecord>;
  readonly #options: DemandOptions;
  readonly #index = new DemandIndex();
  /** Read, and not yet in the index: a list in progress keeps the old set until its last page. */
  readonly #staged = new Map<string, CapacityRequest>();
  /**
   * Chores that wait, by uid, the last one of each request: a cluster that is met for the first time has a
   * hundred thousand of them, and a write that waits in its lane is much heavier than a line here.
   */
  readonly #waiting = new Map<string, () => Promise<void>>();
  /** One walk for many chores: each new one would begin with the places of all that have gone. */
  #turns: Iterator<[string, () => Promise<void>]> = this.#waiting.entries();
  /** By uid and version: the watch may repeat what led to a chore that is under way. */
  readonly #underWay = new Set<string>();

  constructor(options: DemandOptions) {
    this.#options = options;
    const { runtime, client, observer } = options;
    this.reflector = new Reflector<RequestRecord>({
      runtime,
      client,
      resource: CAPACITY_REQUESTS,
      read: (object, meta) => this.#read(object, meta),
      observer: {
        ...observer,
        upserted: (_key, record, before) => this.#upserted(record, before),
        removed: (_key, record) => this.#removed(record),
        relisted: (reason, differences) => {
          this.#staged.clear();
          observer.relisted?.(reason, differences);
        },
        synced: () => {
          observer.synced?.();
          options.onChange();
          this.#nextChores();
        },
      },
    });
  }

  index(): DemandIndex | undefined {
    return this.reflector.isSynced ? this.#index : undefined;
  }

  async acknowledge(request: RequestRef, signal: AbortSignal): Promise<'acknowledged' | 'gone'> {
    const { runtime, client } = this.#options;
    const ms = Number(runtime.clock.unixNanos() / 1_000_000n);
    const acknowledgedAt = new Date(ms).toISOString().replace(/\.\d+/, '');
    const answer = await client.mergePatch(CAPACITY_REQUESTS, request, {
      lane: 'acknowledge',
      signal,
      subresource: 'status',
      patch: { status: { phase: 'Acknowledged', acknowledgedAt } },
    });
    if (answer.kind === 'ok') return 'acknowledged';
    if (answer.status === 404) return 'gone';
    throw refusalError(answer);
  }

  /** A request that no roll-up will hold: its owner must learn of it, or waits for ever. */
  refused({ request, refusal }: RefusedRequest): void {
    const subject = {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      namespace: request.namespace,
      name: request.name,
      uid: request.uid,
    };
    const text = {
      type: 'Warning',
      reason: eventReason(refusal.reason),
      message: `${refusal.reason}: ${refusal.problem}`,
    } as const;
    this.#options.onChore(this.#options.events.send(subject, text));
  }

  /** The index takes the request in here, while the object is at hand; the record is what is left. */
  #read(object: ApiObject, meta: ObjectMeta): RequestRecord {
    const { labels, annotations } = object['metadata'] as Metadata;
    const status = object['status'] as { readonly phase?: string } | undefined;
    const { namespace, name, uid, resourceVersion } = meta;
    const isForeign = labels?.[LABELS.foreignNode] === 'true';
    const phase = status?.phase ?? '';
    const request: CapacityRequest = {
      namespace,
      name,
      uid,
      resourceVersion,
      spec: object['spec'] as CapacityRequestSpec,
      isForeign,
      // A phase of a newer CRD is somebody's statement that must not be overwritten.
      isAcknowledged: phase !== '' && phase !== 'Pending',
    };
    this.#staged.set(uid, request);
    return {
      namespace,
      name,
      uid,
      resourceVersion,
      hasPhase: phase !== '',
      isForeign,
      isMarkedExcluded: annotations?.[ANNOTATIONS.excluded] !== undefined,
    };
  }

  #upserted(record: RequestRecord, before: RequestRecord | undefined): void {
    if (before !== undefined && before.uid !== record.uid) this.#index.delete(before.uid);
    const request = this.#staged.get(record.uid);
    this.#staged.delete(record.uid);
    if (request !== undefined) this.#index.set(request);
    this.#waiting.delete(record.uid);
    if (!record.hasPhase) this.#chore(record, () => this.#stampPending(record));
    else if (record.isForeign !== record.isMarkedExcluded) {
      this.#chore(record, () => this.#markExcluded(record));
    }
    if (this.reflector.isSynced) this.#options.onChange();
  }

  #removed(record: RequestRecord): void {
    this.#index.delete(record.uid);
    this.#waiting.delete(record.uid);
    if (this.reflector.isSynced) this.#options.onChange();
  }

  #chore(record: RequestRecord, work: () => Promise<ApiAnswer>): void {
    const { uid, resourceVersion } = record;
    const key = `${uid} ${resourceVersion}`;
    if (this.#underWay.has(key)) return;
    this.#waiting.set(uid, async () => {
      this.#underWay.add(key);
      let isDone = false;
      try {
        const answer = await work();
        // Gone or changed, so that its next event brings what is left to do; or not to be had at all.
        isDone = answer.kind === 'ok' || (answer.status < 500 && answer.status !== 429);
        if (!isDone && answer.kind === 'refused') throw refusalError(answer);
      } finally {
        this.#underWay.delete(key);
        if (!isDone) this.#choreLater(record, work);
      }
    });
    this.#nextChores();
  }

  /** No event may come that asks for it again. */
  #choreLater(record: RequestRecord, work: () => Promise<ApiAnswer>): void {
    const { runtime, signal } = this.#options;
    runtime.timers.after(CHORE_RETRY_MS, () => {
      const current = this.reflector.get(`${record.namespace}/${record.name}`);
      const isCurrent = current?.resourceVersion === record.resourceVersion;
      if (!signal.aborted && isCurrent) this.#chore(record, work);
    });
  }

  /** Not beside the first list: a busy server would answer its pages later, and the roll-up waits for them. */
  #nextChores(): void {
    const { signal, onChore } = this.#options;
    // The end fails every write, and each failure would begin the next of a hundred thousand.
    if (!this.reflector.isSynced || signal.aborted) return;
    while (this.#underWay.size < CHORES_AT_ONCE) {
      const work = this.#nextChore();
      if (work === undefined) return;
      onChore(work().finally(() => this.#nextChores()));
    }
  }

  #nextChore(): (() => Promise<void>) | undefined {
    let step = this.#turns.next();
    if (step.done === true) {
      this.#turns = this.#waiting.entries();
      step = this.#turns.next();
    }
    if (step.done === true) return undefined;
    const [uid, work] = step.value;
    this.#waiting.delete(uid);
    return work;
  }

  /** With the version that was seen: whoever wrote a phase in between is right. */
  #stampPending(record: RequestRecord): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    return client.mergePatch(CAPACITY_REQUESTS, record, {
      lane: 'acknowledge',
      signal,
      subresource: 'status',
      patch: {
        metadata: { resourceVersion: record.resourceVersion },
        status: { phase: 'Pending' },
      },
    });
  }

  #markExcluded(record: RequestRecord): Promise<ApiAnswer> {
    const { client, signal } = this.#options;
    const value = record.isForeign ? 'foreign-node' : null;
    return client.mergePatch(CAPACITY_REQUESTS, record, {
      lane: 'acknowledge',
      signal,
      patch: { metadata: { uid: record.uid, annotations: { [ANNOTATIONS.excluded]: value } } },
    });
  }
}

/** `bad_quantity` as Kubernetes writes reasons: `BadQuantity`. */
function eventReason(code: RequestRefusal): string {
  return code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
