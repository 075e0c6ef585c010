// Judges an endpoint by the checks of a lane, one after the other: they share a pool of machines.
// A lane ends early when its endpoint stops answering; the checks behind that have no result, which
// is INCOMPLETE and never clean.

import { behaviourOf } from '../catalogue/catalogue.ts';
import type { Area } from '../catalogue/behaviour.ts';
import type { Check } from '../harness/check.ts';
import { type LaneName, laneOf } from '../run/lane-names.ts';
import type { LaneReport, TestResult } from '../run/result.ts';
import type { LaneContext, LaneEnvironment } from './environment.ts';
import type { Opened } from './open.ts';
import { unreachable } from './reachable.ts';
import { probe, type RunnableCheck, runCheck } from './run-check.ts';

export interface LanePlan {
  readonly lane: LaneName;
  /** The endpoint in words. */
  readonly judged: string;
  readonly checks: readonly RunnableCheck[];
}

/**
 * Lane by lane on one endpoint, which is closed afterwards. Baseline and extension share theirs, as
 * they do against a foreign target: 256 slots must do for both.
 */
export async function judgeOpened(
  environment: LaneEnvironment,
  lanes: readonly LaneName[],
  opened: Opened,
): Promise<readonly LaneReport[]> {
  if (!opened.ok) return lanes.map((lane) => ({ kind: 'broken', lane, problem: opened.problem }));
  const { judged } = opened;
  try {
    const capabilities = await probe(environment, judged);
    const reports: LaneReport[] = [];
    for (const lane of lanes) {
      const plan = { lane, judged: judged.description, checks: checksOf(environment, lane) };
      reports.push(await runChecks(environment, { ...judged, capabilities }, plan));
    }
    return reports;
  } finally {
    await judged.close();
  }
}

export async function runChecks(
  environment: LaneEnvironment,
  context: LaneContext,
  { lane, judged, checks }: LanePlan,
): Promise<LaneReport> {
  const { observer, signal } = environment;
  observer.laneStarted({ lane, judged, checkCount: checks.length });
  const results: TestResult[] = [];
  for (const check of checks) {
    signal.throwIfAborted();
    observer.checkStarted(lane, check.name);
    const result = await runCheck(environment, context, check);
    results.push(result);
    observer.checkEnded(lane, result);
    const lost = await lostAfter(environment, context, result);
    if (lost !== undefined) return { kind: 'ran', lane, judged, results, problem: lost };
  }
  return { kind: 'ran', lane, judged, results };
}

/** The checks of a lane as the reports name them. */
export function checksOf(environment: LaneEnvironment, lane: LaneName): readonly RunnableCheck[] {
  if (lane === 'baseline') {
    return environment.baseline.map(({ name, run }) => ({ name: `Test${name}`, run }));
  }
  return environment.checks.filter(({ id }) => laneOf(behaviourOf(id)) === lane).map(runnable);
}

const areaSlugs: Readonly<Record<Area, string>> = {
  Lifecycle: 'Lifecycle',
  'Transition/Errors': 'TransitionErrors',
  Fencing: 'Fencing',
  Concurrency: 'Concurrency',
  Metadata: 'Metadata',
  'Timeouts/Failure': 'TimeoutsFailure',
  'Field shape': 'FieldShape',
  List: 'List',
  Durability: 'RestartRecovery',
  Scale: 'Scale',
  Property: 'Property',
};

function runnable(check: Check): RunnableCheck {
  const { id, area } = behaviourOf(check.id);
  const name = `Test${id}_${areaSlugs[area]}`;
  return { name, behaviourId: id, run: (context) => check.run(context) };
}

/** Asked only after a failure: a passed check has just talked to it. */
async function lostAfter(
  environment: LaneEnvironment,
  context: LaneContext,
  { name, outcome }: TestResult,
): Promise<string | undefined> {
  if (outcome.kind !== 'failed') return undefined;
  const problem = await unreachable(environment, context);
  return problem === undefined ? undefined : `ended after ${name}: ${problem}`;
}
