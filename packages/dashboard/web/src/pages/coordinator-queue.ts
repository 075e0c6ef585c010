// How a shard stands with its instructions, by the limits of the alerts CoordinatorPendingStuck and
// ShardHeartbeatStale (observability §11): a page that judged otherwise would argue with the pager.

import type { Answer } from '../../../src/api/answers.ts';
import type { Frame } from '../../../src/api/common.ts';

type Row = Answer<'coordinator'>['queue'][number];

export type QueueState = 'stuck' | 'silent' | 'waiting' | 'clear' | 'unknown';

const STUCK_MS = 15 * 60_000;
const SILENT_MS = 60_000;

export function queueState(row: Row, nowMs: number): QueueState {
  const { pending, pendingSinceMs, reportMs } = row;
  const isSilent = reportMs === null || nowMs - reportMs > SILENT_MS;
  const isWaiting = pending !== null && pending > 0;
  // Instructions for a shard that does not report will not be answered either.
  if (isWaiting && (isSilent || nowMs - (pendingSinceMs ?? nowMs) >= STUCK_MS)) return 'stuck';
  if (isSilent) return 'silent';
  if (isWaiting) return 'waiting';
  return pending === null ? 'unknown' : 'clear';
}

/**
 * The time that the queue is judged at. While the coordinator or the dashboard is not heard, everything that it
 * told stands still: counted on, every shard would soon be silent, and the one that is away would accuse them.
 */
export function judgedAtMs({ sources, atMs }: Frame, isLive: boolean, nowMs: number): number {
  const source = sources.find(({ kind }) => kind === 'coordinator');
  if (source?.state !== 'live') return Math.min(nowMs, source?.dataMs ?? nowMs);
  return isLive ? nowMs : Math.min(nowMs, atMs);
}

/** The gravest first. */
export const QUEUE_ORDER: readonly QueueState[] = [
  'stuck',
  'silent',
  'waiting',
  'unknown',
  'clear',
];
