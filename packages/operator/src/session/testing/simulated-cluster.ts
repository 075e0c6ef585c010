// A cluster for tests: nodes with pods that leave when told to, a demand index, links, and records of
// everything that the session asked for. Slow or broken on demand.

import { type Runtime, sleep } from '@bigfleet/base';
import type { UpcomingNodePhase } from '@bigfleet/kube';
import { Secret } from '@bigfleet/telemetry';
import type { AvailableCapacityUpdate, BootstrapRequest, NodeStateUpdate } from '@bigfleet/wire';
import type { CapacityRequest, RefusedRequest, RequestRef } from '../../rollup/capacity-request.ts';
import { DemandIndex } from '../../rollup/demand-index.ts';
import type {
  BootstrapResult,
  ClusterObserver,
  ClusterPort,
  CordonOutcome,
  DrainControl,
  DrainOutcome,
  DrainPlan,
  DrainTarget,
  InterruptedDrain,
  NodeLink,
} from '../cluster-port.ts';

export const BLOB = 'join-secret-4711';

interface SimulatedNode {
  podCount: number;
  isCordoned: boolean;
  isForbidden: boolean;
  /** Drain attempts that fail first. */
  failures: number;
  onEmpty: () => void;
}

export class SimulatedCluster implements ClusterPort {
  index: DemandIndex | undefined = new DemandIndex();
  readonly acknowledged: string[] = [];
  readonly refused: RefusedRequest[] = [];
  readonly rendered: BootstrapRequest[] = [];
  readonly states: NodeStateUpdate[] = [];
  readonly hints: AvailableCapacityUpdate[] = [];
  readonly machineSweeps: string[][] = [];
  readonly hintSweeps: string[][] = [];
  readonly cordons: (DrainTarget & DrainPlan)[] = [];
  readonly drains: (DrainTarget & { remainingMs: number })[] = [];
  readonly links: Map<string, NodeLink> = new Map();
  phantoms: readonly string[] = [];
  interrupted: readonly InterruptedDrain[] = [];
  /** How long a write takes; the first `failingWrites` of them fail, and so do the first sweeps. */
  writeMs = 0;
  failingWrites = 0;
  failingSweeps = 0;
  writeFailure: Error = new Error('the API server said no');
  runningWrites = 0;
  peakWrites = 0;
  bootstrap: () => BootstrapResult = () => ({
    kind: 'rendered',
    userData: new Secret(new TextEncoder().encode(BLOB)),
    ttlSeconds: 600.9,
  });
  readonly #runtime: Runtime;
  readonly #nodes = new Map<string, SimulatedNode>();
  #observer: ClusterObserver | undefined;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  // ── what tests do to it ───────────────────────────────────────────────────────────────────

  get isWatched(): boolean {
    return this.#observer !== undefined;
  }

  request(request: CapacityRequest): void {
    this.index?.set(request);
    this.#observer?.demandChanged();
  }

  synced(index: DemandIndex): void {
    this.index = index;
    this.#observer?.demandChanged();
  }

  link(machineId: string, nodeName = `node-${machineId}`): void {
    const link = { machineId, nodeName, providerId: `p-${machineId}`, nodeUid: `u-${machineId}` };
    this.links.set(machineId, link);
    this.#observer?.nodeLinked(link);
  }

  unlink(machineId: string): void {
    this.links.delete(machineId);
    this.#observer?.nodeUnlinked(machineId);
  }

  /** The machines at Ready whose Node does not serve are these now. */
  phantom(...machineIds: readonly string[]): void {
    this.phantoms = machineIds.toSorted();
    this.#observer?.phantomsChanged();
  }

  node(name: string, podCount = 1): SimulatedNode {
    const node: SimulatedNode = {
      podCount,
      isCordoned: false,
      isForbidden: false,
      failures: 0,
      onEmpty: () => {},
    };
    this.#nodes.set(name, node);
    return node;
  }

  empty(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    node.podCount = 0;
    node.onEmpty();
  }

  // ── ClusterPort ───────────────────────────────────────────────────────────────────────────

  demand(): DemandIndex | undefined {
    return this.index;
  }

  async acknowledge(request: RequestRef, signal: AbortSignal): Promise<'acknowledged' | 'gone'> {
    await this.#write(signal);
    this.acknowledged.push(request.uid);
    return request.name.startsWith('gone') ? 'gone' : 'acknowledged';
  }

  requestRefused(refused: RefusedRequest): void {
    this.refused.push(refused);
  }

  renderBootstrap(request: BootstrapRequest): BootstrapResult {
    this.rendered.push(request);
    return this.bootstrap();
  }

  async applyNodeState(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingNodePhase> {
    await this.#write(signal);
    this.states.push(update);
    return 'Ready';
  }

  async applyAvailableCapacity(
    update: AvailableCapacityUpdate,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#write(signal);
    this.hints.push(update);
  }

  async sweepMachines(known: ReadonlySet<string>): Promise<void> {
    if (this.failingSweeps-- > 0) throw new Error('the API server is away');
    this.machineSweeps.push([...known].sort());
  }

  async sweepAvailableCapacity(known: ReadonlySet<string>): Promise<void> {
    if (this.failingSweeps-- > 0) throw new Error('the API server is away');
    this.hintSweeps.push([...known].sort());
  }

  async cordon(target: DrainTarget, plan: DrainPlan, signal: AbortSignal): Promise<CordonOutcome> {
    this.cordons.push({ ...target, ...plan });
    await this.#write(signal);
    const node = this.#nodes.get(target.node);
    if (node === undefined) return { kind: 'not_found' };
    node.isCordoned = true;
    return { kind: 'cordoned' };
  }

  async drain(target: DrainTarget, control: DrainControl): Promise<DrainOutcome> {
    this.drains.push({ ...target, remainingMs: control.remainingMs() });
    const node = this.#nodes.get(target.node);
    if (node === undefined) return { kind: 'node_not_found' };
    if (node.isForbidden) return { kind: 'forbidden', error: 'pods/eviction is forbidden' };
    if (node.failures-- > 0) throw new Error('the API server is away');
    await new Promise<void>((resolve) => {
      node.onEmpty = resolve;
      control.signal.addEventListener('abort', () => resolve(), { once: true });
      if (node.podCount === 0 || control.signal.aborted) resolve();
    });
    return node.podCount === 0
      ? { kind: 'empty' }
      : { kind: 'deadline', podsRemaining: node.podCount };
  }

  interruptedDrains(): readonly InterruptedDrain[] {
    return this.interrupted;
  }

  nodeLinks(): Iterable<NodeLink> {
    return this.links.values();
  }

  nodeLinkOf(machineId: string): NodeLink | undefined {
    return this.links.get(machineId);
  }

  phantomMachineIds(): readonly string[] {
    return this.phantoms;
  }

  watch(observer: ClusterObserver): () => void {
    this.#observer = observer;
    return () => {
      this.#observer = undefined;
    };
  }

  async #write(signal: AbortSignal): Promise<void> {
    this.runningWrites++;
    this.peakWrites = Math.max(this.peakWrites, this.runningWrites);
    try {
      if (this.writeMs > 0) await sleep(this.#runtime, this.writeMs, signal);
      if (this.failingWrites-- > 0) throw this.writeFailure;
    } finally {
      this.runningWrites--;
    }
  }
}
