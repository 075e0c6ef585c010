// Proves that explanations carry the recorded facts and codes for every reason there is, stay
// within their bounds, and read as the golden texts say.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { bucketUpperBoundDollars, createRandom, effectiveCost, unmetReasons } from '@bigfleet/base';
import { parseFingerprint } from '../model/profile.ts';
import type { RecordedNeed } from '../record/format.ts';
import { randomFleet } from '../testing/generate.ts';
import { cores, fleet, machines, need } from '../testing/build.ts';
import {
  type ExplainAnswer,
  type Explanation,
  type Spared,
  MAX_DISPLACEMENTS,
  MAX_EXPLAINED_CANDIDATES,
} from './answer.ts';
import { explain } from './explain.ts';
import { decide, refTo } from './testing/decide.ts';
import {
  machineScenarios,
  needScenarios,
  otherScenarios,
  type Scenario,
} from './testing/scenarios.ts';

const GOLDEN = new URL('./testdata/explanations.txt', import.meta.url);
const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 500);
const all = [...needScenarios, ...machineScenarios, ...otherScenarios];

for (const scenario of all) {
  test(`explains: ${scenario.name}`, () => {
    const answer = explain(decide(scenario.input).record, scenario.about);
    if (answer.kind === 'not_mentioned') {
      assert.equal(scenario.reasonCode, 'not_mentioned');
      return;
    }
    assert.equal(answer.reasonCode, scenario.reasonCode);
    checkRows(scenario, answer);
  });
}

function checkRows({ candidates, displaced }: Scenario, answer: Explanation | Spared): void {
  if (candidates !== undefined) {
    assert.deepEqual(
      answer.candidates.map(({ reasonCode }) => reasonCode),
      candidates,
    );
  }
  const told = answer.displacements.map(
    (entry) => `${entry.machineId} ${entry.need.cluster} ${entry.priority} ${entry.reasonCode}`,
  );
  if (displaced !== undefined) assert.deepEqual(told, displaced);
}

test('every reason of a need has its scenario', () => {
  const codes = new Set(needScenarios.map(({ reasonCode }) => reasonCode));
  assert.deepEqual([...codes].sort(), Object.keys(unmetReasons).sort());
});

test('every losing reason that records hold has its scenario', () => {
  const records = all.map(({ input }) => decide(input).record);
  const needs = records.flatMap((record) => record.needs);
  const rows = needs.flatMap(({ candidates, victims }) => [...candidates, ...victims]);
  const codes = new Set<string>(rows.map(({ code }) => code));
  for (const { preemptionCode } of needs) if (preemptionCode) codes.add(preemptionCode);
  assert.deepEqual([...codes].sort(), EMITTED);
});

const EMITTED = [
  'chosen',
  'claimed_equal_precedence',
  'claimed_higher_precedence',
  'configure_failing',
  'costlier',
  'idle_preferred',
  'infinite_cost',
  'interruption_risk',
  'min_unit_too_small',
  'no_contribution',
  'preemptor_no_domain',
  'preemptor_parked',
  'quota_exhausted',
  'spread_skew',
  'type_failing',
  'victim_claimed_higher',
  'victim_not_configured',
  'victim_own_cluster',
  'victim_priority_not_lower',
  'victim_score_lower',
  'victim_taken',
  'wrong_domain',
];

/** BIGFLEET_UPDATE_GOLDEN=1 writes the file anew; the difference is then for the reviewer. */
test('the texts are the golden ones', () => {
  const told = all
    .map(({ name, input, about }) => `# ${name}\n${explain(decide(input).record, about).text}\n`)
    .join('\n');
  if (process.env['BIGFLEET_UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, told);
  assert.equal(told, readFileSync(GOLDEN, 'utf8'));
});

test('the numbers of a candidate are those of the machine and the penalty of the need', () => {
  const scenario = machineScenarios[0] as Scenario;
  const answer = explain(decide(scenario.input).record, scenario.about) as Explanation;
  assert.deepEqual(answer.candidates[0], {
    machineId: 'm1',
    description: 'idle spot spotty in z1 of provider',
    rank: 1,
    chosen: true,
    pricePerHour: 1.8,
    interruptionProbability: 0.1,
    interruptionPenalty: 4,
    effectiveCost: 1.8 + 0.1 * 4,
    reasonCode: 'chosen',
    machineCount: 1,
  });
  assert.equal(answer.candidates[1]?.machineCount, 1);
});

test('the chain of displacements is bounded and says so', () => {
  const greedy = need({ cluster: 'b', wants: cores(30), unit: cores(1), priority: 9 });
  const late = need({ cluster: 'a', wants: cores(1), unit: cores(1) });
  const { record } = decide(fleet({ needs: [greedy, late], machines: machines(30, 'm', {}) }));
  const answer = explain(record, { need: refTo(late) }) as Explanation;
  assert.equal(answer.displacements.length, MAX_DISPLACEMENTS);
  assert.equal(answer.truncated, true);
  assert.equal(answer.displacements[0]?.machineId, 'm1');
});

test(`whatever a record mentions is explained with its facts, on ${FLEETS} fleets`, () => {
  for (let seed = 1; seed <= FLEETS; seed++) {
    const { record } = decide(randomFleet(createRandom(`explain-${seed}`)));
    for (const { machineId, need: place } of record.actions) {
      const answer = mentioned(explain(record, { machineId }), `${seed} ${machineId}`);
      const own = answer.candidates.filter((row) => row.machineId === machineId);
      const isAcquired = answer.reasonCode.startsWith('phase1');
      const isPreempted = answer.reasonCode === 'phase2.inversion';
      if (isPreempted) checkVictims(answer, record.needs[place] as RecordedNeed, machineId);
      else if (!answer.truncated)
        assert.equal(own.length, isAcquired ? 1 : 0, `${seed} ${machineId}`);
      if (isAcquired) checkCosts(answer, record.needs[place]?.fingerprint ?? '');
      assert.match(answer.text, new RegExp(`^Machine ${machineId} `));
    }
    for (const entry of record.needs) {
      const answer = mentioned(explain(record, { need: entry }), `${seed} ${entry.cluster}`);
      checkCosts(answer, entry.fingerprint);
      assert.doesNotMatch(answer.text, /undefined|NaN|\[object/);
    }
  }
});

function mentioned(answer: ExplainAnswer, where: string): Explanation {
  if (answer.kind !== 'explained') assert.fail(`not mentioned: ${where}`);
  assert.ok(answer.candidates.length <= MAX_EXPLAINED_CANDIDATES, where);
  assert.ok(answer.displacements.length <= MAX_DISPLACEMENTS, where);
  assert.deepEqual(
    answer.candidates.map(({ rank }) => rank),
    answer.candidates.map((_, at) => at + 1),
    where,
  );
  return answer;
}

/** What was left of the same kinds is told beside the victim, with the numbers of the record. */
function checkVictims(answer: Explanation, need: RecordedNeed, machineId: string): void {
  assert.deepEqual(
    answer.candidates.map(({ reasonCode, machineCount, victim }) => ({
      code: reasonCode,
      count: machineCount,
      ...victim,
    })),
    need.victims.map((row) => ({
      code: row.code,
      count: row.chosenCount + row.leftCount,
      effectivePriority: row.effectivePriority,
      score: row.score,
      interruptionPenalty: row.interruptionPenalty,
      reclamationPenalty: row.reclamationPenalty,
    })),
  );
  const isNamed = need.victims.some(({ machineIds }) => machineIds.includes(machineId));
  const own = answer.candidates.filter((row) => row.machineId === machineId);
  assert.deepEqual(
    own.map(({ reasonCode }) => reasonCode),
    isNamed ? ['chosen'] : [],
  );
}

function checkCosts({ candidates }: Explanation, fingerprint: string): void {
  const profile = parseFingerprint(fingerprint);
  assert.ok(profile !== undefined);
  const penalty = bucketUpperBoundDollars(profile.interruptionBucket);
  for (const row of candidates) {
    assert.equal(row.interruptionPenalty, penalty);
    const { pricePerHour, interruptionProbability } = row;
    assert.equal(row.effectiveCost, effectiveCost(pricePerHour, interruptionProbability, penalty));
  }
}
