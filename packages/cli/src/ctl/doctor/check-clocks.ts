// Clocks: a moment that another process stamped and that is still ahead of here. A clock that is
// behind looks like silence, and is named where silence is.

import type { FleetFacts } from './facts.ts';
import { type Finding, finding } from './finding.ts';

const NANOS_PER_MS = 1_000_000n;
const WARN_MS = 2_000;
const ERROR_MS = 30_000;
const FIX = 'Check NTP on both machines; tokens are safe, but ages and deadlines mislead.';

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
    if (ms < WARN_MS) return [];
    const message = `its clock is ${(ms / 1_000).toFixed(1)} s ahead of this one`;
    return [finding(ms < ERROR_MS ? 'warning' : 'error', 'clock-skew', subject, message, FIX)];
  });
}
