// The workloads of one cluster over time: services breathe, jobs end and others start, gangs are
// replaced whole. The number of objects never changes, so neither demand nor memory drifts.
//
// A story: what happens and when is drawn from the seed alone, in time of its own that starts at 0. The
// clock only decides when it is told, so that one seed is one sequence of changes on every machine.

import { assert, type Random } from '@bigfleet/base';
import { uniformInt } from '@bigfleet/sim';
import type { ClusterPlan } from './plans.ts';
import { drawObject, MAX_REPLICAS, type WorkloadObject } from './workload-object.ts';

/** Pods that one scaling adds or removes. */
const MAX_SCALE_STEP = 2;
const STEP_MS: readonly [lo: number, hi: number] = [800, 1_600];

export interface WorkloadChange {
  readonly kind: 'start' | 'scale' | 'end';
  readonly object: WorkloadObject;
  readonly replicas: number;
}

export interface StoryStep {
  /** Since the start of the story. */
  readonly atMs: number;
  readonly changes: readonly WorkloadChange[];
}

export class Population {
  readonly #random: Random;
  readonly #pauses: Random;
  readonly #objects: WorkloadObject[];
  #drawnCount = 0;
  #atMs = 0;

  constructor(plan: ClusterPlan, random: Random) {
    this.#random = random;
    this.#pauses = random.stream('pauses');
    this.#objects = plan.workloads.flatMap(({ archetype, objectCount }) =>
      Array.from({ length: objectCount }, () => this.#draw(archetype)),
    );
  }

  get objects(): readonly WorkloadObject[] {
    return this.#objects;
  }

  /** What is there at the start. */
  first(): StoryStep {
    return { atMs: 0, changes: this.#objects.map((object) => changeOf('start', object)) };
  }

  /** Ends what is over, starts its successor, and scales one service. */
  next(): StoryStep {
    const [lo, hi] = STEP_MS;
    this.#atMs += lo + this.#pauses.float() * (hi - lo);
    const changes: WorkloadChange[] = [];
    for (const [at, object] of this.#objects.entries()) {
      if (object.endsAtMs > this.#atMs) continue;
      const successor = this.#draw(object.archetype);
      this.#objects[at] = successor;
      changes.push(changeOf('end', object), changeOf('start', successor));
    }
    const scaled = this.#scaleOne();
    if (scaled !== undefined) changes.push(changeOf('scale', scaled));
    return { atMs: this.#atMs, changes };
  }

  #draw(archetype: WorkloadObject['archetype']): WorkloadObject {
    this.#drawnCount += 1;
    const name = `${archetype.name}-${this.#drawnCount}`;
    return drawObject({ random: this.#random.stream(name), archetype, name, nowMs: this.#atMs });
  }

  #scaleOne(): WorkloadObject | undefined {
    const services = this.#objects.filter(({ kind }) => kind === 'service');
    if (services.length === 0) return undefined;
    const object = services[this.#random.below(services.length)];
    assert(object !== undefined, 'a service is chosen among some');
    const step = uniformInt(this.#random, -MAX_SCALE_STEP, MAX_SCALE_STEP);
    const replicas = Math.min(MAX_REPLICAS, Math.max(1, object.replicas + step));
    if (replicas === object.replicas) return undefined;
    object.replicas = replicas;
    return object;
  }
}

function changeOf(kind: WorkloadChange['kind'], object: WorkloadObject): WorkloadChange {
  return { kind, object, replicas: object.replicas };
}
