// A test API server over HTTP with BigFleet's definitions, and short ways to ask it, for tests of the
// processes that live inside a cluster.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { ApiServer, listen, type ListeningServer } from '@bigfleet/kube/testing';
import { parseYaml } from '@bigfleet/process';
import { createTempDir, eventually, type TempDir } from '../toolkit/index.ts';

const DEFINITIONS = path.join(import.meta.dirname, '..', '..', 'api', 'crd');
export const PATHS = {
  pods: '/api/v1/namespaces/default/pods',
  nodes: '/api/v1/nodes',
  requests: '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests',
  upcomingNodes: '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes',
  hints: '/apis/bigfleet.lucy.sh/v1alpha1/availablecapacities',
  secrets: '/api/v1/namespaces/kube-system/secrets',
  leases: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
} as const;

/** As much of an object as tests look at. */
export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export class KubeApi implements AsyncDisposable {
  readonly server: ApiServer = new ApiServer({ runtime: realRuntime() });
  readonly #folder: TempDir = createTempDir('kube-api');
  #listening: ListeningServer | undefined;
  #port: number | undefined;

  /** Path of a kubeconfig file; good before the server listens, for a port that it had. */
  get kubeconfig(): string {
    return path.join(this.#folder.path, 'kubeconfig');
  }

  async start(options: { readonly withDefinitions?: boolean } = {}): Promise<this> {
    if (options.withDefinitions !== false) this.define();
    await this.listen();
    return this;
  }

  /** BigFleet's three kinds. */
  define(): void {
    for (const file of readdirSync(DEFINITIONS).filter((name) => name.endsWith('.yaml'))) {
      const parsed = parseYaml(readFileSync(path.join(DEFINITIONS, file), 'utf8'));
      if (!parsed.ok) throw new Error(parsed.error);
      this.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', parsed.value);
    }
  }

  /** On the port that it had before, if any. */
  async listen(): Promise<void> {
    this.#listening = await listen({ server: this.server, port: this.#port });
    this.#port = Number(new URL(this.#listening.url).port);
    writeFileSync(this.kubeconfig, this.#listening.kubeconfig());
  }

  /** Connections are cut; what is stored stays. */
  async hangUp(): Promise<void> {
    await this.#listening?.close();
    this.#listening = undefined;
  }

  ask(method: string, target: string, body?: unknown, contentType?: string): Stored {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = this.server.answer({ method, path: target, body: text, contentType });
    if (answer.kind !== 'answer') throw new Error(`${method} ${target} is no plain request`);
    const object = JSON.parse(answer.text) as Stored;
    if (answer.status >= 400) throw new Error(`${method} ${target}: ${answer.text}`);
    return object;
  }

  merge(target: string, patch: unknown): Stored {
    return this.ask('PATCH', target, patch, 'application/merge-patch+json');
  }

  list(collection: string): readonly Stored[] {
    return this.ask('GET', collection)['items'] as readonly Stored[];
  }

  pod(name: string, spec: Readonly<Record<string, unknown>> = {}): Stored {
    return this.ask('POST', PATHS.pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: {
        containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }],
        ...spec,
      },
    });
  }

  /** A request of another writer than the pod controller. */
  request(name: string, spec: Readonly<Record<string, unknown>> = {}): Stored {
    return this.ask('POST', PATHS.requests, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name },
      spec: { priority: 1_000, resources: { cpu: '1' }, ...spec },
    });
  }

  /** Polls until `found` finds something in the collection. */
  eventually<T>(
    what: string,
    collection: string,
    found: (objects: readonly Stored[]) => T | undefined | false,
  ): Promise<T> {
    return eventually(() => found(this.list(collection)), {
      what,
      details: () => JSON.stringify(this.list(collection)),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.hangUp();
    await this.#folder[Symbol.asyncDispose]();
  }
}
