// The shard's side of the provider contract: clients, columns, reconcile.

export type { DialledProvider, DialOptions, ShardGeneration } from './dial.ts';
export { dialProvider } from './dial.ts';
export type { GrpcProviderOptions } from './grpc-provider.ts';
export { CALL_DEADLINE_MS, GrpcProvider } from './grpc-provider.ts';
export { LIST_DEADLINE_MS } from './list-call.ts';
export type { ListData, ListedProfile } from './list/columns.ts';
export { ListColumns, transferables } from './list/columns.ts';
export { decodeMachineList } from './list/decode-list.ts';
export type {
  CallLimits,
  ConfigureOrder,
  DrainOrder,
  ListRequest,
  Provider,
  ReportedMachine,
  TransitionAck,
} from './provider.ts';
export type { ProviderErrorOptions, ProviderFailure } from './provider-error.ts';
export { ProviderError } from './provider-error.ts';
export { MAX_PROVIDERS, ProviderSet } from './provider-set.ts';
export type {
  ProviderSourceOptions,
  RefreshOptions,
  RefreshOutcome,
} from './provider-source.ts';
export { ProviderSource } from './provider-source.ts';
export type { LocalWrites } from './row-trust.ts';
export type { LocalMarks } from './reconcile/engine-view.ts';
export { EngineView } from './reconcile/engine-view.ts';
export type {
  AssignmentReader,
  IngestBatch,
  IngestChange,
  RejectedRecord,
  SkippedMetadata,
} from './reconcile/ingest.ts';
export type { KnownMachines, KnownShape, Pending } from './reconcile/known-machines.ts';
export type { ListMode } from './reconcile/list-plan.ts';
export type {
  ReconcileOptions,
  ReconcileSummary,
  RemovalOutcome,
  Unsettled,
} from './reconcile/reconcile-list.ts';
export { reconcileList } from './reconcile/reconcile-list.ts';
export { ShrinkGuard } from './reconcile/shrink-guard.ts';
export type { AskOrder, ListAsker } from './scan/list-asker.ts';
export type { ListScans, ScanAnswer, ScanOrder } from './scan/list-scans.ts';
export { type ListLine, WorkerScans, type WorkerScansOptions } from './scan/worker-scans.ts';
