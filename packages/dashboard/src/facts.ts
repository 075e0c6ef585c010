// What the model of the fleet is told, by whoever follows a shard: the server from the shard's live feed,
// the playground from its own simulation. Plain values, no messages of the wire, so that both run the same
// model and the same views.

import type { CapacityTypeCode, StateCode } from '@bigfleet/engine';
import type { Result } from '@bigfleet/base';
import type { Answer, NeedRef, Params, Problem, Source, ViewName } from './api/index.ts';
import type { CellsEvent, CycleEvent } from './api/stream.ts';
import type { Decision } from './api/common.ts';

export interface MachineFacts {
  readonly machine: string;
  readonly state: StateCode;
  readonly cluster: string;
  readonly provider: string;
  readonly instanceType: string;
  readonly region: string;
  readonly zone: string;
  readonly rack: string;
  readonly capacityType: CapacityTypeCode;
  readonly dollarsPerHour: number;
  readonly interruptionProbability: number;
  readonly priority: number;
  /** Penalty buckets as the wire numbers them (PENALTY_BUCKET_…). */
  readonly interruptionPenaltyBucket: number;
  readonly reclamationPenaltyBucket: number;
  readonly node: string;
  readonly sinceMs: number;
  readonly pendingAction: string;
  readonly lastError: string;
  /** Fingerprint of the need that it serves. */
  readonly need: string;
  /** Gang of that need; empty for plain needs. */
  readonly group: string;
}

export interface NeedFacts extends NeedRef {
  readonly priority: number;
  readonly interruptionPenaltyBucket: number;
  readonly reclamationPenaltyBucket: number;
  readonly requirements: readonly string[];
  readonly resources: Readonly<Record<string, string>>;
  readonly isSatisfied: boolean;
  readonly deficit: Readonly<Record<string, string>>;
  /** Unmet code; empty when satisfied. */
  readonly reason: string;
  readonly claimed: number;
  readonly ageCyclesUnmet: number;
  readonly isEscalated: boolean;
  readonly isParked: boolean;
  readonly domain: string;
  readonly matching: {
    readonly idle: number;
    readonly configured: number;
    readonly speculative: number;
  };
  readonly awaitingDrain: number;
}

export interface CycleFacts {
  readonly cycle: number;
  readonly atMs: number;
  readonly machinesChanged: readonly MachineFacts[];
  readonly machinesRemoved: readonly string[];
  readonly needsChanged: readonly NeedFacts[];
  readonly needsRemoved: readonly NeedRef[];
  /** By kind, PascalCase. */
  readonly actions: Readonly<Record<string, number>>;
  readonly shortfalls: number;
  readonly dollarsPerHour: number;
}

export interface RecordFacts {
  readonly epoch: bigint;
  readonly cycle: number;
  readonly atMs: number;
  /** A decision record or its dispositions, as the engine encoded them. */
  readonly payload: Uint8Array;
  /** Hex. */
  readonly actionHash: string;
}

export interface ShardFacts {
  readonly epoch: bigint;
  readonly startedMs: number;
  readonly isReady: boolean;
  readonly isPaused: boolean;
  readonly isDryRun: boolean;
  readonly rails: readonly string[];
  readonly version: string;
  readonly providers: readonly ProviderFacts[];
  readonly sessions: readonly SessionFacts[];
  readonly brakes: readonly BrakeFacts[];
  /** Parts of a cycle in the order in which they run, and `cycle`, the whole; empty when it tells none. */
  readonly phases: readonly PhaseFacts[];
}

export interface PhaseFacts {
  readonly phase: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** How many were measured. */
  readonly cycles: number;
}

export interface ProviderFacts {
  readonly name: string;
  readonly address: string;
  readonly source: string;
  readonly isShared: boolean;
  readonly isHealthy: boolean;
  readonly lastListMs: number;
}

export interface SessionFacts {
  readonly cluster: string;
  readonly isConnected: boolean;
  readonly sinceMs: number;
  readonly lastRollupMs: number;
  readonly quarantinedRollups: number;
  readonly identity: string;
  /** Its operator tells which Node is which machine, and so which machine has none. */
  readonly tellsNodes: boolean;
  /** Machines at Ready whose Node is not. */
  readonly phantoms: readonly string[];
}

export interface BrakeFacts {
  readonly subject: string;
  readonly failures: number;
  readonly pauseEndsMs: number;
  readonly lastError: string;
}

/** The feed of one shard, in the order of its frames. */
export interface ShardFeed {
  /** A stream has opened. `isResumed`: what follows continues what was told before. */
  begin(hello: {
    readonly epoch: bigint;
    readonly cycle: number;
    readonly isResumed: boolean;
  }): void;
  /** A part of a snapshot; nothing counts before its end. */
  snapshotPart(machines: readonly MachineFacts[], needs: readonly NeedFacts[]): void;
  /**
   * Whole: the difference to what was known before is one step of the history. Totals that do not fit
   * are refused with `snapshot_incomplete` and change nothing: whoever follows subscribes again.
   */
  snapshotEnd(totals: {
    readonly machines: number;
    readonly needs: number;
    readonly atMs: number;
  }): Result<void, Problem>;
  cycle(facts: CycleFacts): void;
  record(facts: RecordFacts): void;
  status(facts: ShardFacts): void;
  /** The stream's own state, for `Source`. */
  source(state: Source['state'], problem: string): void;
}

export interface CoordinatorFacts {
  readonly status: Answer<'coordinator'>['coordinator'];
  readonly bindings: Answer<'coordinator'>['bindings'];
  readonly transfers: Answer<'coordinator'>['transfers'];
  readonly queue: Answer<'coordinator'>['queue'];
}

/** Whose clusters are whose, by name: `*` stands for any text. */
export interface TeamPattern {
  readonly team: string;
  readonly pattern: string;
}

export type ConformanceFacts = NonNullable<Answer<'providers'>['providers'][number]['conformance']>;

/** What nobody on the wire knows, and whoever starts the dashboard says. */
export interface Annotations {
  /** The first that matches counts. */
  readonly teams: readonly TeamPattern[];
  /** By the provider's name, as shards know it. */
  readonly conformance: ReadonlyMap<string, ConformanceFacts>;
}

/** What the model cannot answer from what it was told: asked of a shard, or of the playground's engine. */
export interface Outside {
  explain(question: ExplainQuestion): Promise<Result<ExplainFacts, Problem>>;
  /** A record that the model no longer keeps. */
  record(shard: string, epoch: bigint, cycle: number): Promise<Result<RecordFacts, Problem>>;
  whatIf(params: Params<'whatif'>): Promise<Result<Omit<Answer<'whatif'>, 'frame'>, Problem>>;
  /** The need of a Pod, when a cluster can be asked. */
  needOfPod(cluster: string, pod: string): Promise<Result<NeedRef, Problem>>;
}

export interface ExplainQuestion {
  readonly shard: string;
  readonly subject: { readonly machine: string } | { readonly need: NeedRef };
  /** 0 is the newest that mentions it. */
  readonly cycle: number;
  readonly withCounterfactuals: boolean;
}

export type ExplainFacts = Pick<
  Answer<'explain'>,
  | 'epoch'
  | 'cycle'
  | 'atMs'
  | 'kind'
  | 'reason'
  | 'text'
  | 'candidates'
  | 'displacements'
  | 'counterfactuals'
  | 'isTruncated'
>;

/** Told as they happen, in order; a listener must not throw. */
export type ModelEvent =
  | { readonly name: 'decision'; readonly data: Decision }
  | { readonly name: 'cycle'; readonly data: CycleEvent }
  | { readonly name: 'cells'; readonly data: CellsEvent }
  | { readonly name: 'source'; readonly data: Source };

export interface ModelSizes {
  readonly machines: number;
  readonly needs: number;
  readonly decisions: number;
  readonly columnBytes: number;
  readonly historyBytes: number;
  readonly recordBytes: number;
  readonly damagedRecords: number;
}

/** The whole model: fed by shards, asked for views. */
export interface Fleet {
  /** Made on first use. */
  shard(name: string, address: string): ShardFeed;
  coordinator(facts: CoordinatorFacts): void;
  source(source: Source): void;
  /** Counts up with everything that may change an answer: equal versions, equal answers. */
  readonly version: number;
  /** What the model holds, for metrics. */
  sizes(): ModelSizes;
  answer<V extends ViewName>(view: V, params: Params<V>): Promise<Result<Answer<V>, Problem>>;
  subscribe(listener: (event: ModelEvent) => void): () => void;
}
