// The workloads of one cluster over time: services breathe, jobs end and others start, gangs are
// replaced whole. The number of objects never changes, so neither demand nor memory drifts. Writes
// its demand into one index and says whether anything changed.

import { assert, type Random } from '@bigfleet/base';
import { DemandIndex } from '@bigfleet/operator';
import { uniformInt } from '@bigfleet/sim';
import type { ClusterPlan } from './plans.ts';
import { podRequest, podUid } from './pod-request.ts';
import { drawObject, MAX_REPLICAS, type WorkloadObject } from './workload-object.ts';

/** Pods that one scaling adds or removes. */
const MAX_SCALE_STEP = 2;

export class Population {
  readonly index: DemandIndex = new DemandIndex();
  readonly #random: Random;
  readonly #objects: WorkloadObject[];
  /** By uid: where its request comes from, for the acknowledgement. */
  readonly #pods = new Map<string, { readonly object: WorkloadObject; readonly ordinal: number }>();
  #drawnCount = 0;

  constructor(plan: ClusterPlan, random: Random, nowMs: number) {
    this.#random = random;
    this.#objects = plan.workloads.flatMap(({ archetype, objectCount }) =>
      Array.from({ length: objectCount }, () => this.#draw(archetype, nowMs)),
    );
    for (const object of this.#objects) this.#addPods(object, 0);
  }

  get objects(): readonly WorkloadObject[] {
    return this.#objects;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  /** Ends what is over, starts its successor, and scales one service. */
  step(nowMs: number): void {
    for (const [at, object] of this.#objects.entries()) {
      if (object.endsAtMs > nowMs) continue;
      this.#removePods(object, 0);
      const successor = this.#draw(object.archetype, nowMs);
      this.#objects[at] = successor;
      this.#addPods(successor, 0);
    }
    this.#scaleOne();
  }

  /** `gone` when its pod has ended since. */
  acknowledge(uid: string): 'acknowledged' | 'gone' {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return 'gone';
    this.index.set(podRequest(pod.object, pod.ordinal, true));
    return 'acknowledged';
  }

  #draw(archetype: WorkloadObject['archetype'], nowMs: number): WorkloadObject {
    this.#drawnCount += 1;
    const name = `${archetype.name}-${this.#drawnCount}`;
    return drawObject({ random: this.#random.stream(name), archetype, name, nowMs });
  }

  #scaleOne(): void {
    const services = this.#objects.filter(({ kind }) => kind === 'service');
    if (services.length === 0) return;
    const object = services[this.#random.below(services.length)];
    assert(object !== undefined, 'a service is chosen among some');
    const step = uniformInt(this.#random, -MAX_SCALE_STEP, MAX_SCALE_STEP);
    const replicas = Math.min(MAX_REPLICAS, Math.max(1, object.replicas + step));
    const before = object.replicas;
    object.replicas = replicas;
    if (replicas > before) this.#addPods(object, before);
    else this.#removePods(object, replicas, before);
  }

  #addPods(object: WorkloadObject, from: number): void {
    for (let ordinal = from; ordinal < object.replicas; ordinal++) {
      this.#pods.set(podUid(object, ordinal), { object, ordinal });
      const refusal = this.index.set(podRequest(object, ordinal, false));
      assert(refusal === undefined, 'the catalogue asks for something that the roll-up refuses', {
        problem: refusal?.problem ?? '',
      });
    }
  }

  #removePods(object: WorkloadObject, from: number, to = object.replicas): void {
    for (let ordinal = from; ordinal < to; ordinal++) {
      const uid = podUid(object, ordinal);
      this.#pods.delete(uid);
      this.index.delete(uid);
    }
  }
}
