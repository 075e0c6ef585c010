// A test API server under virtual time with short ways to ask it, for the tests in this folder.

import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { readdirSync, readFileSync } from 'node:fs';
import { parseYaml } from '@bigfleet/process';
import { asObj, type Obj } from './api-server/json.ts';
import { ApiServer, type ApiServerOptions } from './api-server/server.ts';
import type { Watch } from './api-server/watch.ts';

export interface Reply {
  readonly status: number;
  readonly object: Obj;
}

export interface TestCluster {
  readonly time: VirtualRuntime;
  readonly server: ApiServer;
  /** One request, answered at once. */
  readonly ask: (method: string, path: string, body?: unknown, contentType?: string) => Reply;
  readonly merge: (path: string, patch: unknown) => Reply;
  readonly watch: (path: string) => Watch;
}

export function testCluster(
  options: Partial<ApiServerOptions> & { seed?: string } = {},
): TestCluster {
  const time = createVirtualRuntime({ seed: options.seed ?? '1', drain: drainMicrotasks });
  const server = new ApiServer({ runtime: time.runtime, ...options });
  const ask: TestCluster['ask'] = (method, path, body, contentType) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = server.answer({ method, path, body: text, contentType });
    if (answer.kind !== 'answer') throw new Error(`${method} ${path} is no plain request`);
    const isJson = answer.contentType === 'application/json';
    return {
      status: answer.status,
      object: isJson ? asObj(JSON.parse(answer.text)) : { text: answer.text },
    };
  };
  return {
    time,
    server,
    ask,
    merge: (path, patch) => ask('PATCH', path, patch, 'application/merge-patch+json'),
    watch: (path) => {
      const answer = server.answer({ method: 'GET', path });
      if (answer.kind !== 'watch') throw new Error(`${path} is no watch`);
      return answer.watch;
    },
  };
}

/** What a watch has for its reader now, parsed; an empty list when it has nothing. */
export async function eventsOf(watch: Watch): Promise<{ type: string; object: Obj }[]> {
  const nothing = Promise.resolve().then(() => Promise.resolve(undefined));
  const read = await Promise.race([watch.read(), nothing]);
  if (read?.kind !== 'text') return [];
  return read.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: Obj });
}

const DEFINITIONS = new URL('../../../../api/crd/', import.meta.url);

/** BigFleet's own definitions, created through the API. */
export function createDefinitions({ ask }: Pick<TestCluster, 'ask'>): void {
  for (const file of readdirSync(DEFINITIONS)) {
    if (!file.endsWith('.yaml')) continue;
    const parsed = parseYaml(readFileSync(new URL(file, DEFINITIONS), 'utf8'));
    if (!parsed.ok) throw new Error(parsed.error);
    const { status, object } = ask(
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      parsed.value,
    );
    if (status !== 201) throw new Error(`${file}: ${JSON.stringify(object)}`);
  }
}

export function pod(name: string, more: { labels?: Obj; spec?: Obj; metadata?: Obj } = {}): Obj {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      ...(more.labels === undefined ? {} : { labels: more.labels }),
      ...more.metadata,
    },
    spec: { containers: [{ name: 'main', image: 'app:1' }], ...more.spec },
  };
}

export function capacityRequest(name: string, spec: Obj = {}): Obj {
  return {
    apiVersion: 'bigfleet.lucy.sh/v1alpha1',
    kind: 'CapacityRequest',
    metadata: { name },
    spec: { priority: 5, resources: { cpu: '1' }, ...spec },
  };
}

export const PODS_PATH = '/api/v1/namespaces/default/pods';
export const REQUESTS_PATH = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests';
