// Requests to one API server. What the server answers is an expected outcome and comes back as a
// value; a server that cannot be reached throws `kube_unreachable`. Writes wait in their lane; a
// request that is safe to repeat is repeated when its connection broke, after a pause, and a create with
// a generated name never is. A 401 reads the credentials again, once.

import {
  Backoff,
  BigFleetError,
  type Random,
  type Runtime,
  runWithDeadline,
  sleep,
} from '@bigfleet/base';
import type { KubeHttpRequest, KubeTransport } from '../transport/transport.ts';
import { type ApiAnswer, type ApiObject, answerOf } from './answer.ts';
import type { WriteLane, WriteLanes } from './lanes.ts';
import { collectionPath, type ObjectName, objectPath, type Resource } from './resource.ts';

export interface ClientOptions {
  readonly runtime: Runtime;
  readonly transport: KubeTransport;
  readonly lanes: WriteLanes;
  /** `fieldManager` of every write. */
  readonly fieldManager: string;
  /** Of one request, its wait in the lane not counted. */
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions {
  readonly lane: WriteLane;
  readonly signal: AbortSignal;
  readonly subresource?: string | undefined;
}

const TIMEOUT_MS = 30_000;
/** A broken connection is tried again this often; the pool may hold several that the server closed. */
const BROKEN_RETRIES = 2;
/** A server that restarts breaks all connections at once; they must not all come back at once. */
const BROKEN_PAUSE = { initialMs: 100, maxMs: 1_000, jitter: 1 };
/** Of a lane whose write was answered 429 without saying for how long. */
const BUSY_PAUSE_SECONDS = 1;
const MERGE_PATCH = 'application/merge-patch+json';

export class KubeClient {
  readonly #options: ClientOptions;
  readonly #random: Random;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#random = options.runtime.random.stream('kube client');
  }

  get transport(): KubeTransport {
    return this.#options.transport;
  }

  get(resource: Resource, object: ObjectName, signal: AbortSignal): Promise<ApiAnswer> {
    return this.#read(objectPath(resource, object), signal);
  }

  /** What the server says of itself: `gitVersion` and its like. */
  version(signal: AbortSignal): Promise<ApiAnswer> {
    return this.#read('/version', signal);
  }

  /** One page; `query` holds limit, continue and selectors. */
  list(resource: Resource, query: ListQuery, signal: AbortSignal): Promise<ApiAnswer> {
    const { namespace = '', ...rest } = query;
    return this.#read(`${collectionPath(resource, namespace)}${queryText(rest)}`, signal);
  }

  async create(resource: Resource, body: NamedBody, options: WriteOptions): Promise<ApiAnswer> {
    const { namespace = '', name } = body.metadata;
    const target =
      options.subresource === undefined || name === undefined
        ? collectionPath(resource, namespace)
        : objectPath(resource, { namespace, name }, options.subresource);
    // With a fixed name a repeated create is answered AlreadyExists; a generated one would be doubled.
    return this.#write('POST', target, { ...options, body, isRepeatable: name !== undefined });
  }

  mergePatch(
    resource: Resource,
    object: ObjectName,
    options: WriteOptions & { readonly patch: ApiObject },
  ): Promise<ApiAnswer> {
    const target = objectPath(resource, object, options.subresource);
    return this.#write('PATCH', target, {
      ...options,
      body: options.patch,
      contentType: MERGE_PATCH,
      isRepeatable: true,
    });
  }

  /** With the body's resourceVersion: a change in between is answered 409. */
  replace(
    resource: Resource,
    body: NamedBody & { readonly metadata: { readonly name: string } },
    options: WriteOptions,
  ): Promise<ApiAnswer> {
    const { namespace = '', name } = body.metadata;
    const target = objectPath(resource, { namespace, name }, options.subresource);
    return this.#write('PUT', target, { ...options, body, isRepeatable: true });
  }

  /** With `uid`, only that object: one of the same name that came later stays. */
  delete(
    resource: Resource,
    object: ObjectName,
    options: WriteOptions & {
      readonly uid?: string | undefined;
      readonly resourceVersion?: string | undefined;
      readonly gracePeriodSeconds?: number | undefined;
    },
  ): Promise<ApiAnswer> {
    const { uid, resourceVersion, gracePeriodSeconds } = options;
    const body = {
      ...(uid === undefined ? {} : { preconditions: { uid, resourceVersion } }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    };
    return this.#write('DELETE', objectPath(resource, object), {
      ...options,
      body,
      isRepeatable: true,
    });
  }

  async #read(path: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.#repeat(true, { method: 'GET', path, signal });
  }

  async #write(
    method: KubeHttpRequest['method'],
    path: string,
    options: WriteOptions & {
      readonly body: unknown;
      readonly contentType?: string;
      readonly isRepeatable: boolean;
    },
  ): Promise<ApiAnswer> {
    const { lanes, fieldManager } = this.#options;
    const { lane, signal, contentType, isRepeatable } = options;
    const body = JSON.stringify(options.body);
    await lanes.enter(lane, signal);
    const manager = method === 'DELETE' ? '' : queryText({ fieldManager });
    const order = { method, path: path + manager, contentType, body, signal };
    const answer = await this.#repeat(isRepeatable, order);
    // 429 to an eviction is a disruption budget that holds, and says nothing about the server's load.
    if (answer.kind === 'refused' && answer.status === 429 && lane !== 'eviction') {
      lanes.pause(lane, (answer.retryAfterSeconds ?? BUSY_PAUSE_SECONDS) * 1000);
    }
    return answer;
  }

  async #repeat(isRepeatable: boolean, order: KubeHttpRequest): Promise<ApiAnswer> {
    const { runtime } = this.#options;
    const pause = new Backoff(this.#random, BROKEN_PAUSE);
    for (let left = isRepeatable ? BROKEN_RETRIES : 0; ; left--) {
      try {
        return await this.#once(order);
      } catch (error) {
        if (left <= 0 || !isBrokenConnection(error)) throw error;
        await sleep(runtime, pause.nextMs(), order.signal);
      }
    }
  }

  async #once(order: KubeHttpRequest): Promise<ApiAnswer> {
    const { runtime, transport, timeoutMs = TIMEOUT_MS } = this.#options;
    return runWithDeadline(runtime, { ms: timeoutMs, parent: order.signal }, async (signal) => {
      const first = await transport.send({ ...order, signal });
      if (first.status !== 401) return answerOf(first);
      first.destroy();
      transport.refreshCredentials();
      return answerOf(await transport.send({ ...order, signal }));
    });
  }
}

export interface ListQuery {
  readonly namespace?: string | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly labelSelector?: string | undefined;
}

export interface NamedBody extends ApiObject {
  readonly metadata: {
    readonly name?: string | undefined;
    readonly namespace?: string | undefined;
    readonly [key: string]: unknown;
  };
}

export function queryText(
  query: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function isBrokenConnection(error: unknown): boolean {
  return error instanceof BigFleetError && error.code === 'kube_unreachable';
}
