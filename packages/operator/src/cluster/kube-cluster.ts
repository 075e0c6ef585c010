// The real cluster behind the session's port: four reflected collections, and the writes that the
// shard's frames ask for. Nothing here is on the way of scheduling or running a Pod: with this process
// down, the cluster goes on.

import {
  Backoff,
  BigFleetError,
  describeThrown,
  type Runtime,
  sleep,
  type Timer,
} from '@bigfleet/base';
import {
  AVAILABLE_CAPACITIES,
  CAPACITY_REQUESTS,
  EventSender,
  type KubeClient,
  NODES,
  Reflector,
  type ReflectorFailure,
  type ReflectorObserver,
  type RelistReason,
  schemaWatch,
  UPCOMING_NODES,
  type UpcomingNodePhase,
} from '@bigfleet/kube';
import {
  type AvailableCapacityUpdate,
  type BootstrapRequest,
  MachineState,
  type NodeStateUpdate,
} from '@bigfleet/wire';
import type { RefusedRequest, RequestRef } from '../rollup/capacity-request.ts';
import type { DemandIndex } from '../rollup/demand-index.ts';
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
} from '../session/cluster-port.ts';
import { AvailableCapacities, readHint } from './available-capacity.ts';
import { Demand } from './demand.ts';
import { machineIdLabel } from './names.ts';
import { NodeIndex, type NodeRecord, readNode } from './node-index.ts';
import { PHANTOM_LOOK_MS, PhantomMachines } from './phantom-machines.ts';
import { type EvictionOutcome, interruptedDrains, readMark, Reclaims } from './reclaim.ts';
import {
  DRAIN_ERROR,
  readUpcoming,
  UpcomingNodes,
  type UpcomingRecord,
  type UpcomingWrite,
  type WriteOutcome,
} from './upcoming-nodes.ts';

export interface KubeClusterOptions {
  readonly runtime: Runtime;
  readonly client: KubeClient;
  readonly renderBootstrap: (request: BootstrapRequest) => BootstrapResult;
  readonly hooks: ClusterHooks;
  readonly signal: AbortSignal;
}

/** What the process counts and logs. */
export interface ClusterHooks {
  heard(resource: string): void;
  relisted(resource: string, reason: RelistReason, differences: number): void;
  reflectorFailed(resource: string, failure: ReflectorFailure): void;
  /** `seconds` is undefined for a write that was not needed. */
  upcomingNodeWritten(op: UpcomingWrite, outcome: WriteOutcome, seconds: number | undefined): void;
  evicted(outcome: EvictionOutcome): void;
  evictionFailed(pod: string, problem: string): void;
  /** A write that nobody waits for failed; the next event or replay brings it again. */
  choreFailed(problem: string): void;
  /** A left-over object was kept, because its Node still works. */
  leftOverKept(machineId: string): void;
  /** A machine serves again that was being drained. */
  drainGivenUp(machineId: string, nodeName: string): void;
}

/** A restarted shard has derived a reclaim again by then, if it still wants one. */
const GIVE_UP_AFTER_MS = 30_000;
/** Of a left-over that could not be swept. */
const SWEEP_RETRY = { initialMs: 500, maxMs: 30_000 };

/** The object is its own identity: a sweep that is tried again ends when another one took its place. */
interface LeftOver {
  readonly machineId: string;
  isSweeping: boolean;
}

export class KubeCluster implements ClusterPort {
  readonly #options: KubeClusterOptions;
  readonly #demand: Demand;
  readonly #nodes: Reflector<NodeRecord>;
  readonly #upcoming: Reflector<UpcomingRecord>;
  readonly #hints: Reflector<string>;
  readonly #index: NodeIndex;
  readonly #upcomingNodes: UpcomingNodes;
  readonly #capacities: AvailableCapacities;
  readonly #reclaims: Reclaims;
  /** Machines that came in since they last served: the mark on their Node belongs to a drain that is over. */
  readonly #arriving = new Set<string>();
  /** Machines that were given a blob since their last frame: a kubelet may have taken their Node over. */
  readonly #joining = new Set<string>();
  /** Drains that run here, by machine. */
  readonly #draining = new Map<string, AbortController>();
  /** Machines that the shard calls Configured while they are drained here: the shard or the drain is behind. */
  readonly #doubted = new Map<string, Timer>();
  readonly #phantoms = new PhantomMachines();
  /** By Node, machines that the shard does not know here any more, kept because their Node works. */
  readonly #leftOvers = new Map<string, LeftOver>();
  #observer: ClusterObserver | undefined;

  constructor(options: KubeClusterOptions) {
    const { runtime, client, hooks, signal } = options;
    this.#options = options;
    const component = 'bigfleet-operator';
    const events = new EventSender({ client, clock: runtime.clock, component, signal });
    this.#index = new NodeIndex({
      linked: (link) => this.#linked(link),
      unlinked: (machineId) => this.#observer?.nodeUnlinked(machineId),
    });
    this.#capacities = new AvailableCapacities(client);
    this.#reclaims = new Reclaims({
      runtime,
      client,
      onEviction: (outcome) => hooks.evicted(outcome),
      onTransient: (pod, problem) => hooks.evictionFailed(pod, problem),
    });
    this.#demand = new Demand({
      runtime,
      client,
      events,
      signal,
      observer: this.#watched('capacityrequests'),
      onChange: () => this.#observer?.demandChanged(),
      onChore: (chore) => this.#chore(chore),
    });
    this.#nodes = new Reflector({
      runtime,
      client,
      resource: NODES,
      read: readNode,
      observer: {
        ...this.#watched('nodes'),
        upserted: (_key, node) => {
          this.#index.nodeChanged(node);
          if (!node.isReady) this.#sweepLeftOver(node.name);
        },
        removed: (_key, node) => {
          this.#index.nodeGone(node);
          this.#sweepLeftOver(node.name);
        },
      },
    });
    this.#upcoming = new Reflector<UpcomingRecord>({
      runtime,
      client,
      resource: UPCOMING_NODES,
      read: readUpcoming,
      observer: {
        ...this.#watched('upcomingnodes'),
        upserted: (_key, record) => this.#upcomingSeen(record),
        removed: (_key, record) => this.#upcomingNodes.seen(record.name),
      },
    });
    this.#hints = new Reflector<string>({
      runtime,
      client,
      resource: AVAILABLE_CAPACITIES,
      read: readHint,
      observer: {
        ...this.#watched('availablecapacities'),
        upserted: (name, spec) => this.#capacities.seen(name, spec),
        removed: (name) => this.#capacities.seen(name, undefined),
      },
    });
    this.#upcomingNodes = new UpcomingNodes({
      runtime,
      client,
      known: (name) => this.#upcoming.get(name),
      linkOf: (machineId) => this.#index.linkOf(machineId),
      onWrite: (op, outcome, seconds) => hooks.upcomingNodeWritten(op, outcome, seconds),
    });
  }

  /** Until the signal; the session runs beside it. */
  async run(): Promise<void> {
    const { runtime, client, hooks, signal } = this.#options;
    const reflectors = [this.#demand.reflector, this.#nodes, this.#upcoming, this.#hints];
    const schemas = (
      [
        [CAPACITY_REQUESTS, this.#demand.reflector],
        [UPCOMING_NODES, this.#upcoming],
        [AVAILABLE_CAPACITIES, this.#hints],
      ] as const
    ).map(([resource, reflector]) =>
      schemaWatch({
        runtime,
        client,
        resource,
        changed: () => reflector.relist('schema'),
        failed: (failure) => hooks.reflectorFailed('customresourcedefinitions', failure),
      }),
    );
    const running = [...reflectors, ...schemas].map((reflector) => reflector.run(signal));
    await Promise.all([...running, this.#lookForPhantoms(signal)]);
  }

  get isSynced(): boolean {
    return this.unsynced().length === 0;
  }

  /** Collections whose first full list is not complete. */
  unsynced(): readonly string[] {
    const collections = {
      capacityrequests: this.#demand.reflector,
      upcomingnodes: this.#upcoming,
      availablecapacities: this.#hints,
      nodes: this.#nodes,
    };
    return Object.entries(collections).flatMap(([name, { isSynced }]) => (isSynced ? [] : [name]));
  }

  get requestCount(): number {
    return this.#demand.reflector.size;
  }

  get linkCount(): number {
    return this.#index.linkCount;
  }

  // ── demand ──────────────────────────────────────────────────────────────────────────────

  demand(): DemandIndex | undefined {
    return this.#demand.index();
  }

  acknowledge(request: RequestRef, signal: AbortSignal): Promise<'acknowledged' | 'gone'> {
    return this.#demand.acknowledge(request, signal);
  }

  requestRefused(refused: RefusedRequest): void {
    this.#demand.refused(refused);
  }

  // ── frames ──────────────────────────────────────────────────────────────────────────────

  renderBootstrap(request: BootstrapRequest): BootstrapResult {
    const result = this.#options.renderBootstrap(request);
    if (result.kind === 'rendered') this.#joining.add(request.machineId);
    return result;
  }

  async applyNodeState(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingNodePhase> {
    const { machineId, providerId, nodeName, state } = update;
    this.#index.machineKnown({ machineId, providerId, nodeName });
    this.#noLeftOvers((left) => left === machineId);
    const isServing = state === MachineState.CONFIGURED;
    if (!isServing) this.#trust(machineId);
    if (!isServing && state !== MachineState.DRAINING) this.#arriving.add(machineId);
    let node = this.#nodeOf(machineId);
    if (isServing && this.#isBeingDrained(machineId, node)) {
      this.#doubt(update);
      return this.#upcomingNodes.record(machineId)?.phase || 'Draining';
    }
    const isTerminus = this.#upcomingNodes.isTerminus(update);
    if (isTerminus) node ??= await this.#reclaims.nodeOf(machineId, signal);
    // The Node first: should it stay, a later sweep finds it by the UpcomingNode.
    if (isTerminus && node !== undefined) await this.#deleteNode(machineId, node, signal);
    const phase = await this.#upcomingNodes.apply(update, signal);
    if (isTerminus) this.#index.machineGone(machineId);
    // The next frame of this machine is newer than the blob.
    this.#joining.delete(machineId);
    if (isServing) {
      this.#arriving.delete(machineId);
      // A kubelet that came back onto its old object would stay cordoned, and no Pod would ever land.
      if (node !== undefined && readMark(node.reclaim) !== undefined) {
        await this.#reclaims.uncordon(node, signal);
      }
    }
    return phase;
  }

  applyAvailableCapacity(update: AvailableCapacityUpdate, signal: AbortSignal): Promise<void> {
    return this.#capacities.apply(update, signal);
  }

  async sweepMachines(known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    this.#noLeftOvers((machineId) => known.has(machineId));
    for (const machineId of this.#joining) {
      if (!known.has(machineId)) this.#joining.delete(machineId);
    }
    // One object that may not go does not keep the others.
    let failure: BigFleetError | undefined;
    for (const record of this.#upcoming.records()) {
      if (known.has(record.machineId)) continue;
      try {
        await this.#sweep(record, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof BigFleetError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  /**
   * A Node that is Ready may be in use, whatever the shard says, or its kubelet has stopped less than a
   * minute ago: it is kept until it is not Ready. A Node that we had cordoned, or that carries the machine's
   * label, goes with its machine, as it would have at the IDLE frame that nobody heard.
   */
  async #sweep(record: UpcomingRecord, signal: AbortSignal): Promise<void> {
    const { machineId, nodeName } = record;
    const node =
      this.#nodeOf(machineId) ??
      this.#index.node(nodeName) ??
      (await this.#reclaims.nodeOf(machineId, signal));
    if (node?.isReady === true) {
      const isNew = this.#leftOvers.get(node.name)?.machineId !== machineId;
      this.#leftOvers.set(node.name, { machineId, isSweeping: false });
      if (isNew) this.#options.hooks.leftOverKept(machineId);
      return;
    }
    const isOurs = node?.machineLabel === machineIdLabel(machineId);
    if (node !== undefined && (isOurs || readMark(node.reclaim) !== undefined)) {
      await this.#deleteNode(machineId, node, signal, (current) => {
        // Newer than the watch: the next attempt decides.
        if (current.isReady) throw new BigFleetError('kube_refused', `${node.name} is Ready again`);
      });
    }
    await this.#upcomingNodes.delete(record, signal);
    this.#index.machineGone(machineId);
  }

  #deleteNode(
    machineId: string,
    node: NodeRecord,
    signal: AbortSignal,
    check: (current: NodeRecord) => void = () => {},
  ): Promise<void> {
    const isTaken = (current: NodeRecord): boolean => {
      check(current);
      return this.#joining.has(machineId);
    };
    return this.#reclaims.deleteNode(node, isTaken, signal);
  }

  #sweepLeftOver(nodeName: string): void {
    const leftOver = this.#leftOvers.get(nodeName);
    if (leftOver === undefined || leftOver.isSweeping) return;
    leftOver.isSweeping = true;
    this.#chore(this.#sweepUntilGone(nodeName, leftOver));
  }

  /** No event may come that asks for it again. Ends when the machine is heard of, or its Node works. */
  async #sweepUntilGone(nodeName: string, leftOver: LeftOver): Promise<void> {
    const { runtime, hooks, signal } = this.#options;
    const pause = new Backoff(runtime.random.stream(`sweep ${nodeName}`), SWEEP_RETRY);
    while (this.#leftOvers.get(nodeName) === leftOver) {
      const record = this.#upcomingNodes.record(leftOver.machineId);
      try {
        if (record !== undefined) await this.#sweep(record, signal);
        break;
      } catch (error) {
        if (signal.aborted || !(error instanceof BigFleetError)) throw error;
        hooks.choreFailed(describeThrown(error));
        await sleep(runtime, pause.nextMs(), signal);
      }
    }
    if (this.#leftOvers.get(nodeName) === leftOver) this.#leftOvers.delete(nodeName);
  }

  #noLeftOvers(isKnown: (machineId: string) => boolean): void {
    for (const [name, { machineId }] of this.#leftOvers) {
      if (isKnown(machineId)) this.#leftOvers.delete(name);
    }
  }

  sweepAvailableCapacity(known: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    return this.#capacities.sweep(known, signal);
  }

  // ── reclaim ─────────────────────────────────────────────────────────────────────────────

  async cordon(target: DrainTarget, plan: DrainPlan, signal: AbortSignal): Promise<CordonOutcome> {
    const node = await this.#resolve(target, signal);
    if (node === undefined) return { kind: 'not_found' };
    const machineId = target.machineId || (this.#index.machineOf(node.name) ?? '');
    this.#arriving.delete(machineId);
    this.#trust(machineId);
    const outcome = await this.#reclaims.cordon(node, plan, machineId, signal);
    if (outcome.kind === 'cordoned') {
      await this.#upcomingNodes.setPhase(machineId, { phase: 'Draining' }, signal);
    }
    return outcome;
  }

  async drain(target: DrainTarget, control: DrainControl): Promise<DrainOutcome> {
    const node = await this.#resolve(target, control.signal);
    if (node === undefined) return { kind: 'node_not_found' };
    const machineId = target.machineId || (this.#index.machineOf(node.name) ?? '');
    const givenUp = new AbortController();
    this.#draining.set(machineId, givenUp);
    const outcome = await this.#reclaims
      .drain(node, {
        signal: AbortSignal.any([control.signal, givenUp.signal]),
        remainingMs: () => control.remainingMs(),
      })
      .finally(() => this.#draining.delete(machineId));
    if (givenUp.signal.aborted) return { kind: 'given_up' };
    // Left as it is: the next process finds the mark and goes on.
    if (control.isInterrupted) return outcome;
    await this.#tellOutcome(machineId, node, outcome);
    return outcome;
  }

  async #resolve(target: DrainTarget, signal: AbortSignal): Promise<NodeRecord | undefined> {
    const machineId = target.machineId || target.node;
    return this.#index.resolve(target) ?? (await this.#reclaims.nodeOf(machineId, signal));
  }

  /** The outcome counts whether or not the cluster can be told of it. */
  async #tellOutcome(
    machineId: string,
    drained: NodeRecord,
    outcome: Exclude<DrainOutcome, { kind: 'given_up' }>,
  ): Promise<void> {
    const { signal } = this.#options;
    const node = this.#index.node(drained.name) ?? drained;
    try {
      if (outcome.kind === 'empty') {
        await this.#upcomingNodes.setPhase(machineId, { phase: 'Drained' }, signal);
      } else {
        const lastError = DRAIN_ERROR + drainProblem(outcome);
        await this.#upcomingNodes.setPhase(machineId, { phase: 'Failed', lastError }, signal);
      }
      await this.#reclaims.drainIsOver(node, signal);
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#options.hooks.choreFailed(error.message);
    }
  }

  interruptedDrains(): readonly InterruptedDrain[] {
    return interruptedDrains(this.#index.nodes());
  }

  // ── node identity ───────────────────────────────────────────────────────────────────────

  nodeLinks(): Iterable<NodeLink> {
    return this.#index.links();
  }

  nodeLinkOf(machineId: string): NodeLink | undefined {
    return this.#index.linkOf(machineId);
  }

  phantomMachineIds(): readonly string[] {
    return this.#phantoms.ids;
  }

  /** By the process's own clock: neither a scrape nor a session has to be there. */
  async #lookForPhantoms(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    while (!signal.aborted) {
      await sleep(runtime, PHANTOM_LOOK_MS, signal).catch(() => undefined);
      // Before its first full list, a Node is only not heard of yet.
      if (signal.aborted || !this.#nodes.isSynced || !this.#upcoming.isSynced) continue;
      const hasChanged = this.#phantoms.look(this.#unusable(), runtime.clock.monotonicMs());
      if (hasChanged) this.#observer?.phantomsChanged();
    }
  }

  /** Machines at Ready on whose Node no Pod can land. */
  *#unusable(): IterableIterator<string> {
    for (const { machineId, phase } of this.#upcoming.records()) {
      if (phase !== 'Ready') continue;
      const node = this.#nodeOf(machineId);
      if (node?.isReady !== true || node.isUnschedulable) yield machineId;
    }
  }

  watch(observer: ClusterObserver): () => void {
    this.#observer = observer;
    return () => {
      if (this.#observer === observer) this.#observer = undefined;
    };
  }

  #linked(link: NodeLink): void {
    this.#observer?.nodeLinked(link);
    this.#chore(this.#upcomingNodes.linked(link, this.#options.signal));
  }

  #upcomingSeen(record: UpcomingRecord): void {
    this.#upcomingNodes.seen(record.name);
    const { machineId, providerId, nodeName } = record;
    // A restarted operator knows its machines from their UpcomingNodes until the shard replays their
    // frames.
    if (this.#index.linkOf(machineId) === undefined) {
      this.#index.machineKnown({ machineId, providerId, nodeName });
    }
  }

  #nodeOf(machineId: string): NodeRecord | undefined {
    const link = this.#index.linkOf(machineId);
    return link === undefined ? undefined : this.#index.node(link.nodeName);
  }

  /** A restarted shard has forgotten its instruction, or gives it again; which of the two, time tells. */
  #doubt(update: NodeStateUpdate): void {
    const { machineId } = update;
    if (this.#doubted.has(machineId)) return;
    const { timers } = this.#options.runtime;
    const giveUp = (): void => {
      this.#doubted.delete(machineId);
      if (!this.#options.signal.aborted) this.#chore(this.#giveUp(update));
    };
    this.#doubted.set(machineId, timers.after(GIVE_UP_AFTER_MS, giveUp));
  }

  /** The shard has said something else of this machine since. */
  #trust(machineId: string): void {
    this.#doubted.get(machineId)?.cancel();
    this.#doubted.delete(machineId);
  }

  async #giveUp(update: NodeStateUpdate): Promise<void> {
    const { machineId } = update;
    const node = this.#nodeOf(machineId);
    if (node === undefined || readMark(node.reclaim) === undefined) return;
    this.#options.hooks.drainGivenUp(machineId, node.name);
    this.#draining.get(machineId)?.abort(new Error('the shard says that the machine serves'));
    // The mark on the Node belongs to a drain that is over, as that of a machine that comes back.
    this.#arriving.add(machineId);
    try {
      await this.applyNodeState(update, this.#options.signal);
    } catch (error) {
      this.#arriving.delete(machineId);
      this.#doubt(update);
      throw error;
    }
  }

  #isBeingDrained(machineId: string, node: NodeRecord | undefined): boolean {
    const mark = node === undefined ? undefined : readMark(node.reclaim);
    if (mark === undefined || this.#arriving.has(machineId)) return false;
    return mark.deadlineUnixMs > Number(this.#options.runtime.clock.unixNanos() / 1_000_000n);
  }

  // ── reflectors ──────────────────────────────────────────────────────────────────────────

  #watched(resource: string): ReflectorObserver<unknown> {
    const { hooks } = this.#options;
    return {
      heard: () => hooks.heard(resource),
      relisted: (reason, differences) => hooks.relisted(resource, reason, differences),
      failed: (failure) => hooks.reflectorFailed(resource, failure),
    };
  }

  #chore(work: Promise<void>): void {
    void work.catch((error: unknown) => {
      if (this.#options.signal.aborted) return;
      if (!(error instanceof BigFleetError)) throw error;
      this.#options.hooks.choreFailed(describeThrown(error));
    });
  }
}

function drainProblem(outcome: Exclude<DrainOutcome, { kind: 'empty' | 'given_up' }>): string {
  switch (outcome.kind) {
    case 'deadline':
      return `the grace is over, ${outcome.error ?? `pods remaining: ${outcome.podsRemaining}`}`;
    case 'forbidden':
      return outcome.error;
    case 'node_not_found':
      return 'the node is gone';
  }
}
