// The parts that face the operators, built and wired: sessions, roll-up lanes, resync, bootstrap
// requests, drain waits, node names, node states and hints. One timer wheel serves all of their
// deadlines. All of it is plain synchronous code of the main thread; the shard's side comes in through
// the options, and the shard calls `Operators`.

import { type Runtime, TimerWheel } from '@bigfleet/base';
import { createSampledMessage, type LogMessage } from '@bigfleet/telemetry';
import type { Denial, Handlers, Shard } from '@bigfleet/wire';
import { BootstrapRequests } from '../bootstrap/bootstrap-requests.ts';
import { DrainWaits, type FiredDrain } from '../drain/drain-waits.ts';
import { createDrainMetrics } from '../drain/metrics.ts';
import { HintPublisher } from '../hints/hint-publisher.ts';
import type { ClusterDemand } from '../hints/supply.ts';
import { NodeNames } from '../nodes/node-names.ts';
import { PhantomMachines } from '../nodes/phantom-machines.ts';
import { NodeStates } from '../nodes/node-states.ts';
import type { BoundMachines } from '../nodes/node-view.ts';
import { type DemandView, RollupIntake, type RollupIntakeOptions } from '../rollup/intake.ts';
import { type IdentityPolicy, reportDeniedRole } from '../session/identity.ts';
import { createSessionMetrics } from '../session/metrics.ts';
import { Resync } from '../session/resync.ts';
import type { Session } from '../session/session.ts';
import { SessionService } from '../session/session-service.ts';
import { SessionTable } from '../session/session-table.ts';
import { SeriesExpiry } from './series-expiry.ts';

/** How late a deadline may fire, and how finely wake-ups are merged. */
const TICK_MS = 100;

/** A frame, or a part of one, that had no effect. Sampled: a peer chooses how often. */
const frameIgnored: LogMessage<'cluster' | 'reason', 'detail'> = {
  level: 'warn',
  text: 'operator message handling',
};
const FRAME_IGNORED_PER_SECOND = 10;

export interface OperatorsOptions extends RollupIntakeOptions {
  readonly runtime: Runtime;
  readonly machines: BoundMachines;
  /** Every provider was listed: a machine that the inventory does not hold does not exist. */
  readonly isInventoryWhole: () => boolean;
  readonly demand: ClusterDemand;
  /** An operator finished its part of a drain, or its grace ran out: queue the provider call. */
  readonly drainFired: (drain: FiredDrain) => void;
  readonly identityPolicy: IdentityPolicy;
  readonly maxSessions?: number | undefined;
  readonly bootstrapTimeoutMs?: number | undefined;
  readonly hintIntervalMs?: number | undefined;
}

/** One line of ListSessions. */
export interface SessionSummary {
  readonly session: Pick<
    Session,
    'cluster' | 'sinceUnixNanos' | 'extensions' | 'presentedIdentity' | 'outboxFrameCount'
  >;
  readonly demand: DemandView;
  /** Looked up when a row is sent: the list of one session may be long. */
  readonly phantomMachineIds: () => readonly string[];
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
  /** A cycle has run: the inventory may have become whole. */
  cycled(): void;
  /** Drops the memory of a cluster that an administrator forgets. */
  forget(cluster: string): void;
  /** Built lazily, so that a reader of 5,000 sessions takes them as it sends them. */
  summaries(): Iterable<SessionSummary>;
  /** Ends every stream and every wait, and leaves no timer behind. Idempotent. */
  stop(): void;
}

export function createOperators(options: OperatorsOptions): Operators {
  const { runtime, logger, registry, machines } = options;
  const wheel = new TimerWheel(runtime, { tickMs: TICK_MS });
  const metrics = createSessionMetrics(registry);
  const { framesDropped } = metrics;
  const perSecond = FRAME_IGNORED_PER_SECOND;
  const ignored = createSampledMessage({ runtime, logger, message: frameIgnored, perSecond });
  const sessions = new SessionTable(metrics, options.maxSessions);
  const nodeNames = new NodeNames({ machines, ignored, framesDropped, registry });
  const { isInventoryWhole } = options;
  const phantoms = new PhantomMachines({ machines, isInventoryWhole, ignored, framesDropped });
  const nodeStates = new NodeStates({ sessions, names: nodeNames, machines });
  const rollups = new RollupIntake(options);
  const drains = new DrainWaits({
    runtime,
    wheel,
    logger,
    ignored,
    sessions,
    metrics: { framesDropped, ...createDrainMetrics(registry) },
    names: nodeNames,
    onFire: options.drainFired,
  });
  const resync = new Resync({
    ...options,
    replay: (session, machineId) => nodeStates.replay(session, machineId),
  });
  const bootstrap = new BootstrapRequests({
    runtime,
    wheel,
    sessions,
    ignored,
    framesDropped,
    registry,
    timeoutMs: options.bootstrapTimeoutMs,
  });
  const hints = new HintPublisher({ ...options, sessions, intervalMs: options.hintIntervalMs });
  const expiry = new SeriesExpiry(wheel, (cluster) => rollups.notes.dropSeries(cluster));
  const service = new SessionService({
    ...options,
    wheel,
    ignored,
    metrics,
    table: sessions,
    handlers: {
      rollups,
      bootstrap,
      drains,
      nodeIdentity: {
        report: (session, report) => {
          nodeNames.report(session.cluster, report);
          phantoms.report(session, report.phantomMachineIds);
        },
      },
    },
    events: {
      opened: (session) => {
        expiry.present(session.cluster);
        resync.start(session);
        bootstrap.reissue(session);
        drains.reissue(session);
      },
      closed: (session, isReplaced) => {
        if (isReplaced) return;
        expiry.absent(session.cluster);
        drains.sessionLost(session);
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
    cycled: () => resync.resume(),
    forget: (cluster) => {
      rollups.forget(cluster);
      nodeNames.forget(cluster);
      bootstrap.holdOffs.forget(cluster);
      drains.forget(cluster);
    },
    summaries: () => summarise(sessions, rollups, phantoms),
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
  phantoms: PhantomMachines,
): IterableIterator<SessionSummary> {
  for (const session of sessions.all()) {
    const demand = rollups.view(session.cluster);
    yield { session, demand, phantomMachineIds: () => phantoms.of(session) };
  }
}
