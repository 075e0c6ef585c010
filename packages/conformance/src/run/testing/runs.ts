// Runs made of plain values, for tests of verdict and reports.

import { behaviours } from '../../catalogue/catalogue.ts';
import { type LaneName, laneOf } from '../lane-names.ts';
import type { LaneReport, Outcome, SuiteRun, TestResult } from '../result.ts';

export const passed: Outcome = { kind: 'passed' };
export const failed: Outcome = {
  kind: 'failed',
  finding: 'a finding',
  detail: 'a finding\nand more',
};
export const absent: Outcome = { kind: 'skipped', skip: 'capability-absent', reason: 'no Delete' };
export const unmet: Outcome = { kind: 'skipped', skip: 'precondition-unmet', reason: 'seed more' };

export function result(behaviourId: string, outcome: Outcome): TestResult {
  return { name: `Test${behaviourId}_X`, behaviourId, outcome, durationMs: 1_234.5, notes: [] };
}

export function baselineReport(outcomes: readonly Outcome[]): LaneReport {
  const results = outcomes.map((outcome, at) => ({
    name: `TestBaseline${at}`,
    outcome,
    durationMs: 10,
    notes: [],
  }));
  return { kind: 'ran', lane: 'baseline', judged: 'localhost:9001', results };
}

export const cleanBaseline: LaneReport = baselineReport(Array.from({ length: 25 }, () => passed));

/** Every behaviour of the lane passes, but for those that `outcomes` names. */
export function laneReport(
  lane: LaneName,
  outcomes: Readonly<Record<string, Outcome | undefined>> = {},
): LaneReport {
  const results = behaviours
    .filter((behaviour) => laneOf(behaviour) === lane)
    .map(({ id }) =>
      id in outcomes ? outcomes[id] && result(id, outcomes[id]) : result(id, passed),
    )
    .filter((entry) => entry !== undefined);
  return { kind: 'ran', lane, judged: 'localhost:9001', results };
}

export function notAsked(lane: LaneName, missing: string = 'needs a flag'): LaneReport {
  return { kind: 'not-asked', lane, missing };
}

/** Claims core; baseline and extension are clean, nothing else was asked for. */
export function suiteRun(change: Partial<SuiteRun> = {}): SuiteRun {
  return {
    provider: 'example',
    profiles: ['core'],
    seed: '1',
    startedUnixMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
    durationMs: 60_000,
    lanes: [
      cleanBaseline,
      laneReport('extension'),
      notAsked('fault'),
      notAsked('durable'),
      notAsked('scale'),
    ],
    ...change,
  };
}
