// The disruption controller: keeps the status of PodDisruptionBudgets, from which evictions are allowed.
// A Pod is healthy when it is Ready, not ending and not promised to an eviction. Percentages, and every
// maxUnavailable, count against the scale that the Pods' controllers want.

import type { Runtime, Timer } from '@bigfleet/base';
import {
  asList,
  asNumber,
  asObj,
  asText,
  at,
  isEqual,
  metaOf,
  type Obj,
  textAt,
  textMap,
} from './json.ts';
import { keyOf, type ObjectPlace, type Objects } from './objects.ts';
import { matchesSelector } from './selectors.ts';
import type { Change } from './store.ts';
import { allowedCondition, isReady, setCondition } from './subresources.ts';
import { WorkQueue } from './work-queue.ts';

const BUDGETS = 'policy/poddisruptionbudgets';
const PODS = '/pods';
const SCALES = new Set([
  'apps/deployments',
  'apps/replicasets',
  'apps/statefulsets',
  '/replicationcontrollers',
]);
/** A promised eviction that did not happen is forgotten after this. */
const DISRUPTED_MS = 120_000;

export class DisruptionController {
  readonly #runtime: Runtime;
  readonly #objects: Objects;
  readonly #queue: WorkQueue;
  readonly #rechecks = new Map<string, Timer>();

  constructor(runtime: Runtime, objects: Objects, delayMs: number) {
    this.#runtime = runtime;
    this.#objects = objects;
    this.#queue = new WorkQueue({ runtime, delayMs, work: (key) => this.#sync(key) });
  }

  stop(): void {
    this.#queue.stop();
    for (const timer of this.#rechecks.values()) timer.cancel();
    this.#rechecks.clear();
  }

  follow({ collection, key, before, after }: Change): void {
    if (collection === BUDGETS) this.#queue.add(key);
    else if (SCALES.has(collection)) this.#wake(key.slice(0, key.indexOf('/') + 1), undefined);
    else if (collection === PODS) {
      const namespace = key.slice(0, key.indexOf('/') + 1);
      this.#wake(namespace, [before?.object, after.object]);
    }
  }

  #wake(namespace: string, pods: readonly (Obj | undefined)[] | undefined): void {
    for (const [key, { object }] of this.#objects.store.range(BUDGETS, namespace)) {
      const selector = at(object, 'spec', 'selector');
      const isConcerned =
        pods === undefined ||
        pods.some(
          (pod) => pod !== undefined && matchesSelector(selector, textMap(metaOf(pod)['labels'])),
        );
      if (isConcerned) this.#queue.add(key);
    }
  }

  #sync(key: string): void {
    const type = this.#objects.types.find('policy', 'v1', 'poddisruptionbudgets');
    const cut = key.indexOf('/');
    if (type === undefined) return;
    const place: ObjectPlace = { type, namespace: key.slice(0, cut), name: key.slice(cut + 1) };
    const budget = this.#objects.find(place);
    if (budget === undefined) return;
    const pods = this.#podsOf(budget, place.namespace);
    const { expected, desired } = this.#wantedOf(budget, pods, place.namespace);
    const disruptedPods = this.#promised(budget, pods, key);
    const healthy = pods.filter(
      (pod) =>
        isReady(pod) &&
        metaOf(pod)['deletionTimestamp'] === undefined &&
        disruptedPods[asText(metaOf(pod)['name'])] === undefined,
    ).length;
    const status = asObj(budget['status']);
    const next: Obj = {
      conditions: status['conditions'],
      currentHealthy: healthy,
      desiredHealthy: desired,
      disruptionsAllowed: expected > 0 ? Math.max(0, healthy - desired) : 0,
      expectedPods: expected,
      observedGeneration: metaOf(budget)['generation'],
      ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
    };
    if (isEqual(next, status)) return;
    this.#objects.adjust(place, (copy) => {
      copy['status'] = next;
      setCondition(copy, allowedCondition(copy, this.#objects.nowText));
    });
  }

  #podsOf(budget: Obj, namespace: string): Obj[] {
    const selector = at(budget, 'spec', 'selector');
    const pods: Obj[] = [];
    for (const [, { object }] of this.#objects.store.range(PODS, `${namespace}/`)) {
      if (matchesSelector(selector, textMap(metaOf(object)['labels']))) pods.push(object);
    }
    return pods;
  }

  /** Evictions that were granted and whose Pods are still there unmarked, while they are young. */
  #promised(budget: Obj, pods: readonly Obj[], key: string): Obj {
    const names = new Set(
      pods
        .filter((pod) => metaOf(pod)['deletionTimestamp'] === undefined)
        .map((pod) => textAt(pod, 'metadata', 'name')),
    );
    const nowMs = Number(this.#runtime.clock.unixNanos() / 1_000_000n);
    const left: Obj = {};
    for (const [name, since] of Object.entries(asObj(at(budget, 'status', 'disruptedPods')))) {
      if (!names.has(name) || nowMs - Date.parse(asText(since)) >= DISRUPTED_MS) continue;
      left[name] = since;
      this.#rechecks.get(key)?.cancel();
      this.#rechecks.set(
        key,
        this.#runtime.timers.after(DISRUPTED_MS + 1000, () => this.#queue.add(key)),
      );
    }
    return left;
  }

  #wantedOf(
    budget: Obj,
    pods: readonly Obj[],
    namespace: string,
  ): { expected: number; desired: number } {
    const { minAvailable, maxUnavailable } = asObj(budget['spec']);
    if (maxUnavailable !== undefined) {
      const expected = this.#scale(pods, namespace);
      return { expected, desired: Math.max(0, expected - scaled(maxUnavailable, expected)) };
    }
    if (typeof minAvailable === 'string') {
      const expected = this.#scale(pods, namespace);
      return { expected, desired: scaled(minAvailable, expected) };
    }
    return { expected: pods.length, desired: scaled(minAvailable ?? 1, pods.length) };
  }

  /** Replicas that the controllers of these Pods want, each controller once; Pods without one do not count. */
  #scale(pods: readonly Obj[], namespace: string): number {
    const controllers = new Map<string, number>();
    for (const pod of pods) {
      const owner = asList(metaOf(pod)['ownerReferences']).find(
        (one) => at(one, 'controller') === true,
      );
      const found = owner === undefined ? undefined : this.#controller(owner, namespace);
      if (found !== undefined)
        controllers.set(
          textAt(found, 'metadata', 'uid'),
          asNumber(at(found, 'spec', 'replicas')) ?? 1,
        );
    }
    return [...controllers.values()].reduce((sum, replicas) => sum + replicas, 0);
  }

  /** A ReplicaSet of a Deployment counts as the Deployment. */
  #controller(reference: unknown, namespace: string): Obj | undefined {
    const type = this.#objects.types.byKind(
      textAt(reference, 'apiVersion'),
      textAt(reference, 'kind'),
    );
    if (type === undefined || !SCALES.has(`${type.group}/${type.plural}`)) return undefined;
    const collection = `${type.group}/${type.plural}`;
    const found = this.#objects.store.get(
      collection,
      keyOf(namespace, textAt(reference, 'name')),
    )?.object;
    if (found === undefined || metaOf(found)['uid'] !== at(reference, 'uid')) return undefined;
    const owner = asList(metaOf(found)['ownerReferences']).find(
      (one) => at(one, 'controller') === true,
    );
    return type.plural === 'replicasets' && owner !== undefined
      ? (this.#controller(owner, namespace) ?? found)
      : found;
  }
}

/** A number, or a percentage rounded up. */
function scaled(value: unknown, total: number): number {
  if (typeof value === 'number') return value;
  return Math.ceil((Number.parseInt(asText(value), 10) * total) / 100);
}
