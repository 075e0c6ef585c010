// The stable messages of observability §13, letter for letter. Text, level and keys are a
// contract with runbooks; adding a key is allowed, renaming anything is not. Fields that every
// record of a component carries (`component`, `shard_id`, `epoch`) come from its logger and are
// listed here only where the spec lists them.

import type { LogMessage } from './messages.ts';

/** `M<'a' | 'b', 'c'>` requires the keys a and b and may have c. */
type M<K extends Key = never, O extends Key = never> = LogMessage<K, O>;
type Key = Lowercase<string>;

// ── any process ─────────────────────────────────────────────────────────────────────────────
export const metricsServing: M<'addr'> = { level: 'info', text: 'metrics serving' };
export const signalReceived: M = { level: 'info', text: 'signal received, shutting down' };
export const componentExited: M<'err'> = { level: 'error', text: 'component exited' };
/** security.md §1.4 */
export const transportPlaintext: M = {
  level: 'warn',
  text: 'transport is plaintext: peer identity is not verified',
};

// ── shard: life ─────────────────────────────────────────────────────────────────────────────
export const listening: M<'addr' | 'shard_id' | 'epoch'> = { level: 'info', text: 'listening' };
export const shardStarted: M<'execute_workers' | 'queue_capacity'> = {
  level: 'info',
  text: 'shard started',
};
export const shardStopped: M<never, 'execute_workers' | 'queue_capacity'> = {
  level: 'info',
  text: 'shard stopped',
};

// ── shard: providers ────────────────────────────────────────────────────────────────────────
export const dialingProvider: M<'addr' | 'shard_id' | 'epoch'> = {
  level: 'info',
  text: 'dialing out-of-tree provider',
};
/** Once a minute while none is known. */
export const noProviderConfigured: M = { level: 'warn', text: 'no provider configured' };
export const providerSetChanged: M<'added' | 'removed' | 'retiring' | 'source'> = {
  level: 'info',
  text: 'provider set changed',
};
export const providerRegistryDiffers: M<'names'> = {
  level: 'warn',
  text: 'provider registry differs from flags',
};
export const reconcileFailed: M<'err'> = { level: 'warn', text: 'reconcile failed' };
export const machineRejected: M<'machine' | 'state' | 'err'> = {
  level: 'warn',
  text: 'provider machine rejected at ingest',
};
export const metadataDecodeFailed: M<'machine' | 'err'> = {
  level: 'warn',
  text: 'shard_metadata decode failed at ingest; protection state may be incomplete',
};
export const shardFenced: M<'kind' | 'machine' | 'cluster' | 'err'> = {
  level: 'error',
  text:
    "provider fenced this shard's mutation — zombie-shard incident; do not retry, " +
    'investigate duplicate shard identity',
};

// ── shard: sessions and roll-ups ────────────────────────────────────────────────────────────
export const sessionOpened: M<'cluster' | 'protocol'> = {
  level: 'info',
  text: 'operator session opened',
};
export const sessionClosed: M<'cluster', 'protocol' | 'err'> = {
  level: 'info',
  text: 'operator session closed',
};
export const sessionRecvError: M<'cluster' | 'err', 'protocol'> = {
  level: 'info',
  text: 'operator session recv error',
};
export const sessionIdentityRejected: M<'cluster' | 'presented_identity' | 'err'> = {
  level: 'error',
  text: 'operator session identity rejected',
};
export const readIdentityRejected: M<'rpc' | 'presented_identity' | 'err'> = {
  level: 'error',
  text: 'shard rejected read identity',
};
export const rollupRejected: M<'cluster' | 'err'> = {
  level: 'error',
  text: 'rollup rejected at ingest validation; keeping last-known-good demand',
};
export const rollupQuarantined: M<
  'cluster' | 'previous_rows' | 'new_rows' | 'held_consecutive' | 'accepted_after'
> = { level: 'warn', text: 'rollup quarantined: full-replacement demand drop held' };
export const quarantinedRollupAccepted: M<
  'cluster' | 'previous_rows' | 'new_rows' | 'consecutive_reports'
> = {
  level: 'warn',
  text: 'quarantined rollup accepted: demand drop confirmed by consecutive reports',
};
export const clusterForgotten: M<'cluster' | 'by' | 'reason' | 'need_rows' | 'machines'> = {
  level: 'warn',
  text: 'cluster forgotten',
};

// ── shard: decisions and actions ────────────────────────────────────────────────────────────
/** Exactly one line in every cycle with count > 0: never sampled, never merged. */
export const shortfallsDetected: M<'count' | 'top_fingerprints'> = {
  level: 'warn',
  text: 'shortfalls detected',
};
/** Once per ledger entry. */
export const shortfallEscalated: M<'fingerprint' | 'priority' | 'age' | 'reason'> = {
  level: 'error',
  text: 'shortfall escalated',
};
export const reclaimCapEngaged: M<'deferred_reclaims' | 'cap_fraction'> = {
  level: 'warn',
  text: 'reclaim blast-radius cap engaged',
};
export const actuationPaused: M<'suppressed'> = {
  level: 'warn',
  text: 'actuation paused: decided actions suppressed',
};
export const dryRunAction: M<'kind' | 'machine' | 'cluster' | 'reason' | 'grace'> = {
  level: 'info',
  text: 'dry-run: would execute action',
};
export const reclaimFallback: M<'machine' | 'cluster'> = {
  level: 'warn',
  text: 'reclaim fallback: no operator session; PDB-respecting drain skipped',
};
/** Sampled above ACTION_FAILED_PER_SECOND. */
export const actionFailed: M<'kind' | 'machine' | 'cluster' | 'err'> = {
  level: 'warn',
  text: 'action failed',
};
export const ACTION_FAILED_PER_SECOND = 100;

type Setting = 'paused' | 'dry_run' | 'reclaim_cap_fraction' | 'empty_rollup_guard';

export const actuationSettingsChanged: M<'by' | 'reason' | Setting> = {
  level: 'warn',
  text: 'actuation settings changed',
};
/** One optional key per overridden setting. */
export const actuationSettingsRestored: M<'by' | 'reason' | 'changed_at', Setting> = {
  level: 'warn',
  text: 'actuation settings restored from rails.json',
};

// ── coordinator and its client ──────────────────────────────────────────────────────────────
export const coordClientStarted: M<'coord' | 'interval'> = {
  level: 'info',
  text: 'coord client started',
};
export const coordClientStopped: M<'coord', 'interval' | 'err'> = {
  level: 'info',
  text: 'coord client stopped',
};
export const reportShardFailed: M<'coord' | 'err'> = { level: 'warn', text: 'ReportShard failed' };
export const termValidationFailed: M<'coord' | 'err'> = {
  level: 'warn',
  text: 'coordinator term validation failed',
};
export const coordinatorListening: M<'grpc_addr' | 'raft_bind' | 'node_id' | 'data_dir'> = {
  level: 'info',
  text: 'coordinator listening',
};
export const allInOneReady: M<'coordinator' | 'shard' | 'raft' | 'data_dir'> = {
  level: 'info',
  text: 'all-in-one ready',
};

// ── operator ────────────────────────────────────────────────────────────────────────────────
/** `rollup_interval` in the seconds form, `10s`. */
export const operatorStarted: M<'cluster' | 'shard' | 'rollup_interval'> = {
  level: 'info',
  text: 'operator started',
};
