// The loop and the sessions, tied to each other. They know one another only through ports; the ties
// are here. The core is made last, because everything it calls must exist; what it is called by gets
// at it through methods.

import { BigFleetError } from '@bigfleet/base';
import { ConfigureBrake, heldOffKey, State } from '@bigfleet/engine';
import type { ShardObserver } from '../core/observer.ts';
import { ShardCore, type ShardCoreOptions } from '../core/shard-core.ts';
import type { ActuationRails } from '../cycle/dispose.ts';
import type { BlobSource } from '../execute/ports.ts';
import { DemandLedger } from '../ledgers/demand-ledger.ts';
import { FirstSeen } from '../ledgers/first-seen.ts';
import { TransitionClock } from '../ledgers/transition-clock.ts';
import { type ActionMetrics, createActionMetrics } from '../metrics/action-metrics.ts';
import { createCycleMetrics } from '../metrics/cycle-metrics.ts';
import { createMachineMetrics } from '../metrics/machine-metrics.ts';
import { PhaseTimings } from '../metrics/phase-timings.ts';
import { createOperators, type Operators } from '../operators/operators.ts';
import { Control } from '../ownership/control.ts';
import type { OpenOwnership } from '../ownership/open-ownership.ts';
import { quotaRemaining } from '../ownership/quota-remaining.ts';
import type { Actuation } from '../rails/actuation.ts';
import type { ForgetClusterOptions } from '../rails/forget-cluster.ts';
import type { RecordWriter } from '../records/record-writer.ts';
import { emptyRollup } from '../rollup/admission.ts';
import type { AppliedDemand } from '../rollup/demand-listing.ts';
import { localBlobs, operatorBlobs } from './blob-source.ts';
import { BoundMachineIndex } from './bound-machines.ts';
import { OperatorDrainDesk } from './drain-desk.ts';
import { createLogObserver, type LogObserver } from './log-observer.ts';
import { createNodeNotices, type NodeNotices } from './node-notices.ts';
import {
  combineObservers,
  createAuditObserver,
  createHintCycle,
  createMetricsObserver,
  createSampleObserver,
} from './observers.ts';
import { createPhaseAttribution } from './phase-attribution.ts';
import { createBrakeLines } from './log-lines.ts';
import { noCoordinator } from './router.ts';
import type { ShardExtension, ShardOptions, ShardParts } from './shard-options.ts';
import { createListSizeWatch, createTransitionWatch } from './watches.ts';

export interface WiringOptions {
  readonly options: ShardOptions;
  readonly actuation: Actuation;
  readonly records: RecordWriter | undefined;
  /** Undefined: everything that a provider lists is ours. */
  readonly ownership: OpenOwnership | undefined;
  readonly supervise: ShardParts['supervise'];
  /** The shard cannot go on. */
  readonly fail: (error: Error) => void;
}

export class ShardWiring {
  readonly demand: DemandLedger = new DemandLedger();
  readonly timings: PhaseTimings = new PhaseTimings();
  readonly operators: Operators;
  readonly core: ShardCore;
  readonly brake: ConfigureBrake | undefined;
  readonly control: Control | undefined;
  readonly #given: WiringOptions;
  readonly #firstSeen = new FirstSeen();
  readonly #transitions = new TransitionClock();
  readonly #bound: BoundMachineIndex = new BoundMachineIndex(() => this.core.fleet);
  readonly #desk: OperatorDrainDesk;
  readonly #actions: ActionMetrics;
  readonly #notices: NodeNotices;
  readonly #log: LogObserver;
  /** Each gets every call, in order; read at every call. */
  readonly #observers: Partial<ShardObserver>[];

  constructor(given: WiringOptions) {
    this.#given = given;
    const { options, actuation } = given;
    const { runtime, logger, registry, host, providers, settings } = options;
    this.operators = this.#createOperators();
    this.#desk = new OperatorDrainDesk({
      waits: this.operators.drains,
      offer: (order, graceSeconds) => this.core.drainDue(order, graceSeconds),
      onDue: (machineId) => this.#transitions.restarted(machineId, State.Draining, this.#nowMs()),
    });
    this.#actions = createActionMetrics(registry);
    this.#notices = this.#createNotices();
    this.#log = createLogObserver({ ...options, rails: () => actuation.effective });
    this.brake = settings.hasConfigureBrake
      ? new ConfigureBrake(createBrakeLines(logger))
      : undefined;
    this.#observers = this.#createObservers();
    this.core = new ShardCore({
      runtime,
      host,
      providers,
      executeConcurrency: settings.executeConcurrency,
      cycleIntervalMs: settings.cycleIntervalMs,
      blobs: this.#blobs(),
      drains: this.#desk,
      rails: () => this.#rails(),
      heldOff: () => this.#heldOff(),
      brake: this.brake,
      refusedRollups: () => this.operators.rollups.notes.refused.take(),
      onNodeChange: (change) => this.#notices.changed(change),
      ...ownershipTies(given.ownership, () => this.core),
      observer: combineObservers(this.#observers),
    });
    actuation.onChange(() => this.core.railsChanged());
    this.control = this.#createControl();
  }

  /** Before the core starts. */
  extend({ observer = {} }: ShardExtension): void {
    this.#observers.push(observer);
  }

  /** For ForgetCluster. */
  get forget(): ForgetClusterOptions {
    const { operators } = this;
    return {
      logger: this.#given.options.logger,
      hasSession: (cluster) => operators.sessions.sessionOf(cluster) !== undefined,
      forgetSessionState: (cluster) => operators.forget(cluster),
      port: {
        boundMachineCount: (cluster) => this.#bound.countOf(cluster),
        isKnown: (cluster) => this.demand.has(cluster),
        forgetDemand: async (cluster) => {
          await this.#given.options.host.applyRollup(emptyRollup(cluster));
          const rowCount = this.demand.rowCountOf(cluster);
          this.demand.forget(cluster);
          this.#firstSeen.forget(cluster);
          this.brake?.clear((braked) => 'cluster' in braked && braked.cluster === cluster);
          this.core.wake();
          return rowCount;
        },
      },
    };
  }

  close(): void {
    this.#notices.close();
    this.#log.close();
  }

  #createOperators(): Operators {
    const { options, actuation, supervise } = this.#given;
    const { runtime, logger, registry, host, transport, settings, epoch } = options;
    const coordinatorTerm = options.coordinatorTerm ?? noCoordinator;
    return createOperators({
      runtime,
      logger,
      registry,
      identityPolicy: { transport: transport.mode, requireSessionCn: settings.requireSessionCn },
      hintIntervalMs: settings.hintIntervalMs,
      bootstrapTimeoutMs: settings.bootstrapTimeoutMs,
      machines: this.#bound,
      isInventoryWhole: () => this.core.readiness.isInventoryWhole,
      demand: this.demand,
      engine: host,
      isGuarded: () => actuation.effective.emptyRollupGuard,
      demandApplied: (cluster, demand) => this.#demandApplied(cluster, demand),
      drainFired: (drain) => this.#desk.fired(drain),
      ackStamp: () => ({ coordinatorTerm: coordinatorTerm(), shardEpoch: epoch }),
      supervise,
    });
  }

  /** The main thread's memory of a roll-up that is in the engine's table. */
  #demandApplied(cluster: string, applied: AppliedDemand | undefined): void {
    this.demand.applied(cluster, applied);
    this.#firstSeen.demanded(cluster, this.demand.profilesOf(cluster), this.#nowMs());
    this.core.wake();
  }

  #createControl(): Control | undefined {
    const { options, actuation, ownership, supervise } = this.#given;
    if (ownership === undefined) return undefined;
    const { core, demand, operators } = this;
    return new Control({ ...options, ...ownership, actuation, supervise, core, demand, operators });
  }

  #createNotices(): NodeNotices {
    const { runtime, logger, registry } = this.#given.options;
    return createNodeNotices({
      runtime,
      logger,
      bound: this.#bound,
      nodeStates: this.operators.nodeStates,
      leaveDrain: (machineId) => this.#desk.leave(machineId),
      measure: createMachineMetrics({
        registry,
        nowMs: () => this.#nowMs(),
        clock: this.#transitions,
        firstSeen: this.#firstSeen,
        idleReleases: this.#actions.idleReleases,
      }),
    });
  }

  /** Metrics first, so that a log line and the gauge it speaks of agree. */
  #createObservers(): Partial<ShardObserver>[] {
    const { options, supervise } = this.#given;
    const { runtime, logger, registry, host, providers, storage, settings } = options;
    const { clock } = runtime;
    const fleet = (): ShardCore['fleet'] => this.core.fleet;
    const { metricsWarmupCycles: warmupCycles } = settings;
    const cycles = createCycleMetrics({ registry, warmupCycles, timings: this.timings });
    return [
      createMetricsObserver({
        registry,
        clock,
        providers,
        isIncremental: settings.isIncremental,
        cycles,
        actions: this.#actions,
        demand: this.demand,
        fleet,
      }),
      this.#log,
      createAuditObserver(storage.audit, () => this.core.cycleCount),
      this.#coreTies(),
      ...(options.samples === undefined ? [] : [createSampleObserver(options.samples, clock)]),
      createHintCycle({
        hints: this.operators.hints,
        fleet,
        clock,
        supervise,
        published: (tookMs) => cycles.published(tookMs),
      }),
      createListSizeWatch(logger, fleet, settings.isIncremental),
      createTransitionWatch(logger, this.#transitions, () => this.#nowMs()),
      { onCycle: (report) => this.control?.cycled(report) },
      { onCycle: () => this.operators.cycled() },
      ...(settings.hasPhaseAttribution
        ? [createPhaseAttribution({ host, fleet, logger, timers: runtime.timers, supervise })]
        : []),
    ];
  }

  /** Records, the fenced latch, drains that wait for room, and the end of the engine. */
  #coreTies(): Partial<ShardObserver> {
    const { actuation, records, fail } = this.#given;
    return {
      onCycle: ({ answer, dispositions }) => {
        records?.append({ ...answer, dispositions });
        this.#desk.offerDue();
      },
      onReleased: () => this.#desk.offerDue(),
      onFenced: () => actuation.latchFenced(),
      onCycleError: (error) => {
        if (error instanceof BigFleetError && error.code === 'engine_lost') fail(error);
      },
    };
  }

  #blobs(): BlobSource {
    const { settings, runtime } = this.#given.options;
    return settings.hasLocalBootstrap
      ? localBlobs
      : operatorBlobs(this.operators.bootstrap, runtime.clock);
  }

  #rails(): ActuationRails {
    const { paused, dryRun, reclaimCapFraction, maxActionsPerCycle } =
      this.#given.actuation.effective;
    return { isPaused: paused, isDryRun: dryRun, reclaimCapFraction, maxActionsPerCycle };
  }

  #heldOff(): ReadonlySet<string> {
    const { holdOffs } = this.operators.bootstrap;
    const pairs = new Set<string>();
    if (holdOffs.size === 0) return pairs;
    for (const cluster of this.demand.clusters()) {
      for (const fingerprint of holdOffs.heldOf(cluster)) {
        pairs.add(heldOffKey(cluster, fingerprint));
      }
    }
    return pairs;
  }

  #nowMs(): number {
    return this.#given.options.runtime.clock.monotonicMs();
  }
}

function ownershipTies(
  ownership: OpenOwnership | undefined,
  core: () => ShardCore,
): Pick<ShardCoreOptions, 'gate' | 'quotaRemaining'> {
  if (ownership === undefined) return {};
  const { keeper, store } = ownership;
  return {
    gate: keeper,
    quotaRemaining: () => quotaRemaining(store.assignment.quotas, core().fleet.inventory),
  };
}
