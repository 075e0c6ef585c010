// What a shard is made of, as arguments: time, thread, providers, files, transport. Production
// passes real ones (start-process.ts), a simulation passes virtual ones; the shard between them is
// the same.

import type { Runtime } from '@bigfleet/base';
import type { ConfigureBrake } from '@bigfleet/engine';
import type { Logger, MetricRegistry, ReadinessSource, SampleTrace } from '@bigfleet/telemetry';
import type { ByteRouter, Router } from '@bigfleet/wire';
import type { AuditLog } from '../audit/audit-log.ts';
import type { ShardCore } from '../core/shard-core.ts';
import type { ShardObserver } from '../core/observer.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';
import type { PhaseTimings } from '../metrics/phase-timings.ts';
import type { OwnershipOptions } from '../ownership/open-ownership.ts';
import type { ShardControl } from '../ownership/control.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { Actuation } from '../rails/actuation.ts';
import type { DurableFile } from '../rails/durable-file.ts';
import type { RailFlags } from '../rails/settings.ts';
import type { SegmentFiles } from '../records/segment-files.ts';
import type { Operators } from '../operators/operators.ts';

export interface ShardOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly shardId: string;
  /** Durable before the first mutation; above that of every predecessor. */
  readonly epoch: bigint;
  /** Closed by the shard when it stops. */
  readonly host: EngineHost;
  /** Stamped with this epoch; the caller closes what it dialled. */
  readonly providers: ProviderSet;
  readonly storage: ShardStorage;
  readonly transport: ShardTransport;
  readonly settings: ShardSettings;
  /** Raw cycle durations; the caller closes it. */
  readonly samples?: SampleTrace | undefined;
  /** Absent: the providers are this shard's alone, and nobody steers it. */
  readonly ownership?: OwnershipOptions;
  /** Of the coordinator's client, when there is one; 0 otherwise. */
  readonly coordinatorTerm?: (() => bigint) | undefined;
  /** Further services on the same server: reading. Called once, before anything is served. */
  readonly extend?: (router: Router, parts: ShardParts) => ShardExtension;
}

export interface ShardStorage {
  readonly rails: DurableFile;
  /** Undefined keeps no decision records. */
  readonly records: SegmentFiles | undefined;
  readonly audit: AuditLog;
}

export interface ShardTransport {
  /** What the process was configured with; never what a connection looks like. */
  readonly mode: 'plaintext' | 'mtls';
  listen(router: ByteRouter): Promise<ShardListener>;
}

export interface ShardListener {
  readonly address: string;
  /** Bounded: sessions never end by themselves. */
  stop(): Promise<void>;
}

export interface ShardSettings {
  readonly rails: RailFlags;
  /** The brake on machines that never join. */
  readonly hasConfigureBrake: boolean;
  readonly executeConcurrency: number;
  readonly requireSessionCn: boolean;
  readonly hasLocalBootstrap: boolean;
  /** For the labels of reconcile; the sources decide for themselves. */
  readonly isIncremental: boolean;
  readonly recordsMaxBytes: number;
  readonly metricsWarmupCycles: number;
  /** 0 is the default of 5 s. */
  readonly hintIntervalMs: number;
  readonly hasPhaseAttribution: boolean;
  readonly hasReflection: boolean;
  readonly cycleIntervalMs?: number;
  readonly bootstrapTimeoutMs?: number;
  readonly stopGraceMs?: number;
}

/** Of the library: rails 1 and 2 and the brake are off, every deployed entry point turns them on. */
export const LIBRARY_SETTINGS: ShardSettings = {
  rails: {
    paused: false,
    dryRun: false,
    reclaimCapFraction: 0,
    emptyRollupGuard: false,
    maxActionsPerCycle: 0,
  },
  hasConfigureBrake: false,
  executeConcurrency: 64,
  requireSessionCn: false,
  hasLocalBootstrap: false,
  isIncremental: false,
  recordsMaxBytes: 0,
  metricsWarmupCycles: 0,
  hintIntervalMs: 0,
  hasPhaseAttribution: false,
  hasReflection: false,
};

/** What services beside the sessions may read. */
export interface ShardParts
  extends Pick<
    ShardOptions,
    'shardId' | 'epoch' | 'runtime' | 'logger' | 'registry' | 'host' | 'providers'
  > {
  readonly startedUnixNanos: bigint;
  readonly core: ShardCore;
  /** Undefined when the rail is off. */
  readonly brake: ConfigureBrake | undefined;
  readonly operators: Operators;
  readonly actuation: Actuation;
  readonly demand: DemandLedger;
  readonly timings: Pick<PhaseTimings, 'read'>;
  readonly records: SegmentFiles | undefined;
  /** Undefined without ownership. */
  readonly control: ShardControl | undefined;
  /** Takes over background work; its rejection ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}

export interface ShardExtension {
  readonly observer?: Partial<ShardObserver>;
  /** Ends its streams; the shard is stopping. */
  readonly stop?: () => void;
}

export interface RunningShard {
  readonly parts: ShardParts;
  /** As bound. */
  readonly address: string;
  readonly readiness: ReadinessSource;
  /** Resolves when the shard cannot go on: the engine was lost, or a bug ended a component. */
  readonly failed: Promise<Error>;
  /** Within its bound, whatever peers do. Idempotent. */
  stop(): Promise<void>;
}
