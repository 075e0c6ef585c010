// What the session needs of the cluster it speaks for, and nothing more: no Kubernetes type appears
// here, so that a simulated cluster under virtual time and the real one are interchangeable.
//
// Contract for implementations: never throw from a synchronous method for a reason outside the
// process; reject with what the API server said; honour `signal` promptly, because the caller stops
// waiting when it aborts. Every method may be called again with the same arguments: frames are
// replayed after each reconnect.

import type { UpcomingNodePhase } from '@bigfleet/kube';
import type { Secret } from '@bigfleet/telemetry';
import type { AvailableCapacityUpdate, BootstrapRequest, NodeStateUpdate } from '@bigfleet/wire';
import type { RefusedRequest, RequestRef } from '../rollup/capacity-request.ts';
import type { DemandIndex } from '../rollup/demand-index.ts';

export interface ClusterPort {
  /**
   * The complete demand, or undefined until the first full list of this process is done. A
   * partial set would be a full replacement that asks the shard to reclaim the cluster
   * (kubernetes §3.1), so an implementation swaps whole indexes and never hands out a partial one.
   */
  demand(): DemandIndex | undefined;

  /** Pending → Acknowledged. `gone`: the object no longer exists, which is as good. */
  acknowledge(request: RequestRef, signal: AbortSignal): Promise<'acknowledged' | 'gone'>;

  /** Once per bad version of an object, for an Event on it. */
  requestRefused(refused: RefusedRequest): void;

  /** Immediately and without I/O: the shard's executor waits for the answer. */
  renderBootstrap(request: BootstrapRequest): BootstrapResult;

  /** Resolves when the state is written, with the phase that it became. */
  applyNodeState(update: NodeStateUpdate, signal: AbortSignal): Promise<UpcomingNodePhase>;

  applyAvailableCapacity(update: AvailableCapacityUpdate, signal: AbortSignal): Promise<void>;

  /** The replay is complete: UpcomingNodes of machines outside `known` are left-overs. */
  sweepMachines(known: ReadonlySet<string>, signal: AbortSignal): Promise<void>;

  /** Likewise for AvailableCapacity objects, by `supersedes_key`. */
  sweepAvailableCapacity(known: ReadonlySet<string>, signal: AbortSignal): Promise<void>;

  /**
   * Marks the node unschedulable and remembers instruction and deadline on it, so that a restarted
   * operator finds the drain again. `not_found`: the target names no node of this cluster.
   */
  cordon(target: DrainTarget, plan: DrainPlan, signal: AbortSignal): Promise<CordonOutcome>;

  /**
   * Evicts until the node is empty. `control.signal` aborts at the deadline; the answer is then
   * `deadline` with what is left. A rejection is tried again until the deadline.
   */
  drain(target: DrainTarget, control: DrainControl): Promise<DrainOutcome>;

  /** Drains that an earlier process began and did not finish; asked once, at start. */
  interruptedDrains(): readonly InterruptedDrain[];

  /** Every known link between a node and a machine. */
  nodeLinks(): Iterable<NodeLink>;

  nodeLinkOf(machineId: string): NodeLink | undefined;

  /**
   * Machines at Ready whose Node is missing, not Ready or unschedulable for two minutes, by the last look:
   * all of them, sorted. What is answered is never changed afterwards.
   */
  phantomMachineIds(): readonly string[];

  /** Returns the unsubscription. One session subscribes at a time. */
  watch(observer: ClusterObserver): () => void;
}

/** What the cluster tells without being asked. Calls are cheap and never throw. */
export interface ClusterObserver {
  /** The first full list is done, or a CapacityRequest changed after it. */
  demandChanged(): void;
  /** Linked, or renamed. */
  nodeLinked(link: NodeLink): void;
  nodeUnlinked(machineId: string): void;
  /** `phantomMachineIds` answers with another set. */
  phantomsChanged(): void;
}

export interface NodeLink {
  readonly machineId: string;
  readonly nodeName: string;
  readonly providerId: string;
  readonly nodeUid: string;
}

export type BootstrapResult =
  | {
      readonly kind: 'rendered';
      readonly userData: Secret<Uint8Array>;
      /** Life of the credential in it; 0 means: use at once. */
      readonly ttlSeconds: number;
    }
  /** The shard turns the text into a shortfall; it must hold no secret. */
  | { readonly kind: 'unsatisfiable'; readonly error: string };

/** One entry of a reclaim instruction. */
export interface DrainTarget {
  /** As the shard named it: a node name, or the machine id while the name is unknown. */
  readonly node: string;
  /** Empty from a shard that does not send it. */
  readonly machineId: string;
}

export interface DrainPlan {
  readonly instructionId: string;
  readonly deadlineUnixMs: number;
  /** 0 on a voluntary reclaim. */
  readonly preemptorPriority: number;
  /** For Events and logs; may be empty. */
  readonly reasonCode: string;
}

export interface DrainControl {
  readonly instructionId: string;
  /** Aborts at the deadline, which a later instruction may bring forward, or at shutdown. */
  readonly signal: AbortSignal;
  /** Never negative. */
  remainingMs(): number;
  /** The process stops, and the drain is not over: whoever comes next goes on with it. */
  readonly isInterrupted: boolean;
}

export type CordonOutcome =
  | { readonly kind: 'cordoned' }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'failed'; readonly error: string };

export type DrainOutcome =
  | { readonly kind: 'empty' }
  | { readonly kind: 'deadline'; readonly podsRemaining: number; readonly error?: string }
  | { readonly kind: 'forbidden'; readonly error: string }
  | { readonly kind: 'node_not_found' }
  /** The shard says that the machine serves: it has forgotten the instruction. */
  | { readonly kind: 'given_up' };

export interface InterruptedDrain {
  readonly target: DrainTarget;
  readonly instructionId: string;
  readonly deadlineUnixMs: number;
}
