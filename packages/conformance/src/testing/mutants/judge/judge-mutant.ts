// What the suite says about one mutant: the outcome of each behaviour that it was put to, of the
// whole baseline, and the verdict that the runner would print for it.

import { wireChecks } from '../../../baseline/index.ts';
import { behaviourOf } from '../../../catalogue/catalogue.ts';
import type { Profile } from '../../../catalogue/behaviour.ts';
import type { Check } from '../../../harness/check.ts';
import type { Outcome } from '../../../harness/testing/world.ts';
import { LANES, type LaneName, laneOf } from '../../../run/lane-names.ts';
import type { LaneReport, SuiteRun, TestResult } from '../../../run/result.ts';
import { judge, type Verdict } from '../../../verdict/judge.ts';
import type { Mutant } from '../mutant.ts';
import { judgeBaseline, judgeCheck, probed } from './lane-worlds.ts';

const profiles: readonly Profile[] = ['core', 'cloud', 'spot', 'fault', 'durable', 'scale'];

export interface MutantJudgement {
  readonly mutant: Mutant;
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Ids of the behaviours that failed, in the order of the catalogue. */
  readonly failed: readonly string[];
  readonly baselineFailed: readonly string[];
  readonly verdict: Verdict;
}

export async function judgeMutant(
  mutant: Mutant,
  checks: readonly Check[],
): Promise<MutantJudgement> {
  const { make } = mutant;
  const capabilities = await probed(make);
  const outcomes = new Map<string, Outcome>();
  for (const check of checks) {
    outcomes.set(check.id, await judgeCheck(make, capabilities, check));
  }
  const baseline = await judgeBaseline(make, capabilities, wireChecks);
  return {
    mutant,
    outcomes,
    failed: failedOf(outcomes),
    baselineFailed: failedOf(baseline),
    verdict: judge(suiteRun(mutant, outcomes, baseline)).verdict,
  };
}

function failedOf(outcomes: ReadonlyMap<string, Outcome>): readonly string[] {
  return [...outcomes].flatMap(([name, { kind }]) => (kind === 'failed' ? [name] : []));
}

/** As the runner would have written it down, so that its own verdict can be asked. */
function suiteRun(
  { name }: Mutant,
  outcomes: ReadonlyMap<string, Outcome>,
  baseline: ReadonlyMap<string, Outcome>,
): SuiteRun {
  const lanes = LANES.map((lane): LaneReport => {
    const results =
      lane === 'baseline'
        ? [...baseline].map(([check, outcome]) => testResult(check, outcome))
        : resultsOf(lane, outcomes);
    if (results.length > 0) return { kind: 'ran', lane, judged: name, results };
    return { kind: 'not-asked', lane, missing: 'no behaviour of it was chosen' };
  });
  const only = new Set(outcomes.keys());
  return { provider: name, profiles, seed: '1', startedUnixMs: 0, durationMs: 0, lanes, only };
}

function resultsOf(lane: LaneName, outcomes: ReadonlyMap<string, Outcome>): readonly TestResult[] {
  return [...outcomes]
    .filter(([id]) => laneOf(behaviourOf(id)) === lane)
    .map(([id, outcome]) => ({ ...testResult(id, outcome), behaviourId: id }));
}

function testResult(name: string, outcome: Outcome): TestResult {
  const common = { name, durationMs: 0, notes: [] };
  if (outcome.kind === 'passed') return { ...common, outcome: { kind: 'passed' } };
  if (outcome.kind === 'skipped') return { ...common, outcome };
  return { ...common, outcome: { ...outcome, detail: outcome.finding } };
}
