// The session's stable log lines (kubernetes §2–4, observability §13). No message carries a frame
// or a blob: a bootstrap response holds a join secret.

import { defineMessage, type LogMessage } from '@bigfleet/telemetry';

type M<K extends string = never, O extends string = never> = LogMessage<K, O>;

export const sessionEstablished: M<'extensions'> = defineMessage({
  level: 'info',
  text: 'session established',
  keys: ['extensions'],
});
export const sessionEnded: M<'err' | 'backoff'> = defineMessage({
  level: 'warn',
  text: 'session ended, reconnecting',
  keys: ['err', 'backoff'],
});
/** The same line, louder: waiting does not cure a wrong certificate or a second operator. */
export const sessionRefused: M<'err' | 'backoff'> = defineMessage({
  level: 'error',
  text: 'session ended, reconnecting',
  keys: ['err', 'backoff'],
});
export const initialRollupFailed: M<'err'> = defineMessage({
  level: 'warn',
  text: 'initial rollup failed',
  keys: ['err'],
});
export const rollupFailed: M<'err'> = defineMessage({
  level: 'warn',
  text: 'rollup failed',
  keys: ['err'],
});
export const rollupsNeverAcknowledged: M = defineMessage({
  level: 'warn',
  text: 'shard never acknowledges rollups; requests are acknowledged when written',
  keys: [],
});
export const badProfile: M<'cr' | 'ns' | 'err'> = defineMessage({
  level: 'warn',
  text: 'skipping CR with bad profile',
  keys: ['cr', 'ns', 'err'],
});
export const acknowledgeFailed: M<'cr' | 'ns' | 'err'> = defineMessage({
  level: 'warn',
  text: 'Acknowledge status update',
  keys: ['cr', 'ns', 'err'],
});
export const dispatchFailed: M<'frame' | 'err', 'machine' | 'id'> = defineMessage({
  level: 'warn',
  text: 'dispatch failed',
  keys: ['frame', 'err'],
  optional: ['machine', 'id'],
});
export const sweepFailed: M<'what' | 'err'> = defineMessage({
  level: 'warn',
  text: 'sweep failed',
  keys: ['what', 'err'],
});
export const reclaimInstruction: M<'id' | 'nodes' | 'grace_seconds' | 'preemptor_priority'> =
  defineMessage({
    level: 'info',
    text: 'reclaim instruction',
    keys: ['id', 'nodes', 'grace_seconds', 'preemptor_priority'],
  });
export const cordonFailed: M<'id' | 'node' | 'err'> = defineMessage({
  level: 'warn',
  text: 'cordon failed',
  keys: ['id', 'node', 'err'],
});
export const reclaimUnresolved: M<'id' | 'node' | 'machine'> = defineMessage({
  level: 'warn',
  text: 'reclaim target is no node of this cluster',
  keys: ['id', 'node', 'machine'],
});
export const reclaimAckDropped: M<'id'> = defineMessage({
  level: 'warn',
  text: 'ReclaimAck enqueue failed; continuing drain',
  keys: ['id'],
});
export const drainRetry: M<'id' | 'node' | 'err'> = defineMessage({
  level: 'warn',
  text: 'drain attempt failed; will retry until the deadline',
  keys: ['id', 'node', 'err'],
});
