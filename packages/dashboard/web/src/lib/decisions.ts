// Decisions that came as events and those of an answer, as one list. The same decision may be in both.

import type { Decision } from '../../../src/api/common.ts';

export interface DecisionFilter {
  readonly from: number;
  readonly to: number;
  readonly shard: string;
  readonly cluster: string;
  readonly machine: string;
  readonly kind: string;
  readonly reason: string;
}

/** The filters of the decisions view, for events that no answer holds yet. */
export function isMatch(decision: Decision, filter: DecisionFilter): boolean {
  return (
    (filter.from === 0 || decision.atMs >= filter.from) &&
    (filter.to === 0 || decision.atMs <= filter.to) &&
    (filter.shard === '' || decision.shard === filter.shard) &&
    (filter.cluster === '' || decision.cluster === filter.cluster) &&
    (filter.machine === '' || decision.machine === filter.machine) &&
    (filter.kind === '' || decision.kind === filter.kind) &&
    (filter.reason === '' || decision.reason === filter.reason)
  );
}

/**
 * Newest first, each once. Both lists end in one log, and `live` holds all of it since the page opened: what
 * only the answer has is older, also within one millisecond.
 */
export function mergeDecisions(
  live: readonly Decision[],
  answered: readonly Decision[],
  limit: number,
): readonly Decision[] {
  if (live.length === 0) return answered.slice(0, limit);
  const told = new Set<string>();
  for (const decision of live) told.add(decision.id);
  const older = answered.filter((decision) => !told.has(decision.id));
  return [...live, ...older].sort((a, b) => b.atMs - a.atMs).slice(0, limit);
}

export interface RecordName {
  readonly shard: string;
  readonly epoch: string;
  readonly cycle: number;
}

/** `shard/epoch/cycle/place`, read from its end; null for anything else. */
export function recordOfDecision(id: string): RecordName | null {
  const found = /^(?<shard>.+)\/(?<epoch>-?\d+)\/(?<cycle>\d+)\/[^/]+$/.exec(id)?.groups;
  if (found === undefined) return null;
  const { shard = '', epoch = '', cycle = '' } = found;
  return { shard, epoch, cycle: Number(cycle) };
}
