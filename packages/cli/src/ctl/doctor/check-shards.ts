// Shards: heard of, reachable, deciding, allowed to act, of one term, one version and one time.

import type { ShardStatus } from '@bigfleet/wire';
import { ageText } from '../output/text.ts';
import { actuationRow } from '../kinds/shards.ts';
import { type Finding, finding, type FleetFacts, type ShardFacts } from './facts.ts';

const STALE_HEARTBEAT_NANOS = 60_000_000_000n;
const LATE_HEARTBEAT_NANOS = 25_000_000_000n;
const STALLED_CYCLE_NANOS = 60_000_000_000n;
const NANOS_PER_MS = 1_000_000n;
const SKEW_WARN_MS = 2_000;
const SKEW_ERROR_MS = 30_000;
const CLOCK_FIX = 'Check NTP on both machines; tokens are safe, but ages and deadlines mislead.';

export function checkShards(facts: FleetFacts): Finding[] {
  if (facts.registry.ok && facts.shards.length === 0) {
    const fix = 'Start a shard with --coordinator-addr; it registers with its first report.';
    return [finding('warning', 'shards', 'coordinator', 'no shard is registered', fix)];
  }
  const term = leaderTerm(facts);
  const coordinatorVersion = versionOfCoordinator(facts);
  return facts.shards.flatMap((shard) => {
    const { entry, status } = shard;
    const beats = heartbeat(shard, facts.nowUnixNanos);
    if (!status.ok) {
      const fix = 'Check that it runs and that its --advertise-addr can be reached from here.';
      const subject = `shard ${entry.shardId}`;
      return [...beats, finding('error', 'shard-reachable', subject, status.error, fix)];
    }
    return [
      ...beats,
      ...identity(shard, status.value),
      ...deciding(shard, status.value, facts.nowUnixNanos),
      ...acting(shard, status.value),
      ...termOf(shard, status.value, term),
      ...versionOf(shard, status.value, coordinatorVersion),
      ...failed(shard, status.value),
    ];
  });
}

function heartbeat({ entry }: ShardFacts, now: bigint): Finding[] {
  const subject = `shard ${entry.shardId}`;
  const last = entry.lastHeartbeatUnixNs;
  const fix =
    'Check that it runs and reaches the coordinator; remove-shard if it is gone for good.';
  if (last === 0n) {
    const message = 'has not reported since the leader was elected';
    return [finding('warning', 'heartbeat', subject, message, fix)];
  }
  const message = `was last heard of ${ageText(last, now)} ago`;
  if (now - last <= LATE_HEARTBEAT_NANOS) return [];
  const severity = now - last > STALE_HEARTBEAT_NANOS ? 'error' : 'warning';
  return [finding(severity, 'heartbeat', subject, message, fix)];
}

function identity({ entry }: ShardFacts, status: ShardStatus): Finding[] {
  if (status.shardId === entry.shardId) return [];
  const message = `at its address answers ${status.shardId}`;
  const fix = 'Addresses are recorded at first sight: remove the shard and let it register again.';
  return [finding('error', 'shard-identity', `shard ${entry.shardId}`, message, fix)];
}

function deciding({ entry }: ShardFacts, status: ShardStatus, now: bigint): Finding[] {
  const subject = `shard ${entry.shardId}`;
  if (!status.ready) {
    const message = 'is not ready: its first reconcile is not complete';
    const fix = 'Check its providers; nothing is decided before the first full List.';
    return [finding('warning', 'shard-ready', subject, message, fix)];
  }
  if (now - status.lastCycleUnixNanos <= STALLED_CYCLE_NANOS) return [];
  const age = ageText(status.lastCycleUnixNanos, now);
  const message = `ran its last cycle ${age} ago: it is stalled, or its clock is behind`;
  const fix = 'Read its log and bigfleet_shard_cycle_duration_seconds; check NTP on its host.';
  return [finding('error', 'shard-cycle', subject, message, fix)];
}

function acting({ entry }: ShardFacts, { actuation }: ShardStatus): Finding[] {
  if (actuation === undefined) return [];
  const subject = `shard ${entry.shardId}`;
  const row = actuationRow(actuation);
  const by = row.changed === null ? '' : ` by ${row.changedBy} at ${row.changed}: ${row.reason}`;
  if (row.heldBy.includes('fenced')) {
    const message = 'is fenced: a newer process of the same identity acts instead';
    const fix = 'Stop this process; two of one identity must never run.';
    return [finding('error', 'fenced', subject, message, fix)];
  }
  if (row.paused) {
    const message = `is paused (held by ${row.heldBy.join(', ')})${by}`;
    const fix = row.heldBy.includes('flag')
      ? 'Restart it without --actuation-paused.'
      : `bigfleetctl resume --shard=${entry.shardId} --reason=…`;
    return [finding('warning', 'paused', subject, message, fix)];
  }
  if (row.dryRun) {
    const isByFlag = !row.overridden.includes('dry_run');
    const fix = isByFlag
      ? 'Restart it without --dry-run.'
      : `bigfleetctl resume --dry-run --shard=${entry.shardId} --reason=…`;
    const message = `is in dry run and executes nothing${isByFlag ? '' : by}`;
    return [finding('warning', 'dry-run', subject, message, fix)];
  }
  if (row.overridden.length === 0) return [];
  const message = `runs with ${row.overridden.join(', ')} set at run time${by}`;
  const fix = `bigfleetctl rails --shard=${entry.shardId} --clear --reason=…`;
  return [finding('info', 'rails', subject, message, fix)];
}

/** A shard that saw a later term ignores this leader: it was restored, or there are two of them. */
function termOf({ entry }: ShardFacts, status: ShardStatus, term: bigint | undefined): Finding[] {
  const seen = status.coordinatorTerm;
  if (term === undefined || seen === 0n || seen <= term) return [];
  return [
    finding(
      'error',
      'term',
      `shard ${entry.shardId}`,
      `has seen term ${seen}, the leader is at ${term}: it drops every instruction`,
      'The leader raises its term by itself within a report; if not, look for a second coordinator.',
    ),
  ];
}

function versionOf({ entry }: ShardFacts, { version }: ShardStatus, other: string): Finding[] {
  if (other === '' || version === other) return [];
  const message = `runs ${version}, the coordinator ${other}`;
  return [finding('info', 'version', `shard ${entry.shardId}`, message, 'Finish the update.')];
}

function failed({ entry }: ShardFacts, { machinesByState }: ShardStatus): Finding[] {
  const count = machinesByState['Failed'] ?? 0;
  if (count === 0) return [];
  return [
    finding(
      'warning',
      'failed-machines',
      `shard ${entry.shardId}`,
      `has Failed machines: ${count}`,
      `bigfleetctl get machines --shard=${entry.shardId} --state=Failed -o wide, then for those that stay ` +
        'bigfleetctl provider reset-failed --provider=… --machine=…',
    ),
  ];
}

function leaderTerm({ replicas }: FleetFacts): bigint | undefined {
  const leader = replicas.find(({ status }) => status.ok && status.value.isLeader)?.status;
  return leader?.ok === true ? leader.value.coordinatorTerm : undefined;
}

function versionOfCoordinator({ replicas }: FleetFacts): string {
  const [first] = replicas.flatMap(({ status }) => (status.ok ? [status.value.version] : []));
  return first ?? '';
}

/**
 * A moment that another process stamped and that is still ahead of here. A clock that is behind looks
 * like silence, and is named where silence is.
 */
export function checkClocks({ nowUnixNanos, shards }: FleetFacts): Finding[] {
  const stamps = shards.flatMap(({ entry, status }) => [
    [`coordinator`, entry.lastHeartbeatUnixNs] as const,
    ...(status.ok ? [[`shard ${entry.shardId}`, status.value.lastCycleUnixNanos] as const] : []),
  ]);
  const ahead = new Map<string, number>();
  for (const [subject, stamp] of stamps) {
    const ms = Number((stamp - nowUnixNanos) / NANOS_PER_MS);
    ahead.set(subject, Math.max(ahead.get(subject) ?? 0, ms));
  }
  return [...ahead].flatMap(([subject, ms]) => {
    if (ms < SKEW_WARN_MS) return [];
    const message = `its clock is ${(ms / 1_000).toFixed(1)} s ahead of this one`;
    return [
      finding(ms < SKEW_ERROR_MS ? 'warning' : 'error', 'clock-skew', subject, message, CLOCK_FIX),
    ];
  });
}
