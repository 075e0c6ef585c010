// A cluster on the test API server with the production controller, under virtual time.

import { BigFleetError, type VirtualRuntime } from '@bigfleet/base';
import { type ApiObject, KubeClient, WriteLanes } from '@bigfleet/kube';
import {
  type ApiServer,
  createDefinitions,
  InMemoryTransport,
  PODS_PATH,
  REQUESTS_PATH,
  type TestCluster,
  testCluster,
} from '@bigfleet/kube/testing';
import { type Outcome, PodController } from '../controller.ts';
import type { PodRules } from '../records.ts';

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

export class World {
  readonly time: VirtualRuntime;
  readonly server: ApiServer;
  readonly outcomes: Map<Outcome, number> = new Map();
  readonly failures: string[] = [];
  readonly rules: PodRules;
  readonly #api: TestCluster;
  #ender = new AbortController();
  #transport: InMemoryTransport | undefined;
  #running: Promise<void> | undefined;

  constructor(seed: string, rules: Partial<PodRules> = {}) {
    this.#api = testCluster({ seed });
    this.time = this.#api.time;
    this.server = this.#api.server;
    this.rules = {
      classes: new Map(),
      daemonSetPods: 'count',
      excludedNamespaces: new Set(),
      ...rules,
    };
    createDefinitions(this.#api);
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

  list(path: string): readonly StoredObject[] {
    return this.ask('GET', path)['items'] as readonly StoredObject[];
  }

  pod(name: string, more: { spec?: object; metadata?: object } = {}): void {
    this.ask('POST', PODS_PATH, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...more.metadata },
      spec: {
        containers: [{ name: 'c', image: 'a', resources: { requests: { cpu: '1' } } }],
        ...more.spec,
      },
    });
  }

  bind(pod: string, node: string): void {
    this.ask('POST', `${PODS_PATH}/${pod}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod },
      target: { kind: 'Node', name: node },
    });
  }

  node(name: string, labels: Readonly<Record<string, string>> = {}): void {
    this.ask('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
    });
  }

  finish(pod: string, phase: 'Succeeded' | 'Failed' = 'Succeeded'): void {
    this.merge(`${PODS_PATH}/${pod}/status`, { status: { phase } });
  }

  requests(): readonly StoredObject[] {
    return this.list(REQUESTS_PATH);
  }

  /** Another process with the same rules, after the one before was killed. */
  restart(): void {
    // Nothing of a killed process reaches the server any more.
    this.#transport?.close();
    this.#ender.abort(new BigFleetError('cancelled', 'killed'));
    this.#ender = new AbortController();
    const { runtime } = this.time;
    const transport = new InMemoryTransport({ runtime, server: this.server });
    this.#transport = transport;
    const lanes = new WriteLanes({ runtime, qps: 50, burst: 100 });
    const client = new KubeClient({ runtime, transport, lanes, fieldManager: 'bigfleet-upc' });
    const controller = new PodController({
      runtime,
      client,
      rules: this.rules,
      hooks: {
        performed: () => undefined,
        reconciled: (outcome) => this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1),
        created: () => {},
        pendingFailed: (request, problem) => this.failures.push(`${request}: ${problem}`),
        failed: (pod, problem) => this.failures.push(`${pod}: ${problem}`),
        reflectorFailed: () => {},
      },
    });
    this.#running = controller.run(this.#ender.signal);
  }

  async stop(): Promise<void> {
    this.#ender.abort(new BigFleetError('cancelled', 'the test is over'));
    await this.#running;
  }
}
