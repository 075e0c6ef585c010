// State machine, storage engines, instructions, rebalancer, admin RPCs.

export { ApplyQueue, openLedger } from './ledger/apply-queue.ts';
export type { ApplyResult, Ledger } from './ledger/ledger.ts';
export type { CommandBody } from './state/commands.ts';
export { FleetState } from './state/fleet-state.ts';
export { firstTermOf, nextGeneration } from './state/meta.ts';
export type { FleetView } from './state/fleet-state.ts';
export { SqliteStore } from './store/sqlite/sqlite-store.ts';
export type { Leadership } from './store/store.ts';
export { SnapshotExporter } from './snapshots/export-snapshots.ts';
export { restoreSnapshot } from './snapshots/restore-snapshot.ts';

export type { CoordinatorObserver } from './metrics/observer.ts';
export { createRebalancing, type Rebalancing } from './rebalance/rebalancer.ts';
export { Cooldowns } from './moves/cooldowns.ts';
export { DEFAULT_REBALANCE_SETTINGS, type RebalanceSettings } from './moves/settings.ts';
export { type RecoveryWait, waitText } from './recovery/waits.ts';
export { assignDomain, unassignDomain } from './registry/domains.ts';
export { removeShard } from './registry/remove-shard.ts';
export { createReportDesk, type ReportDesk } from './desk/report-desk.ts';
export { type SagaRules, sagaRules } from './transfers/transfer-driver.ts';
export type { SagaFacts } from './transfers/saga-facts.ts';

export type {
  CoordinatorSettings,
  EtcdCredentials,
  SnapshotExportSettings,
  StoreSettings,
} from './process/settings.ts';
export { type RunningCoordinator, startCoordinatorProcess } from './process/start-process.ts';
