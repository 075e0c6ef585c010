// What a records directory can tell without the shard that wrote it: the library behind
// `bigfleet explain`, `bigfleet records` and `bigfleet replay`.

export { directorySegments, type SegmentFiles } from '../records/segment-files.ts';
export {
  describeExplanation,
  type ExplainQuestion,
  explainRecords,
  type ExplainResult,
} from './explain-records.ts';
export {
  describeRecordLine,
  type HeldBackLine,
  type RecordLine,
  recordLines,
} from './record-lines.ts';
export {
  describeDirectoryReplay,
  type DirectoryReplay,
  replayDirectory,
  type ReplayedTrace,
} from './replay-directory.ts';
export type { RecordQuery } from './scan-records.ts';
