// The 93 behaviours against any gRPC endpoint, as a library: what the mutants, the scale harness
// and the providers' own tests run. The command is main.ts.

export type { Behaviour, Profile } from './catalogue/behaviour.ts';
export { behaviours } from './catalogue/catalogue.ts';
export { allChecks } from './behaviours/index.ts';
export {
  type FinishedSuite,
  runSuite,
  type SuiteOptions,
  type SuiteServices,
} from './lanes/suite.ts';
export type { LaneReport, RunObserver, SuiteRun, TestResult } from './run/result.ts';
export { judge, type Judgement, type Verdict } from './verdict/judge.ts';
