// Pods that come, change, end and go, and what the pod controller owes them: one request for each Pod that is
// alive, with the fields of that Pod, and none for any other.

import assert from 'node:assert/strict';
import { eventually, HANG_MS } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import type { ControlPlane } from './control-plane.ts';
import { listAll, type Stored } from './demand.ts';

const OWNED_BY_POD = 'bigfleet.lucy.sh/owned-by-pod';
const PENALTY = 'bigfleet.lucy.sh/interruption-penalty';
const AT_ONCE = 16;

export function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

export function requestsPath(namespace: string): string {
  return `/apis/bigfleet.lucy.sh/v1alpha1/namespaces/${namespace}/capacityrequests`;
}

/** A bounded number at a time. */
export async function each<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnce: number = AT_ONCE,
): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Asks for an own amount, so that a sum tells which Pods are in it. */
export function pod(name: string, cpuMillis: number, more: Json = {}): Json {
  const resources = { requests: { cpu: `${cpuMillis}m` } };
  return {
    metadata: { name, annotations: { [PENALTY]: '1' } },
    spec: { containers: [{ name: 'main', image: 'app:1', resources }], ...more },
  };
}

/** Waits until the requests of the namespace are those of its Pods; returns them. */
export async function oneRequestPerPod(
  plane: ControlPlane,
  namespace: string,
): Promise<readonly Stored[]> {
  let problem = '';
  return eventually(
    async () => {
      const pods = await listAll(plane.admin, podsPath(namespace));
      const requests = await listAll(plane.admin, requestsPath(namespace));
      problem = problemOf(pods, requests) ?? '';
      return problem === '' && requests;
    },
    {
      what: 'one request for each living Pod',
      everyMs: 500,
      withinMs: 5 * HANG_MS,
      details: () => problem,
    },
  );
}

function problemOf(pods: readonly Stored[], requests: readonly Stored[]): string | undefined {
  const byPod = Map.groupBy(requests, ({ metadata }) => metadata.labels?.[OWNED_BY_POD] ?? '');
  for (const { metadata, spec, status } of pods) {
    const found = byPod.get(metadata.uid) ?? [];
    const phase = status?.['phase'];
    const isAlive = phase !== 'Succeeded' && phase !== 'Failed';
    if (found.length !== (isAlive ? 1 : 0)) {
      return `${metadata.name} (${String(phase)}) has ${found.length} requests`;
    }
    byPod.delete(metadata.uid);
    for (const request of found) {
      const wanted = metadata.annotations?.[PENALTY];
      if (request.spec['interruptionPenalty'] !== wanted) {
        return `${metadata.name}: penalty ${String(request.spec['interruptionPenalty'])}, not ${wanted}`;
      }
      const { resources } = (spec['containers'] as { resources: { requests: Json } }[])[0] ?? {};
      if (JSON.stringify(request.spec['resources']) !== JSON.stringify(resources?.requests)) {
        return `${metadata.name}: ${JSON.stringify(request.spec['resources'])}`;
      }
    }
  }
  const [left] = byPod.values();
  return left === undefined ? undefined : `${left[0]?.metadata.name} belongs to no Pod`;
}

/** Pods of one namespace that are made, changed, ended and removed, wave by wave. */
export class Waves {
  readonly #plane: ControlPlane;
  readonly #namespace: string;
  #wave = 0;

  constructor(plane: ControlPlane, namespace: string) {
    this.#plane = plane;
    this.#namespace = namespace;
  }

  /**
   * Every kind of change at once: new Pods; of those of the wave before, a quarter changes, a quarter ends, a
   * quarter goes, and a quarter loses its request to somebody else's mistake.
   */
  async next(count: number): Promise<void> {
    const { admin } = this.#plane;
    const path = podsPath(this.#namespace);
    const before = this.#wave;
    this.#wave += 1;
    const names = Array.from({ length: count }, (_, at) => at);
    await each(names, (at) =>
      admin.must(admin.create(path, pod(`p-${this.#wave}-${at}`, this.#wave * 100 + at))),
    );
    if (before === 0) return;
    const requests = await listAll(admin, requestsPath(this.#namespace));
    await each(names, async (at) => {
      const name = `p-${before}-${at}`;
      switch (at % 4) {
        case 0:
          return admin.must(
            admin.merge(`${path}/${name}`, {
              metadata: { annotations: { [PENALTY]: String(this.#wave) } },
            }),
          );
        case 1:
          return admin.must(
            admin.merge(`${path}/${name}/status`, { status: { phase: 'Succeeded' } }),
          );
        case 2:
          return admin.must(admin.delete(`${path}/${name}`, { gracePeriodSeconds: 0 }));
        default: {
          const prefix = `cr-pod-${name}-`;
          const request = requests.find(({ metadata }) => metadata.name.startsWith(prefix));
          // Not there yet: then it has to come all the same.
          if (request === undefined) return undefined;
          const { status } = await admin.delete(
            `${requestsPath(this.#namespace)}/${request.metadata.name}`,
          );
          return assert.ok(status === 200 || status === 404);
        }
      }
    });
  }
}
