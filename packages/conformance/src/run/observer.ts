// What a run tells while it goes on. Progress only: the results are in the SuiteRun.

import type { LaneName } from './lane-names.ts';
import type { TestResult } from './result.ts';

export interface LaneStart {
  readonly lane: LaneName;
  readonly judged: string;
  readonly checkCount: number;
}

export interface RunObserver {
  laneStarted(start: LaneStart): void;
  checkStarted(lane: LaneName, name: string): void;
  checkEnded(lane: LaneName, result: TestResult): void;
}
