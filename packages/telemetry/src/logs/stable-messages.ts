// The stable messages of observability §13, letter for letter. Text, level and keys are a
// contract with runbooks; adding a key is allowed, renaming anything is not. Fields that every
// record of a component carries (`component`, `shard_id`, `epoch`) come from its logger and are
// listed here only where the spec lists them.

import { defineMessage, type LogMessage } from './messages.ts';

/** How `M<'a' | 'b'>` reads below: a message that requires the keys a and b. */
type M<K extends string = never, O extends string = never> = LogMessage<K, O>;

// ── any process ─────────────────────────────────────────────────────────────────────────────
export const metricsServing: M<'addr'> = defineMessage({
  level: 'info',
  text: 'metrics serving',
  keys: ['addr'],
});
export const signalReceived: M = defineMessage({
  level: 'info',
  text: 'signal received, shutting down',
  keys: [],
});
export const componentExited: M<'err'> = defineMessage({
  level: 'error',
  text: 'component exited',
  keys: ['err'],
});
/** security.md §1.4 */
export const transportPlaintext: M = defineMessage({
  level: 'warn',
  text: 'transport is plaintext: peer identity is not verified',
  keys: [],
});

// ── shard: life ─────────────────────────────────────────────────────────────────────────────
export const listening: M<'addr' | 'shard_id' | 'epoch'> = defineMessage({
  level: 'info',
  text: 'listening',
  keys: ['addr', 'shard_id', 'epoch'],
});
export const shardStarted: M<'execute_workers' | 'queue_capacity'> = defineMessage({
  level: 'info',
  text: 'shard started',
  keys: ['execute_workers', 'queue_capacity'],
});
export const shardStopped: M<never, 'execute_workers' | 'queue_capacity'> = defineMessage({
  level: 'info',
  text: 'shard stopped',
  keys: [],
  optional: ['execute_workers', 'queue_capacity'],
});

// ── shard: providers ────────────────────────────────────────────────────────────────────────
export const dialingProvider: M<'addr' | 'shard_id' | 'epoch'> = defineMessage({
  level: 'info',
  text: 'dialing out-of-tree provider',
  keys: ['addr', 'shard_id', 'epoch'],
});
/** Once a minute while none is known. */
export const noProviderConfigured: M = defineMessage({
  level: 'warn',
  text: 'no provider configured',
  keys: [],
});
export const providerSetChanged: M<'added' | 'removed' | 'retiring' | 'source'> = defineMessage({
  level: 'info',
  text: 'provider set changed',
  keys: ['added', 'removed', 'retiring', 'source'],
});
export const providerRegistryDiffers: M<'names'> = defineMessage({
  level: 'warn',
  text: 'provider registry differs from flags',
  keys: ['names'],
});
export const reconcileFailed: M<'err'> = defineMessage({
  level: 'warn',
  text: 'reconcile failed',
  keys: ['err'],
});
export const machineRejected: M<'machine' | 'state' | 'err'> = defineMessage({
  level: 'warn',
  text: 'provider machine rejected at ingest',
  keys: ['machine', 'state', 'err'],
});
export const metadataDecodeFailed: M<'machine' | 'err'> = defineMessage({
  level: 'warn',
  text: 'shard_metadata decode failed at ingest; protection state may be incomplete',
  keys: ['machine', 'err'],
});
export const shardFenced: M<'kind' | 'machine' | 'cluster' | 'err'> = defineMessage({
  level: 'error',
  text:
    "provider fenced this shard's mutation — zombie-shard incident; do not retry, " +
    'investigate duplicate shard identity',
  keys: ['kind', 'machine', 'cluster', 'err'],
});

// ── shard: sessions and roll-ups ────────────────────────────────────────────────────────────
export const sessionOpened: M<'cluster' | 'protocol'> = defineMessage({
  level: 'info',
  text: 'operator session opened',
  keys: ['cluster', 'protocol'],
});
export const sessionClosed: M<'cluster', 'protocol' | 'err'> = defineMessage({
  level: 'info',
  text: 'operator session closed',
  keys: ['cluster'],
  optional: ['protocol', 'err'],
});
export const sessionRecvError: M<'cluster' | 'err', 'protocol'> = defineMessage({
  level: 'info',
  text: 'operator session recv error',
  keys: ['cluster', 'err'],
  optional: ['protocol'],
});
export const sessionIdentityRejected: M<'cluster' | 'presented_identity' | 'err'> = defineMessage({
  level: 'error',
  text: 'operator session identity rejected',
  keys: ['cluster', 'presented_identity', 'err'],
});
export const readIdentityRejected: M<'rpc' | 'presented_identity' | 'err'> = defineMessage({
  level: 'error',
  text: 'shard rejected read identity',
  keys: ['rpc', 'presented_identity', 'err'],
});
export const rollupRejected: M<'cluster' | 'err'> = defineMessage({
  level: 'error',
  text: 'rollup rejected at ingest validation; keeping last-known-good demand',
  keys: ['cluster', 'err'],
});
export const rollupQuarantined: M<
  'cluster' | 'previous_rows' | 'new_rows' | 'held_consecutive' | 'accepted_after'
> = defineMessage({
  level: 'warn',
  text: 'rollup quarantined: full-replacement demand drop held',
  keys: ['cluster', 'previous_rows', 'new_rows', 'held_consecutive', 'accepted_after'],
});
export const quarantinedRollupAccepted: M<
  'cluster' | 'previous_rows' | 'new_rows' | 'consecutive_reports'
> = defineMessage({
  level: 'warn',
  text: 'quarantined rollup accepted: demand drop confirmed by consecutive reports',
  keys: ['cluster', 'previous_rows', 'new_rows', 'consecutive_reports'],
});
export const clusterForgotten: M<'cluster' | 'by' | 'reason' | 'need_rows' | 'machines'> =
  defineMessage({
    level: 'warn',
    text: 'cluster forgotten',
    keys: ['cluster', 'by', 'reason', 'need_rows', 'machines'],
  });

// ── shard: decisions and actions ────────────────────────────────────────────────────────────
/** Exactly one line in every cycle with count > 0: never sampled, never merged. */
export const shortfallsDetected: M<'count' | 'top_fingerprints'> = defineMessage({
  level: 'warn',
  text: 'shortfalls detected',
  keys: ['count', 'top_fingerprints'],
});
/** Once per ledger entry. */
export const shortfallEscalated: M<'fingerprint' | 'priority' | 'age' | 'reason'> = defineMessage({
  level: 'error',
  text: 'shortfall escalated',
  keys: ['fingerprint', 'priority', 'age', 'reason'],
});
export const reclaimCapEngaged: M<'deferred_reclaims' | 'cap_fraction'> = defineMessage({
  level: 'warn',
  text: 'reclaim blast-radius cap engaged',
  keys: ['deferred_reclaims', 'cap_fraction'],
});
export const actuationPaused: M<'suppressed'> = defineMessage({
  level: 'warn',
  text: 'actuation paused: decided actions suppressed',
  keys: ['suppressed'],
});
export const dryRunAction: M<'kind' | 'machine' | 'cluster' | 'reason' | 'grace'> = defineMessage({
  level: 'info',
  text: 'dry-run: would execute action',
  keys: ['kind', 'machine', 'cluster', 'reason', 'grace'],
});
export const reclaimFallback: M<'machine' | 'cluster'> = defineMessage({
  level: 'warn',
  text: 'reclaim fallback: no operator session; PDB-respecting drain skipped',
  keys: ['machine', 'cluster'],
});
/** Sampled above ACTION_FAILED_PER_SECOND. */
export const actionFailed: M<'kind' | 'machine' | 'cluster' | 'err'> = defineMessage({
  level: 'warn',
  text: 'action failed',
  keys: ['kind', 'machine', 'cluster', 'err'],
});
export const ACTION_FAILED_PER_SECOND = 100;

const SETTINGS = ['paused', 'dry_run', 'reclaim_cap_fraction', 'empty_rollup_guard'] as const;
type Setting = (typeof SETTINGS)[number];

export const actuationSettingsChanged: M<'by' | 'reason' | Setting> = defineMessage({
  level: 'warn',
  text: 'actuation settings changed',
  keys: ['by', 'reason', ...SETTINGS],
});
/** One optional key per overridden setting. */
export const actuationSettingsRestored: M<'by' | 'reason' | 'changed_at', Setting> = defineMessage({
  level: 'warn',
  text: 'actuation settings restored from rails.json',
  keys: ['by', 'reason', 'changed_at'],
  optional: SETTINGS,
});

// ── coordinator and its client ──────────────────────────────────────────────────────────────
export const coordClientStarted: M<'coord' | 'interval'> = defineMessage({
  level: 'info',
  text: 'coord client started',
  keys: ['coord', 'interval'],
});
export const coordClientStopped: M<'coord', 'interval' | 'err'> = defineMessage({
  level: 'info',
  text: 'coord client stopped',
  keys: ['coord'],
  optional: ['interval', 'err'],
});
export const reportShardFailed: M<'coord' | 'err'> = defineMessage({
  level: 'warn',
  text: 'ReportShard failed',
  keys: ['coord', 'err'],
});
export const termValidationFailed: M<'coord' | 'err'> = defineMessage({
  level: 'warn',
  text: 'coordinator term validation failed',
  keys: ['coord', 'err'],
});
export const coordinatorListening: M<'grpc_addr' | 'raft_bind' | 'node_id' | 'data_dir'> =
  defineMessage({
    level: 'info',
    text: 'coordinator listening',
    keys: ['grpc_addr', 'raft_bind', 'node_id', 'data_dir'],
  });
export const allInOneReady: M<'coordinator' | 'shard' | 'raft' | 'data_dir'> = defineMessage({
  level: 'info',
  text: 'all-in-one ready',
  keys: ['coordinator', 'shard', 'raft', 'data_dir'],
});

// ── operator ────────────────────────────────────────────────────────────────────────────────
/** `rollup_interval` in the seconds form, `10s`. */
export const operatorStarted: M<'cluster' | 'shard' | 'rollup_interval'> = defineMessage({
  level: 'info',
  text: 'operator started',
  keys: ['cluster', 'shard', 'rollup_interval'],
});
