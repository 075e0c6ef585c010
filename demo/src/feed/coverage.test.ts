// Proves what a run is judged by: covered only with machines that serve, unmet only beyond the
// patience, and no judgement over what cannot be bought or did not live long enough.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Operator } from '@bigfleet/engine';
import { MachineState } from '@bigfleet/wire';
import { Coverage, PATIENCE_MS } from './coverage.ts';
import { FleetPicture } from './fleet-picture.ts';
import { delta, type MachineSketch, type NeedSketch, snapshot } from './testing/frames.ts';

const need: NeedSketch = { cluster: 'web-eu', fingerprint: 'f-1', types: ['m6i.large'] };
const creating: MachineSketch = {
  id: 'm-1',
  state: MachineState.CREATING,
  intended: 'web-eu',
  fingerprint: 'f-1',
};
const configured: MachineSketch = {
  ...creating,
  state: MachineState.CONFIGURED,
  cluster: 'web-eu',
};

/** Each moment: when, and the whole of machines and needs. */
type Moment = readonly [
  atMs: number,
  machines: readonly MachineSketch[],
  needs: readonly NeedSketch[],
];

function coverageOf(moments: readonly Moment[]): Coverage {
  const coverage = new Coverage(['m6i.large', 'm6i.xlarge']);
  for (const [atMs, machines, needs] of moments) {
    const picture = new FleetPicture();
    for (const part of snapshot(machines, needs)) picture.apply(part);
    coverage.observe(picture, atMs);
  }
  return coverage;
}

test('covered means machines that serve, not machines on their way', () => {
  const late = PATIENCE_MS + 1;
  const cases: readonly [string, Moment, number][] = [
    ['bought this cycle', [late, [], [{ ...need, provisionCount: 1 }]], 0],
    ['in creation', [late, [creating], [need]], 0],
    ['serving', [late, [configured], [need]], 1],
    ['unsatisfied', [late, [configured], [{ ...need, satisfied: false }]], 0],
  ];
  for (const [name, moment, coveredCount] of cases) {
    const unmet: Moment = [0, [], [{ ...need, satisfied: false }]];
    const report = coverageOf([unmet, moment]).report(late);
    assert.equal(report.coveredCount, coveredCount, name);
    assert.equal(report.neverCovered.length, 1 - coveredCount, name);
  }
});

test('once covered is covered, also when the need is gone', () => {
  const coverage = coverageOf([
    [0, [configured], [need]],
    [PATIENCE_MS * 2, [], []],
  ]);
  const { seenCount, coveredCount, neverCovered } = coverage.report(PATIENCE_MS * 2);
  assert.deepEqual([seenCount, coveredCount, neverCovered], [1, 1, []]);
});

test('a need that ended young is not judged, an old one that was never covered is', () => {
  const short = { ...need, satisfied: false };
  const lived = (ms: number): readonly string[] =>
    coverageOf([
      [0, [], [short]],
      [ms, [], [short]],
      [ms + 1, [], []],
    ]).report(ms + 1).neverCovered;
  assert.deepEqual(lived(PATIENCE_MS), []);
  assert.deepEqual(lived(PATIENCE_MS + 1), ['web-eu priority 100']);
});

test('unmet counts from the moment it became so, and a met moment starts over', () => {
  const short = { ...need, satisfied: false };
  const met: Moment = [5_000, [configured], [need]];
  const continued = coverageOf([
    [0, [], [short]],
    [5_000, [], [short]],
  ]);
  assert.equal(continued.report(PATIENCE_MS).unmetTooLong.length, 0);
  assert.equal(continued.report(PATIENCE_MS + 1).unmetTooLong.length, 1);
  const interrupted = coverageOf([[0, [], [short]], met, [6_000, [], [short]]]);
  assert.equal(interrupted.report(PATIENCE_MS + 1).unmetTooLong.length, 0);
});

test('what nobody sells is counted and not judged', () => {
  const impossible = { ...need, types: ['b300-highgpu-8g'], satisfied: false };
  const coverage = coverageOf([
    [0, [], [impossible]],
    [PATIENCE_MS * 3, [], [impossible]],
  ]);
  const report = coverage.report(PATIENCE_MS * 3);
  assert.equal(report.unsatisfiableCount, 1);
  assert.deepEqual([report.neverCovered, report.unmetTooLong], [[], []]);
});

test('what a need says about types is judged with its operator, and all of it', () => {
  const [sold, unsold] = ['m6i.large', 'b300-highgpu-8g'];
  const cases: readonly [string, NonNullable<NeedSketch['typeRules']>, boolean][] = [
    ['nothing', [], true],
    ['In, one of them sold', [[Operator.In, [unsold, sold]]], true],
    ['In, none sold', [[Operator.In, [unsold]]], false],
    ['Exists', [[Operator.Exists, []]], true],
    ['DoesNotExist', [[Operator.DoesNotExist, []]], false],
    ['NotIn, another is sold', [[Operator.NotIn, [sold]]], true],
    ['NotIn, all that is sold', [[Operator.NotIn, [sold, 'm6i.xlarge']]], false],
    ['Same, any', [[Operator.Same, []]], true],
    ['Same, none sold', [[Operator.Same, [unsold]]], false],
    [
      'two that exclude each other',
      [
        [Operator.In, [sold]],
        [Operator.NotIn, [sold]],
      ],
      false,
    ],
  ];
  for (const [name, typeRules, isJudged] of cases) {
    const short = { ...need, typeRules, satisfied: false };
    const { unsatisfiableCount } = coverageOf([[0, [], [short]]]).report(0);
    assert.equal(unsatisfiableCount, isJudged ? 0 : 1, name);
  }
});

test('a delta that takes a need away takes it out of the judgement', () => {
  const coverage = new Coverage(['m6i.large']);
  const picture = new FleetPicture();
  const short = { ...need, satisfied: false };
  for (const part of snapshot([], [short])) picture.apply(part);
  coverage.observe(picture, 0);
  picture.apply(delta({ cycle: 2, removedNeeds: [short] }));
  coverage.observe(picture, PATIENCE_MS * 2);
  assert.deepEqual(coverage.report(PATIENCE_MS * 2).unmetTooLong, []);
});
