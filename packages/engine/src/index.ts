// The decision engine: inventory columns, NeedsTable, Phases 1–3, rails, decision records. Pure and browser-safe.

export {
  type CycleOptions,
  Engine,
  type EngineOptions,
  type EnginePhase,
  type PassKind,
} from './cycle/engine.ts';
export {
  engineCycle,
  loadEngine,
  readActions,
  readCycle,
  readVerdict,
  readVerdicts,
} from './cycle/plain.ts';
export { type Brakes, machineTypeKey, noBrakes } from './model/brakes.ts';
export {
  type BrakedNeed,
  type BrakedType,
  type BrakeEnd,
  type BrakeObserver,
  ConfigureBrake,
  type FailureRun,
} from './brake/configure-brake.ts';
export * from './actions/rails.ts';
export * from './model/cycle.ts';
export * from './explain/answer.ts';
export { applyChange } from './explain/change.ts';
export * from './explain/counterfactual.ts';
export { type DispositionNote, explainDispositions } from './explain/dispositions.ts';
export { explain } from './explain/explain.ts';
export * from './model/action.ts';
export * from './model/capacity-type.ts';
export * from './model/machine.ts';
export * from './model/need.ts';
export * from './model/profile.ts';
export * from './model/requirement.ts';
export * from './model/resources.ts';
export * from './model/shard-metadata.ts';
export * from './model/state.ts';
export { victimScore } from './model/victim-score.ts';
export {
  decodeRollup,
  type RollupProblem,
  type WireRollup,
} from './needs/decode-rollup.ts';
export { type GuardVerdict, RollupGuard } from './needs/rollup-guard.ts';
export { oracleCycle } from './oracle/cycle.ts';
export { decodeRecord } from './record/decode.ts';
export { decodeDispositions, isDispositions } from './record/dispositions/decode.ts';
export { encodeDispositions } from './record/dispositions/encode.ts';
export {
  type CycleDispositions,
  type DispositionCode,
  type DispositionRun,
  MAX_DISPOSITION_RUNS,
  type RefusedRollup,
  type RefusedRollups,
} from './record/dispositions/format.ts';
export { dispositionAt } from './record/dispositions/lookup.ts';
export type {
  DecisionRecord,
  RecordedAction,
  RecordedCandidate,
  RecordedClass,
  RecordedNeed,
  RecordedVictim,
} from './record/format.ts';
export { type Dimensions, MAX_DIMENSIONS } from './store/dimensions.ts';
export { Inventory, type MoveChanges } from './store/inventory.ts';
export type { ActionHash } from './trace/action-hash.ts';
export { describeDiff, type DiffReport, diffRuns } from './trace/diff-runs.ts';
export { createEngineLike, type EngineBuild, type EngineLike } from './trace/engine-like.ts';
export { type DecidedAction, describeEnd, type TraceEntry } from './trace/entry.ts';
export { InputDecoder, InputEncoder } from './trace/input-stream.ts';
export { emptyState, RecordedEngine } from './trace/recorded-engine.ts';
export { describeReplay, replay, type ReplayReport } from './trace/replay.ts';
export type { ReplayMode } from './trace/replay-engine.ts';
export { TraceReader } from './trace/trace-reader.ts';
export type { TraceSink } from './trace/trace-writer.ts';
export * from './what-if/answer.ts';
export { changedMachine, changedPolicy } from './what-if/assumptions.ts';
export {
  type Change,
  describeChange,
  parseChange,
} from './what-if/change.ts';
export { describeWhatIf } from './what-if/describe.ts';
export type { ReadTrace, RecordedTrace } from './what-if/recording.ts';
export { whatIf, type WhatIfOptions, type WhatIfProgress } from './what-if/what-if.ts';
