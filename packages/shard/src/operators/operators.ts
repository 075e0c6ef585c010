// Everything that faces the operators, built and wired: sessions, roll-up lanes, resync, bootstrap
// requests, drain waits, node names, node states and hints. One timer wheel serves all of their
// deadlines. All of it is plain synchronous code of the main thread; what it needs of the shard
// comes in through `ShardPorts`, what the shard calls is on `Operators`.

import { type Runtime, TimerWheel } from '@bigfleet/base';
import {
  createSampledMessage,
  type Logger,
  type MetricRegistry,
  type SampledMessage,
} from '@bigfleet/telemetry';
import type { Denial, Handlers, Shard } from '@bigfleet/wire';
import { BootstrapRequests } from '../bootstrap/bootstrap-requests.ts';
import { createBootstrapMetrics } from '../bootstrap/metrics.ts';
import { DrainWaits, type FiredDrain } from '../drain/drain-waits.ts';
import { createDrainMetrics } from '../drain/metrics.ts';
import { HintPublisher } from '../hints/hint-publisher.ts';
import type { ClusterDemand } from '../hints/supply.ts';
import { createNodeMetrics } from '../nodes/metrics.ts';
import { NodeNames } from '../nodes/node-names.ts';
import { NodeStates } from '../nodes/node-states.ts';
import type { BoundMachines } from '../nodes/node-view.ts';
import type { AckStamp } from '../session/frame.ts';
import { type IdentityPolicy, reportDeniedRole } from '../session/identity.ts';
import { FRAME_IGNORED_PER_SECOND, frameIgnored } from '../session/log-messages.ts';
import {
  createRollupMetrics,
  createSessionMetrics,
  type SessionMetrics,
} from '../session/metrics.ts';
import { Resync } from '../session/resync.ts';
import { RollupIntake } from '../rollup/intake.ts';
import type { RollupSink } from '../rollup/rollup-sink.ts';
import { SeriesExpiry } from './series-expiry.ts';
import { SessionService } from '../session/session-service.ts';
import { SessionTable } from '../session/session-table.ts';
import { type SessionSummary, summarise } from './session-summary.ts';

/** How late a deadline may fire, and how finely wake-ups are merged. */
const TICK_MS = 100;

/** What the sessions need of the shard. */
export interface ShardPorts {
  readonly machines: BoundMachines;
  readonly demand: ClusterDemand;
  readonly rollups: RollupSink;
  /** A cluster's demand changed: run a cycle. */
  readonly demandChanged: (cluster: string) => void;
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
  readonly maxSessions?: number;
  readonly bootstrapTimeoutMs?: number;
  readonly hintIntervalMs?: number;
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
  /** What is remembered of a cluster that an administrator forgets. */
  forget(cluster: string): void;
  /** For ListSessions. */
  summaries(): Iterable<SessionSummary>;
  /** Ends every stream and every wait, and leaves no timer behind. Idempotent. */
  stop(): void;
}

export function createOperators(options: OperatorsOptions): Operators {
  const base = createBase(options);
  const parts = createParts(options, base);
  const { sessions, rollups, bootstrap, drains, nodeNames, expiry, nodeStates, hints } = parts;
  const service = createService(options, base, parts);
  const { metrics, ignored } = base;
  return {
    handlers: service.handlers(),
    onRoleDenied: (denial) => reportDeniedRole({ metrics, logger: options.logger }, denial),
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

/** What every part shares. */
interface Base {
  readonly wheel: TimerWheel;
  readonly metrics: SessionMetrics;
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
}

function createBase({ runtime, logger, registry }: OperatorsOptions): Base {
  return {
    wheel: new TimerWheel(runtime, { tickMs: TICK_MS }),
    metrics: createSessionMetrics(registry),
    ignored: createSampledMessage({
      runtime,
      logger,
      message: frameIgnored,
      perSecond: FRAME_IGNORED_PER_SECOND,
    }),
  };
}

interface Parts {
  readonly sessions: SessionTable;
  readonly rollups: RollupIntake;
  readonly bootstrap: BootstrapRequests;
  readonly drains: DrainWaits;
  readonly nodeNames: NodeNames;
  readonly nodeStates: NodeStates;
  readonly hints: HintPublisher;
  readonly resync: Resync;
  readonly expiry: SeriesExpiry;
}

function createParts(options: OperatorsOptions, base: Base): Parts {
  const { runtime, logger, registry, ports } = options;
  const { wheel, metrics, ignored } = base;
  const { framesDropped } = metrics;
  const { machines, ackStamp } = ports;
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
    ackStamp,
    metrics: createRollupMetrics(registry),
    sink: ports.rollups,
    onApplied: ports.demandChanged,
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
  const bootstrap = createBootstrap(options, base, sessions);
  const hints = createHints(options, sessions);
  const expiry = new SeriesExpiry(wheel, (cluster) => rollups.dropSeries(cluster));
  return { sessions, rollups, bootstrap, drains, nodeNames, nodeStates, hints, resync, expiry };
}

function createBootstrap(
  { runtime, registry, bootstrapTimeoutMs }: OperatorsOptions,
  { wheel, ignored, metrics: { framesDropped } }: Base,
  sessions: SessionTable,
): BootstrapRequests {
  const metrics = { framesDropped, ...createBootstrapMetrics(registry) };
  const timeout = bootstrapTimeoutMs === undefined ? {} : { timeoutMs: bootstrapTimeoutMs };
  return new BootstrapRequests({ runtime, wheel, sessions, ignored, metrics, ...timeout });
}

function createHints(
  { runtime, ports: { demand }, hintIntervalMs }: OperatorsOptions,
  sessions: SessionTable,
): HintPublisher {
  const interval = hintIntervalMs === undefined ? {} : { intervalMs: hintIntervalMs };
  return new HintPublisher({ runtime, sessions, demand, ...interval });
}

function createService(options: OperatorsOptions, base: Base, parts: Parts): SessionService {
  const { runtime, logger, identityPolicy, ports } = options;
  const { sessions, rollups, bootstrap, drains, nodeNames, resync, expiry } = parts;
  return new SessionService({
    ...base,
    runtime,
    logger,
    table: sessions,
    identityPolicy,
    ackStamp: ports.ackStamp,
    handlers: {
      rollup: (session, bytes) => rollups.offer(session, bytes),
      bootstrapResponse: (session, response) => bootstrap.respond(session, response),
      reclaimAck: (session, ack) => drains.acknowledge(session, ack),
      nodeIdentity: (session, report) => nodeNames.report(session.cluster, report),
    },
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
}
