// The parts that face the operators, built and wired: sessions, roll-up lanes, resync, bootstrap
// requests, drain waits, node names, node states and hints. One timer wheel serves all of their
// deadlines. All of it is plain synchronous code of the main thread; the shard's side comes in through
// `ShardPorts`, and the shard calls `Operators`.

import { type Runtime, TimerWheel } from '@bigfleet/base';
import {
  createSampledMessage,
  defineMessage,
  type Logger,
  type LogMessage,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import type { Denial, Handlers, Shard } from '@bigfleet/wire';
import { BootstrapRequests, createBootstrapMetrics } from '../bootstrap/bootstrap-requests.ts';
import { DrainWaits, type FiredDrain } from '../drain/drain-waits.ts';
import { createDrainMetrics } from '../drain/metrics.ts';
import { HintPublisher } from '../hints/hint-publisher.ts';
import type { ClusterDemand } from '../hints/supply.ts';
import { createNodeMetrics, NodeNames } from '../nodes/node-names.ts';
import { NodeStates } from '../nodes/node-states.ts';
import type { BoundMachines } from '../nodes/node-view.ts';
import type { RollupEngine } from '../rollup/admission.ts';
import { type DemandView, RollupIntake, type RollupIntakeOptions } from '../rollup/intake.ts';
import type { AckStamp } from '../session/frame.ts';
import type { Extension } from '../session/hello.ts';
import { type IdentityPolicy, reportDeniedRole } from '../session/identity.ts';
import { createSessionMetrics } from '../session/metrics.ts';
import { Resync } from '../session/resync.ts';
import { SessionService } from '../session/session-service.ts';
import { SessionTable } from '../session/session-table.ts';
import { SeriesExpiry } from './series-expiry.ts';

/** How late a deadline may fire, and how finely wake-ups are merged. */
const TICK_MS = 100;

/** A frame, or a part of one, that had no effect. Sampled: a peer chooses how often. */
const frameIgnored: LogMessage<'cluster' | 'reason', 'detail'> = defineMessage({
  level: 'warn',
  text: 'operator message handling',
  keys: ['cluster', 'reason'],
  optional: ['detail'],
});
const FRAME_IGNORED_PER_SECOND = 10;

/** The shard's side of the sessions. */
export interface ShardPorts {
  readonly machines: BoundMachines;
  readonly demand: ClusterDemand;
  readonly engine: RollupEngine;
  /** Rail 2, as of now. */
  readonly isGuarded: () => boolean;
  /** A roll-up is in the engine's table: note its demand and run a cycle. */
  readonly demandApplied: RollupIntakeOptions['onApplied'];
  /** An operator finished its part of a drain, or its grace ran out: queue the provider call. */
  readonly drainFired: (drain: FiredDrain) => void;
  /** For acknowledgements; forensic. */
  readonly ackStamp: () => AckStamp;
  /** Takes over background work; its rejection is a bug and ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}

export interface OperatorsOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly ports: ShardPorts;
  readonly identityPolicy: IdentityPolicy;
  readonly maxSessions?: number | undefined;
  readonly bootstrapTimeoutMs?: number | undefined;
  readonly hintIntervalMs?: number | undefined;
}

/** One line of ListSessions. */
export interface SessionSummary {
  readonly cluster: string;
  readonly sinceUnixNanos: bigint;
  readonly extensions: readonly Extension[];
  readonly presentedIdentity: string;
  readonly outboxFrameCount: number;
  readonly demand: DemandView;
}

export interface Operators {
  /** For the router. */
  readonly handlers: Handlers<typeof Shard>;
  /** For the gate's `onDenied` on the Session method. */
  readonly onRoleDenied: (denial: Denial) => void;
  readonly sessions: SessionTable;
  readonly rollups: RollupIntake;
  readonly bootstrap: BootstrapRequests;
  readonly drains: DrainWaits;
  readonly nodeNames: NodeNames;
  readonly nodeStates: NodeStates;
  readonly hints: HintPublisher;
  /** Drops the memory of a cluster that an administrator forgets. */
  forget(cluster: string): void;
  /** Built lazily, so that a reader of 5,000 sessions takes them as it sends them. */
  summaries(): Iterable<SessionSummary>;
  /** Ends every stream and every wait, and leaves no timer behind. Idempotent. */
  stop(): void;
}

export function createOperators(options: OperatorsOptions): Operators {
  const { runtime, logger, registry, identityPolicy, ports } = options;
  const { machines, demand, ackStamp } = ports;
  const wheel = new TimerWheel(runtime, { tickMs: TICK_MS });
  const metrics = createSessionMetrics(registry);
  const { framesDropped } = metrics;
  const perSecond = FRAME_IGNORED_PER_SECOND;
  const ignored = createSampledMessage({ runtime, logger, message: frameIgnored, perSecond });
  const sessions = new SessionTable(metrics, options.maxSessions);
  const nodeNames = new NodeNames({
    machines,
    ignored,
    metrics: { framesDropped, ...createNodeMetrics(registry) },
  });
  const nodeStates = new NodeStates({ sessions, names: nodeNames, machines });
  const rollups = new RollupIntake({
    runtime,
    logger,
    registry,
    ackStamp,
    engine: ports.engine,
    isGuarded: ports.isGuarded,
    onApplied: ports.demandApplied,
    supervise: (work) => ports.supervise('rollup intake', work),
  });
  const drains = new DrainWaits({
    runtime,
    wheel,
    logger,
    ignored,
    sessions,
    metrics: { framesDropped, ...createDrainMetrics(registry) },
    names: nodeNames,
    onFire: ports.drainFired,
  });
  const resync = new Resync({
    timers: runtime.timers,
    ackStamp,
    machinesOf: (cluster) => machines.idsBoundTo(cluster),
    replay: (session, machineId) => nodeStates.replay(session, machineId),
    supervise: (work) => ports.supervise('resync', work),
  });
  const bootstrap = new BootstrapRequests({
    runtime,
    wheel,
    sessions,
    ignored,
    metrics: { framesDropped, ...createBootstrapMetrics(registry) },
    timeoutMs: options.bootstrapTimeoutMs,
  });
  const { hintIntervalMs: intervalMs } = options;
  const hints = new HintPublisher({ runtime, sessions, demand, intervalMs });
  const expiry = new SeriesExpiry(wheel, (cluster) => rollups.notes.dropSeries(cluster));
  const service = new SessionService({
    runtime,
    wheel,
    logger,
    ignored,
    metrics,
    table: sessions,
    identityPolicy,
    ackStamp,
    handlers: { rollups, bootstrap, drains, nodeNames },
    events: {
      opened: (session) => {
        expiry.present(session.cluster);
        resync.start(session);
        bootstrap.reissue(session);
        drains.reissue(session);
      },
      closed: (session, isReplaced) => {
        if (!isReplaced) expiry.absent(session.cluster);
      },
    },
  });
  return {
    handlers: service.handlers(),
    onRoleDenied: (denial) => reportDeniedRole({ metrics, logger }, denial),
    sessions,
    rollups,
    bootstrap,
    drains,
    nodeNames,
    nodeStates,
    hints,
    forget: (cluster) => {
      rollups.forget(cluster);
      nodeNames.forget(cluster);
      bootstrap.holdOffs.forget(cluster);
    },
    summaries: () => summarise(sessions, rollups),
    stop: () => {
      service.stop();
      bootstrap.stop();
      drains.stop();
      expiry.stop();
      ignored.close();
    },
  };
}

function* summarise(
  sessions: SessionTable,
  rollups: RollupIntake,
): IterableIterator<SessionSummary> {
  for (const session of sessions.all()) {
    const { cluster, sinceUnixNanos, extensions, presentedIdentity, outboxFrameCount } = session;
    const demand = rollups.view(cluster);
    yield { cluster, sinceUnixNanos, extensions, presentedIdentity, outboxFrameCount, demand };
  }
}
