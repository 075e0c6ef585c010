// The shard as a process: startShard for every world, startShardProcess for the real one.

export { noAuditLog } from '../audit/audit-log.ts';
export type { EngineHost } from '../engine-host/engine-host.ts';
export { createInlineHost } from '../engine-host/inline-host.ts';
export type { DurableFile } from '../rails/durable-file.ts';
export type { SegmentFile, SegmentFiles } from '../records/segment-files.ts';
export type {
  FakeSettings,
  ProcessSettings,
  ProviderChoice,
} from './process-settings.ts';
export type { ProviderTarget } from '../ownership/provider-targets.ts';
export { targetsProblem } from '../ownership/provider-targets.ts';
export { LIBRARY_SETTINGS } from './shard-options.ts';
export type {
  RunningShard,
  ShardExtension,
  ShardListener,
  ShardOptions,
  ShardParts,
  ShardSettings,
  ShardStorage,
  ShardTransport,
} from './shard-options.ts';
export type { RunningProcess, StartProcessOptions } from './start-process.ts';
export { startShardProcess } from './start-process.ts';
export { startShard } from './start-shard.ts';
