// One cluster that reacts: workload objects own Pods, Pods bind to machines, machines that leave
// take their Pods with them, and controllers make new ones. Two switches show what goes wrong
// without them: bare Pods die with their machine, and requests for unmet demand only make bound
// capacity look like surplus.

import {
  attributeOf,
  type Machine,
  type Need,
  type Profile,
  satisfiesAll,
  State,
} from '@bigfleet/engine';
import { NodeLoads } from './node-loads.ts';
import { buildRollup, type CapacityRequest } from './rollup.ts';
import { domainKeyOf, profileOf, type Shape, type Workload } from './shape.ts';

interface WorkloadObject {
  readonly shape: Shape;
  readonly profile: Profile;
  readonly request: CapacityRequest;
  replicas: number;
  /** Creation order; oldest first. */
  readonly pods: Pod[];
}

interface Pod {
  readonly object: WorkloadObject;
  /** Empty while pending. */
  machineId: string;
}

export interface ClusterOptions {
  /** Default true. Bare Pods are never recreated. */
  readonly hasControllers?: boolean;
  /** Default `every-pod`. */
  readonly requestsFor?: 'every-pod' | 'pending-pods';
}

export interface PodCounts {
  readonly bound: number;
  readonly pending: number;
}

export class ClusterModel {
  readonly id: string;
  readonly #hasControllers: boolean;
  readonly #requestsFor: 'every-pod' | 'pending-pods';
  readonly #objects: WorkloadObject[] = [];
  readonly #loads = new NodeLoads();

  constructor(id: string, workloads: readonly Workload[], options: ClusterOptions = {}) {
    this.id = id;
    this.#hasControllers = options.hasControllers ?? true;
    this.#requestsFor = options.requestsFor ?? 'every-pod';
    for (const workload of workloads) this.#addObjects(workload);
  }

  /** The whole demand, derived from live Pods. */
  rollup(): Need[] {
    const counted = this.#pods().filter(
      ({ machineId }) => this.#requestsFor === 'every-pod' || machineId === '',
    );
    return buildRollup(
      this.id,
      counted.map(({ object }) => object.request),
    );
  }

  counts(): PodCounts {
    const pods = this.#pods();
    const bound = pods.filter(({ machineId }) => machineId !== '').length;
    return { bound, pending: pods.length - bound };
  }

  /** Bound and pending Pods of one shape. */
  countsOf(shapeName: string): PodCounts {
    const pods = this.#pods().filter(({ object }) => object.shape.name === shapeName);
    const bound = pods.filter(({ machineId }) => machineId !== '').length;
    return { bound, pending: pods.length - bound };
  }

  /** Bound Pods of each object of one shape. */
  boundPerObject(shapeName: string): number[] {
    return this.#objects
      .filter(({ shape }) => shape.name === shapeName)
      .map(({ pods }) => pods.filter(({ machineId }) => machineId !== '').length);
  }

  /** Machines that Pods of one shape run on, ascending. */
  machinesOf(shapeName: string): string[] {
    const ids = this.#pods()
      .filter(({ object, machineId }) => object.shape.name === shapeName && machineId !== '')
      .map(({ machineId }) => machineId);
    return [...new Set(ids)].sort();
  }

  /** Gang and fingerprint that each gang machine serves. */
  gangMachines(): Map<string, { readonly needFingerprint: string; readonly group: string }> {
    const serving = new Map<string, { needFingerprint: string; group: string }>();
    for (const { object, machineId } of this.#pods()) {
      const { group } = object.request;
      if (machineId === '' || group === '') continue;
      serving.set(machineId, { needFingerprint: object.profile.fingerprint, group });
    }
    return serving;
  }

  /**
   * Rescales every object of the shape: pending Pods go first, then the newest bound ones. How
   * many objects there were.
   */
  scale(shapeName: string, replicas: number): number {
    const objects = this.#objects.filter(({ shape }) => shape.name === shapeName);
    for (const object of objects) {
      object.replicas = replicas;
      while (object.pods.length > replicas) this.#deletePod(object);
      while (object.pods.length < replicas) object.pods.push({ object, machineId: '' });
    }
    return objects.length;
  }

  /** Pods on machines that are no longer Configured for this cluster die; how many. */
  evict(machines: readonly Machine[]): number {
    const present = new Set(this.#nodes(machines).map(({ id }) => id));
    let evicted = 0;
    for (const object of this.#objects) {
      const lost = object.pods.filter(
        ({ machineId }) => machineId !== '' && !present.has(machineId),
      );
      for (const pod of lost) this.#remove(pod);
      evicted += lost.length;
    }
    this.#loads.keepOnly(present);
    return evicted;
  }

  /** Controllers make every object whole again. */
  recreate(): void {
    if (!this.#hasControllers) return;
    for (const object of this.#objects) {
      while (object.pods.length < object.replicas) object.pods.push({ object, machineId: '' });
    }
  }

  /** Pending Pods bind, oldest first, each to the emptiest machine that may take it. */
  bind(machines: readonly Machine[]): void {
    const nodes = this.#nodes(machines);
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const fitting = new Map<Shape, readonly Machine[]>();
    for (const object of this.#objects) {
      const pending = object.pods.filter(({ machineId }) => machineId === '');
      if (pending.length === 0) continue;
      const known = fitting.get(object.shape);
      const candidates =
        known ?? nodes.filter((node) => satisfiesAll(node, object.profile.requirements));
      fitting.set(object.shape, candidates);
      for (const pod of pending) if (!this.#bindPod(pod, candidates, byId)) break;
    }
  }

  #bindPod(pod: Pod, candidates: readonly Machine[], byId: ReadonlyMap<string, Machine>): boolean {
    const { shape } = pod.object;
    const key = domainKeyOf(shape);
    const anchor = key === undefined ? undefined : this.#anchorOf(pod.object, key, byId);
    const allowed =
      key === undefined || anchor === undefined
        ? candidates
        : candidates.filter((node) => attributeOf(node, key) === anchor);
    const node = this.#loads.emptiest(allowed, shape.perPod);
    if (node === undefined) return false;
    this.#loads.place(node, shape.perPod);
    pod.machineId = node.id;
    return true;
  }

  /** The first bound member decides the gang's domain; the others bind there or wait. */
  #anchorOf(
    object: WorkloadObject,
    key: string,
    byId: ReadonlyMap<string, Machine>,
  ): string | undefined {
    const first = object.pods.find(({ machineId }) => machineId !== '');
    const node = first === undefined ? undefined : byId.get(first.machineId);
    return node === undefined ? undefined : attributeOf(node, key);
  }

  #addObjects({ shape, objects, replicas }: Workload): void {
    const profile = profileOf(shape);
    for (let at = 1; at <= objects; at++) {
      const group = shape.same === undefined ? '' : `${shape.name}-${at}`;
      const request: CapacityRequest = { profile, group, resources: shape.perPod };
      const object: WorkloadObject = { shape, profile, request, replicas, pods: [] };
      for (let pod = 0; pod < replicas; pod++) object.pods.push({ object, machineId: '' });
      this.#objects.push(object);
    }
  }

  #deletePod(object: WorkloadObject): void {
    const pod = object.pods.findLast(({ machineId }) => machineId === '') ?? object.pods.at(-1);
    if (pod !== undefined) this.#remove(pod);
  }

  #remove(pod: Pod): void {
    const { object, machineId } = pod;
    object.pods.splice(object.pods.indexOf(pod), 1);
    if (machineId !== '') this.#loads.remove(machineId, object.shape.perPod);
  }

  #pods(): Pod[] {
    return this.#objects.flatMap(({ pods }) => pods);
  }

  #nodes(machines: readonly Machine[]): Machine[] {
    return machines.filter(
      ({ state, cluster }) => state === State.Configured && cluster === this.id,
    );
  }
}
