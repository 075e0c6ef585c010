// The session's stable log lines (kubernetes §2–4, observability §13). No message carries a frame
// or a blob: a bootstrap response holds a join secret.

import type { LogMessage } from '@bigfleet/telemetry';

type M<K extends string = never, O extends string = never> = LogMessage<K, O>;

export const sessionEstablished: M<'extensions'> = { level: 'info', text: 'session established' };
export const sessionEnded: M<'err' | 'backoff'> = {
  level: 'warn',
  text: 'session ended, reconnecting',
};
/** The same line, louder: waiting does not cure a wrong certificate or a second operator. */
export const sessionRefused: M<'err' | 'backoff'> = {
  level: 'error',
  text: 'session ended, reconnecting',
};
export const initialRollupFailed: M<'err'> = { level: 'warn', text: 'initial rollup failed' };
export const rollupFailed: M<'err'> = { level: 'warn', text: 'rollup failed' };
export const rollupsNeverAcknowledged: M = {
  level: 'warn',
  text: 'shard never acknowledges rollups; requests are acknowledged when written',
};
export const badProfile: M<'cr' | 'ns' | 'err'> = {
  level: 'warn',
  text: 'skipping CR with bad profile',
};
export const acknowledgeFailed: M<'cr' | 'ns' | 'err'> = {
  level: 'warn',
  text: 'Acknowledge status update',
};
export const dispatchFailed: M<'frame' | 'err', 'machine' | 'id'> = {
  level: 'warn',
  text: 'dispatch failed',
};
export const sweepFailed: M<'what' | 'err'> = { level: 'warn', text: 'sweep failed' };
export const reclaimInstruction: M<'id' | 'nodes' | 'grace_seconds' | 'preemptor_priority'> = {
  level: 'info',
  text: 'reclaim instruction',
};
export const cordonFailed: M<'id' | 'node' | 'err'> = { level: 'warn', text: 'cordon failed' };
export const reclaimUnresolved: M<'id' | 'node' | 'machine'> = {
  level: 'warn',
  text: 'reclaim target is no node of this cluster',
};
export const reclaimAckDropped: M<'id'> = {
  level: 'warn',
  text: 'ReclaimAck enqueue failed; continuing drain',
};
export const drainFinished: M<'id' | 'node' | 'machine' | 'outcome' | 'seconds', 'pods_remaining'> =
  { level: 'info', text: 'drain finished' };
export const drainFailed: M<'id' | 'node' | 'machine' | 'err'> = {
  level: 'warn',
  text: 'drain failed; UpcomingNode → Failed',
};
export const drainRetry: M<'id' | 'node' | 'err'> = {
  level: 'warn',
  text: 'drain attempt failed; will retry until the deadline',
};
