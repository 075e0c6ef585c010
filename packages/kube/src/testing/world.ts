// A test cluster with BigFleet's definitions and a client as a process has one: what the test worlds of
// operator and pod controller share.

import { BigFleetError, type VirtualRuntime } from '@bigfleet/base';
import type { ApiObject } from '../api/answer.ts';
import { KubeClient } from '../api/client.ts';
import { WriteLanes } from '../api/lanes.ts';
import type { ApiServer } from './api-server/index.ts';
import { InMemoryTransport } from './in-memory-transport.ts';
import { createDefinitions, type TestCluster, testCluster } from './test-cluster.ts';

export interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly deletionTimestamp?: string;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

export interface StoredEvent {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

export class TestWorld {
  readonly time: VirtualRuntime;
  readonly server: ApiServer;
  readonly #api: TestCluster;
  #ender = new AbortController();
  #transport: InMemoryTransport | undefined;
  #lanes: WriteLanes | undefined;

  constructor(seed: string) {
    this.#api = testCluster({ seed });
    this.time = this.#api.time;
    this.server = this.#api.server;
    createDefinitions(this.#api);
  }

  /** Of the process that runs now. */
  get signal(): AbortSignal {
    return this.#ender.signal;
  }

  /** Of the process, in the lane of acknowledgements. */
  waitingWrites(): number {
    return this.#lanes?.waitingCount('acknowledge') ?? 0;
  }

  /** One request, answered at once; throws on a refusal. */
  ask(method: string, path: string, body?: unknown, contentType?: string): ApiObject {
    const { status, object } = this.#api.ask(method, path, body, contentType);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(object)}`);
    return object;
  }

  merge(path: string, patch: unknown): void {
    this.ask('PATCH', path, patch, 'application/merge-patch+json');
  }

  get(path: string): StoredObject {
    return this.ask('GET', path) as unknown as StoredObject;
  }

  list(path: string): readonly StoredObject[] {
    return this.ask('GET', path)['items'] as readonly StoredObject[];
  }

  /** Events on objects of the namespace `default`. */
  events(): readonly StoredEvent[] {
    return this.ask('GET', '/api/v1/namespaces/default/events')['items'] as readonly StoredEvent[];
  }

  /** The client of another process, after the one before was killed. */
  protected restarted(fieldManager: string): KubeClient {
    this.kill();
    this.#ender = new AbortController();
    const { runtime } = this.time;
    const transport = new InMemoryTransport({ runtime, server: this.server });
    this.#transport = transport;
    const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
    this.#lanes = lanes;
    return new KubeClient({ runtime, transport, lanes, fieldManager });
  }

  /** Nothing of a killed process reaches the server any more. */
  protected kill(): void {
    this.#transport?.close();
    this.#ender.abort(new BigFleetError('cancelled', 'the process ended'));
  }
}
