// The shard as a library: the process and its parts, the provider contract as the shard sees it, and
// what a records directory tells without the shard that wrote it.

// The process: startShard for every world, startShardProcess for the real one.
export { noAuditLog } from './audit/audit-log.ts';
export type { EngineHost } from './engine-host/engine-host.ts';
export { createInlineHost } from './engine-host/inline-host.ts';
export type { ProcessSettings, ProviderChoice } from './process/process-settings.ts';
export type { FakeSettings } from './testing/fake-fleet.ts';
export type { ProviderTarget } from './ownership/provider-targets.ts';
export { targetsProblem } from './ownership/provider-targets.ts';
export { serveReading } from './process/serve-reading.ts';
export type { RunningShard, ShardExtension, ShardParts } from './process/shard-options.ts';
export { LIBRARY_SETTINGS } from './process/shard-options.ts';
export type { RunningProcess, StartProcessOptions } from './process/start-process.ts';
export { startShardProcess } from './process/start-process.ts';
export { startShard } from './process/start-shard.ts';
export type { DurableFile } from './rails/durable-file.ts';
export { readDurably, writeDurably } from './rails/durable-file.ts';

// What the shard owns, and the port through which it can be steered.
export type {
  DomainRef,
  MachineOverride,
  QuotaSlice,
  RegistryTarget,
  ShardAssignment,
} from './ownership/assignment.ts';
export type { FleetSummary } from './ownership/fleet-summary.ts';
export type { MachineSelector } from './ownership/selection.ts';
export type { ShardControl } from './ownership/control.ts';
export type * from './ownership/shard-control.ts';
export type { TransferReport } from './ownership/transfer-book.ts';

// Its side of the provider contract: clients, columns, reconcile.
export { dialProvider } from './provider/dial.ts';
export { GrpcProvider } from './provider/grpc-provider.ts';
export { ListColumns } from './provider/list/columns.ts';
export { decodeMachineList } from './provider/list/decode-list.ts';
export { ProviderSet } from './provider/provider-set.ts';
export type { RefreshOutcome } from './provider/provider-source.ts';
export { ProviderSource } from './provider/provider-source.ts';
export type { LocalMarks } from './provider/reconcile/known-machines.ts';
export { KnownMachines } from './provider/reconcile/known-machines.ts';
export type { IngestBatch } from './provider/reconcile/ingest.ts';
export type { ListMode } from './provider/reconcile/list-plan.ts';
export { WorkerScans } from './provider/scan/worker-scans.ts';

// Behind `bigfleet explain`, `bigfleet records` and `bigfleet replay`.
export { describeExplanation, explainRecords } from './offline/explain-records.ts';
export { describeRecordLine, type RecordLine, recordLines } from './offline/record-lines.ts';
export { describeDirectoryReplay, replayDirectory } from './offline/replay-directory.ts';
export type { RecordQuery } from './offline/scan-records.ts';
export { directorySegments, type SegmentFile, type SegmentFiles } from './records/segment-files.ts';
