// A cluster in memory behind the production session client: it wants cores, joins whatever it is
// given, and evicts at once. Keeps what it was told.

import type { CapacityRequestSpec, UpcomingNodePhase } from '@bigfleet/kube';
import { Secret } from '@bigfleet/telemetry';
import {
  type BootstrapResult,
  type ClusterObserver,
  type ClusterPort,
  type CordonOutcome,
  DemandIndex,
  type DrainOutcome,
  type DrainTarget,
  type InterruptedDrain,
  type NodeLink,
} from '@bigfleet/operator';
import type { MachineState, NodeStateUpdate } from '@bigfleet/wire';

export class TestCluster implements ClusterPort {
  /** By machine: the last state that the shard told. */
  readonly states: Map<string, MachineState> = new Map();
  readonly hints: string[] = [];
  readonly drained: string[] = [];
  renderCount = 0;
  readonly #index = new DemandIndex();
  #observer: ClusterObserver | undefined;
  #nudgeCount = 0;

  /** Pods of one core each, on any node unless `requirements` say which. */
  want(
    podCount: number,
    priority = 1_000,
    requirements: NonNullable<CapacityRequestSpec['requirements']> = [],
  ): void {
    for (let pod = 0; pod < Math.max(podCount, this.#podCount); pod++) {
      const ref = { namespace: 'default', name: `pod-${pod}`, uid: `pod-${pod}` };
      if (pod >= podCount) this.#index.delete(ref.uid);
      else {
        this.#index.set({
          ...ref,
          resourceVersion: '1',
          isForeign: false,
          isAcknowledged: false,
          spec: { requirements, resources: { cpu: '1' }, priority },
        });
      }
    }
    this.#podCount = podCount;
    this.#observer?.demandChanged();
  }

  #podCount = 0;

  /** A change that no machine can serve: the shard runs a cycle, with its reconcile, at once. */
  nudge(): void {
    this.#nudgeCount += 1;
    this.#index.set({
      namespace: 'default',
      name: 'nudge',
      uid: 'nudge',
      resourceVersion: `${this.#nudgeCount}`,
      isForeign: false,
      isAcknowledged: false,
      spec: {
        requirements: [{ key: 'no-such-pool', operator: 'In', values: ['any'] }],
        resources: { cpu: `${1 + (this.#nudgeCount % 2)}m` },
        priority: 0,
      },
    });
    this.#observer?.demandChanged();
  }

  machinesIn(state: MachineState): string[] {
    return [...this.states].flatMap(([id, each]) => (each === state ? [id] : []));
  }

  demand(): DemandIndex {
    return this.#index;
  }

  async acknowledge(): Promise<'acknowledged'> {
    return 'acknowledged';
  }

  requestRefused(): void {}

  renderBootstrap(): BootstrapResult {
    this.renderCount += 1;
    const userData = new Secret(new TextEncoder().encode('join'));
    return { kind: 'rendered', userData, ttlSeconds: 600 };
  }

  async applyNodeState({ machineId, state }: NodeStateUpdate): Promise<UpcomingNodePhase> {
    this.states.set(machineId, state);
    return 'Ready';
  }

  async applyAvailableCapacity({ supersedesKey }: { supersedesKey: string }): Promise<void> {
    this.hints.push(supersedesKey);
  }

  async sweepMachines(known: ReadonlySet<string>): Promise<void> {
    for (const id of this.states.keys()) if (!known.has(id)) this.states.delete(id);
  }

  async sweepAvailableCapacity(): Promise<void> {}

  async cordon(): Promise<CordonOutcome> {
    return { kind: 'cordoned' };
  }

  async drain({ machineId }: DrainTarget): Promise<DrainOutcome> {
    this.drained.push(machineId);
    return { kind: 'empty' };
  }

  interruptedDrains(): readonly InterruptedDrain[] {
    return [];
  }

  nodeLinks(): Iterable<NodeLink> {
    return [];
  }

  nodeLinkOf(): undefined {
    return undefined;
  }

  phantomMachineIds(): readonly string[] {
    return [];
  }

  watch(observer: ClusterObserver): () => void {
    this.#observer = observer;
    return () => {
      this.#observer = undefined;
    };
  }
}
