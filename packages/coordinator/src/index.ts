// State machine, storage engines, instructions, rebalancer, admin RPCs.

export {
  type ApplyObserver,
  type ApplyOutcome,
  ApplyQueue,
  type ApplyQueueOptions,
  openLedger,
} from './ledger/apply-queue.ts';
export type { ApplyOptions, ApplyResult, Ledger } from './ledger/ledger.ts';
export * from './state/commands.ts';
export { decide } from './state/decide/decide.ts';
export type { Decision, Refusal, RefusalCode } from './state/decide/decision.ts';
export { FleetState } from './state/fleet-state.ts';
export { nextGeneration } from './state/generation.ts';
export type { FleetView } from './state/fleet-view.ts';
export * from './state/rows.ts';
export * from './state/writes.ts';
export { type DataDir, takeDataDir, type TakeOptions } from './store/data-dir.ts';
export { SqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
export * from './store/store.ts';
export { SnapshotExporter, type SnapshotExporterOptions } from './snapshots/export-snapshots.ts';
export { openArchive, type SnapshotArchive } from './snapshots/archive-reader.ts';
export type { EtcdBuild, EtcdRestore } from './snapshots/restore-into-etcd.ts';
export {
  type RestoredSnapshot,
  type RestoreOptions,
  restoreSnapshot,
} from './snapshots/restore-snapshot.ts';
export type { SnapshotMeta } from './snapshots/snapshot-meta.ts';

export type { CoordinatorObserver, MoveResult, MoveTier } from './metrics/observer.ts';
export {
  createRebalancing,
  type Rebalancing,
  type RebalancingOptions,
} from './rebalance/create-rebalancing.ts';
export { Cooldowns } from './moves/cooldowns.ts';
export * from './moves/plan.ts';
export { DEFAULT_REBALANCE_SETTINGS, type RebalanceSettings } from './moves/settings.ts';
export { type RecoveryWait, waitText } from './recovery/waits.ts';
export { assignDomain, type DomainOperations, unassignDomain } from './registry/domains.ts';
export { removeShard, type RemoveShardOptions } from './registry/remove-shard.ts';
export { createReportDesk, type ReportDesk, type SagaParts } from './desk/report-desk.ts';
export { type SagaRules, sagaRules } from './transfers/transfer-driver.ts';
export type { SagaFacts, SagaStep } from './transfers/saga-facts.ts';

export {
  type AssembledCoordinator,
  assembleCoordinator,
  type AssembleOptions,
  metricsOf,
} from './process/assemble.ts';
export type {
  CoordinatorSettings,
  EtcdCredentials,
  SnapshotExportSettings,
  StoreSettings,
} from './process/settings.ts';
export {
  type RunningCoordinator,
  startCoordinatorProcess,
  type StartCoordinatorOptions,
} from './process/start-process.ts';
