// Every series of a coordinator (coordinator §11.2, observability §4). Counters exist at zero from
// the start: an alert on the rate of a series that does not exist yet never fires. Series of a
// shard go when the shard goes, and all of them when the leadership goes: a deposed leader that
// went on showing heartbeat ages would page somebody for shards that are well.

import type { Clock } from '@bigfleet/base';
import { B14, type Counter, type Gauge, type MetricRegistry } from '@bigfleet/telemetry';
import type { ApplyOutcome } from '../ledger/apply-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { LossReason } from '../store/store.ts';
import type { CoordinatorObserver } from './observer.ts';

const APPLY_OUTCOMES: readonly ApplyOutcome[] = ['success', 'error', 'fsm_error'];
const PHASES = ['PREPARING', 'COMMITTED'] as const;
const NANOS_PER_SECOND = 1_000_000_000;
/** Second 1 of 1970: a gauge that is not published at once stays so at 0. */
const NEVER = 1;
/** Alive in a label at once. */
const MAX_SHARDS = 1_024;

/** What a scrape reads of the leadership that this replica holds. */
export interface Leading {
  readonly ledger: Ledger;
  readonly soft: { silentForMs(shardId: string, nowMs: number): number };
}

export interface CoordinatorMetrics extends CoordinatorObserver {
  onApply(outcome: ApplyOutcome, seconds: number): void;
  onTransition(reason: 'won' | LossReason): void;
  onIdentityRejected(rpc: string): void;
  onLeaseRevoked(): void;
  onSnapshotSaved(): void;
  onSnapshotFailed(): void;
  /** Of the leader that is observed; undefined = none now, which is no lower term. */
  setTerms(leadershipTerm: bigint | undefined, storeRaftTerm: bigint): void;
  /** What the store complains of now. */
  setStoreAlarms(count: number): void;
  /** What is read when a scrape asks; until then nobody leads. */
  follow(leading: () => Leading | undefined): void;
}

export interface CoordinatorMetricsOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  /** The method names that the identity gate knows: a closed label. */
  readonly rpcs: readonly string[];
}

export function createCoordinatorMetrics(options: CoordinatorMetricsOptions): CoordinatorMetrics {
  const { registry } = options;
  const counters = defineCounters(options);
  const term = gauge(registry, 'raft_term', 'Leadership term that this replica observes.');
  const storeTerm = gauge(registry, 'store_raft_term', 'Raft term of the store; 0 with SQLite.');
  const alarms = gauge(
    registry,
    'store_alarms',
    'Alarms of the store, such as no space; must be 0.',
  );
  let highestTerm = 0n;
  const pending = registry.gauge({
    name: 'bigfleet_coordinator_pending_instructions',
    help: 'Instructions that a shard has not acknowledged; 0 between rebalances.',
    labels: { shard: { max: MAX_SHARDS } },
  });
  const unregistered = registry.gauge({
    name: 'bigfleet_coordinator_unregistered_provider',
    help: '1 = the shard dials a provider address that has no registry entry.',
    labels: { shard: { max: MAX_SHARDS } },
  });
  let leading = (): Leading | undefined => undefined;
  const dropLeaderSeries = observeLeader(options, () => leading());
  return {
    ...counters,
    onPendingInstructions: (shard, count) => pending.labels({ shard }).set(count),
    onUnregisteredProvider: (shard, is) => unregistered.labels({ shard }).set(is ? 1 : 0),
    onShardRemoved: (shard) => {
      pending.remove(shard);
      unregistered.remove(shard);
    },
    onTransition: (reason) => {
      counters.onTransition(reason);
      if (reason === 'won') return;
      pending.removeAll();
      unregistered.removeAll();
      dropLeaderSeries();
    },
    setTerms: (leadershipTerm, storeRaftTerm) => {
      if (leadershipTerm !== undefined && leadershipTerm > highestTerm) {
        highestTerm = leadershipTerm;
        term.set(Number(leadershipTerm));
      }
      storeTerm.set(Number(storeRaftTerm));
    },
    setStoreAlarms: (count) => alarms.set(count),
    follow: (source) => {
      leading = source;
    },
  };
}

function defineCounters({ registry, clock, rpcs }: CoordinatorMetricsOptions) {
  const applies = registry.counter({
    name: 'bigfleet_coordinator_apply_total',
    help: 'Commands by outcome; fsm_error = refused by the state machine, error = by the store.',
    labels: { outcome: APPLY_OUTCOMES },
  });
  const applyDuration = registry.histogram({
    name: 'bigfleet_coordinator_apply_duration_seconds',
    help: 'From the first attempt of a command to its outcome.',
    bounds: B14,
  });
  const transitions = registry.counter({
    name: 'bigfleet_coordinator_leadership_transitions_total',
    help: 'Leaderships won and lost by this replica.',
    labels: { reason: ['won', 'resigned', 'lease_lost', 'guard_failed'] },
  });
  const reports = registry.counter({
    name: 'bigfleet_coordinator_reports_total',
    help: 'Shard reports by what became of them.',
    labels: { result: ['accepted', 'stale', 'denied', 'not_leader'] },
  });
  const rejected = registry.counter({
    name: 'bigfleet_coordinator_identity_rejected_total',
    help: 'Calls refused for their identity; any rate is a security event.',
    labels: { rpc: rpcs },
  });
  const moves = registry.counter({
    name: 'bigfleet_coordinator_rebalance_moves_total',
    help: 'Moves between shards, by tier and by what became of them.',
    labels: {
      tier: ['1', '2', '3'],
      result: ['emitted', 'accepted', 'rejected', 'failed', 'aborted', 'committed'],
    },
  });
  const passes = counter(registry, 'rebalance_passes', 'Passes of the rebalancer.');
  const revocations = counter(
    registry,
    'lease_revocations',
    'Leases of dead leaders revoked here.',
  );
  const conflicts = counter(registry, 'ownership_conflicts', 'Claims of two shards; must stay 0.');
  const bindings = counter(
    registry,
    'cluster_binding_conflicts',
    'Clusters served by a shard that does not own them; must stay 0.',
  );
  const jumps = counter(registry, 'term_jumps_refused', 'Reported terms too far above ours.');
  const saved = registry.gauge({
    name: 'bigfleet_coordinator_snapshot_last_success_timestamp_seconds',
    help: 'When a snapshot was last exported or found unchanged; 1 = tried, and never.',
    initial: () => false,
  });
  let hasSaved = false;
  return {
    onApply: (outcome, seconds) => {
      applies.labels({ outcome }).inc();
      applyDuration.observe(seconds);
    },
    onTransition: (reason) => transitions.labels({ reason }).inc(),
    onReport: (result) => reports.labels({ result }).inc(),
    onIdentityRejected: (rpc) => rejected.labels({ rpc }).inc(),
    onRebalanceMove: (tier, result) => moves.labels({ tier, result }).inc(),
    onRebalancePass: () => passes.inc(),
    onLeaseRevoked: () => revocations.inc(),
    onOwnershipConflict: () => conflicts.inc(),
    onClusterBindingConflict: () => bindings.inc(),
    onTermJumpRefused: () => jumps.inc(),
    onSnapshotSaved: () => {
      hasSaved = true;
      saved.set(Number(clock.unixNanos()) / NANOS_PER_SECOND);
    },
    // An alert on its age needs a sample: an export that never worked would else be a series that is
    // not there, as if none had been asked for.
    onSnapshotFailed: () => {
      if (!hasSaved) saved.set(NEVER);
    },
  } satisfies Partial<CoordinatorMetrics>;
}

/** What is read, not counted. Returns what drops it. */
function observeLeader(
  { registry, clock }: CoordinatorMetricsOptions,
  leading: () => Leading | undefined,
): () => void {
  const isLeader = gauge(registry, 'is_leader', '1 = this replica leads.');
  const open = registry.gauge({
    name: 'bigfleet_coordinator_transfers_open',
    help: 'Transfers under way.',
    labels: { phase: PHASES },
  });
  const ages = registry.gauge({
    name: 'bigfleet_coordinator_shard_heartbeat_age_seconds',
    help: 'Since a registered shard was last heard, or since the leader took over; leader only.',
    labels: { shard: { max: MAX_SHARDS } },
  });
  registry.onCollect(() => {
    const leader = leading();
    isLeader.set(leader === undefined ? 0 : 1);
    const transfers = leader?.ledger.state.openTransfers() ?? [];
    for (const phase of PHASES) {
      open.labels({ phase }).set(transfers.filter((row) => row.phase === phase).length);
    }
    ages.removeAll();
    const now = clock.monotonicMs();
    for (const { id: shard } of leader?.ledger.state.shards() ?? []) {
      ages.labels({ shard }).set((leader?.soft.silentForMs(shard, now) ?? 0) / 1_000);
    }
  });
  return () => ages.removeAll();
}

function gauge(registry: MetricRegistry, name: string, help: string): Gauge {
  return registry.gauge({ name: `bigfleet_coordinator_${name}`, help });
}

function counter(registry: MetricRegistry, name: string, help: string): Counter {
  return registry.counter({ name: `bigfleet_coordinator_${name}_total`, help });
}
