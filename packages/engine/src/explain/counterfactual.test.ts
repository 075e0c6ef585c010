// Proves that counterfactuals find the change that helps, say what it costs and whom it harms,
// read as the golden texts say, and stay within their budget of runs.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { counterfactuals } from '@bigfleet/base';
import { cores, fleet, machine, machines, need } from '../testing/build.ts';
import {
  type Counterfactual,
  type CounterfactualAnswer,
  counterfactual,
} from './counterfactual.ts';
import {
  type CounterfactualScenario,
  counterfactualScenarios,
} from './testing/counterfactual-scenarios.ts';
import { refTo } from './testing/decide.ts';

const GOLDEN = new URL('./testdata/counterfactuals.txt', import.meta.url);

for (const { name, input, about, answer: expected } of counterfactualScenarios) {
  test(`counterfactual: ${name}`, () => {
    const answer = counterfactual(input, refTo(about));
    const told =
      answer.kind === 'changes' ? answer.changes.map(({ reasonCode }) => reasonCode) : answer.kind;
    assert.deepEqual(told, expected);
  });
}

test('every kind of change has its scenario', () => {
  const codes = new Set(counterfactualScenarios.flatMap(({ answer }) => answer));
  for (const code of Object.keys(counterfactuals)) assert.ok(codes.has(code), code);
});

/** BIGFLEET_UPDATE_GOLDEN=1 writes the file anew; the difference is then for the reviewer. */
test('the texts are the golden ones', () => {
  const told = counterfactualScenarios.map(textsOf).join('\n');
  if (process.env['BIGFLEET_UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, told);
  assert.equal(told, readFileSync(GOLDEN, 'utf8'));
});

function textsOf({ name, input, about }: CounterfactualScenario): string {
  const answer = counterfactual(input, refTo(about));
  const lines =
    answer.kind === 'changes'
      ? answer.changes.map(({ reasonCode, text }) => `${reasonCode}: ${text}`)
      : [`${answer.kind}: ${answer.text}`];
  return `# ${name}\n${lines.join('\n')}\n`;
}

const late = need({ cluster: 'z', wants: cores(1), unit: cores(1), priority: 5 });
const others = [7, 9, 11].map((priority) =>
  need({ cluster: `c${priority}`, wants: cores(1), unit: cores(1), priority }),
);

test('the smallest priority that works, and who pays for it', () => {
  const input = fleet({ needs: [late, ...others], machines: machines(2, 'm', {}) });
  const [change] = changesOf(counterfactual(input, refTo(late)));
  // Two machines go to 11 and 9; at 9 the other cluster's name comes first, so 10 it is.
  assert.deepEqual(change?.change, { code: 'raise_priority', priority: 10 });
  assert.deepEqual(
    change?.broken.map(({ cluster }) => cluster),
    ['c9'],
  );
  assert.equal(change?.dollarsPerHour, 1);
});

test('the quota counts what higher needs draw first, and no more', () => {
  const two = need({ cluster: 'a', wants: cores(2), unit: cores(1), priority: 5 });
  const input = fleet({
    needs: [two, ...others, need({ cluster: 'y', wants: cores(9) })],
    machines: machines(9, 'new', { state: 'Speculative', provider: 'p1', price: 2 }),
    quota: { p1: 2 },
  });
  const found = changesOf(counterfactual(input, refTo(two)));
  const quota = found.find(({ reasonCode }) => reasonCode === 'raise_quota');
  assert.deepEqual(quota?.change, { code: 'raise_quota', provider: 'p1', remaining: 5 });
  assert.equal(quota?.dollarsPerHour, 4);
  assert.deepEqual(quota?.broken, []);
});

test('cheaper changes come first', () => {
  const zoned = need({
    wants: cores(1),
    requirements: [{ key: 'arch', operator: 1, values: ['arm'] }],
  });
  const input = fleet({
    needs: [zoned],
    machines: [
      machine({ id: 'd1', state: 'Draining', labels: { arch: 'arm' }, price: 9, cluster: 'b' }),
      machine({ id: 'm1', labels: { arch: 'x86' }, price: 2 }),
    ],
  });
  const found = changesOf(counterfactual(input, refTo(zoned)));
  assert.deepEqual(
    found.map(({ reasonCode, dollarsPerHour }) => [reasonCode, dollarsPerHour]),
    [
      ['relax_requirement', 2],
      ['wait_for_drain', 9],
    ],
  );
});

test('a budget of runs is kept, and its end is told', () => {
  const input = fleet({ needs: [late, ...others], machines: machines(2, 'm', {}) });
  for (const maxRuns of [1, 2, 3, 4, 64]) {
    const answer = counterfactual(input, refTo(late), { maxRuns });
    assert.ok(answer.kind === 'changes' || answer.kind === 'nothing_helps');
    assert.ok(answer.runCount <= maxRuns, `${answer.runCount} runs of ${maxRuns}`);
    assert.equal(answer.truncated, maxRuns < 64, `budget ${maxRuns}`);
  }
});

function changesOf(answer: CounterfactualAnswer): readonly Counterfactual[] {
  if (answer.kind !== 'changes') assert.fail(answer.kind);
  return answer.changes;
}
