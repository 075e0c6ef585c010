// Recording and replay: what the rest of BigFleet uses of this folder.

export { type ActionHash, actionHash, hashActions } from './action-hash.ts';
export { type ActionDifference, describeAction } from './action-difference.ts';
export type { TraceSource } from '../bytes/byte-source.ts';
export {
  type CycleDifference,
  describeDiff,
  type DiffOptions,
  type DiffReport,
  diffRuns,
} from './diff-runs.ts';
export { createEngineLike, type EngineBuild, type EngineLike } from './engine-like.ts';
export type { EngineInputs, EngineView, InventoryInputs, InventoryView } from './engine-view.ts';
export {
  type Decided,
  type DecidedAction,
  describeEnd,
  type TraceEnd,
  type TraceEntry,
} from './entry.ts';
export { InputDecoder, InputEncoder } from './input-stream.ts';
export {
  emptyState,
  type InitialState,
  RecordedEngine,
  type RecordedEngineOptions,
} from './recorded-engine.ts';
export type { RecordingProblem } from './limits.ts';
export {
  describeReplay,
  replay,
  type ReplayDifference,
  type ReplayOptions,
  type ReplayReport,
} from './replay.ts';
export type { EngineFailure, ReplayMode } from './replay-engine.ts';
export type { RunTally } from './run-tally.ts';
export { TraceReader } from './trace-reader.ts';
export { type TraceSink, TraceWriter, type TraceWriterOptions } from './trace-writer.ts';
