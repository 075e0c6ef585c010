// Proves that the suites can fail: every seeded fault of the engine is caught by a test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { describeJudgement, isCaught, Judge, type Judgement } from './judge.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './table.ts';
import { Workspace } from './workspace.ts';

const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);
/** Ids of the mutants to run, separated by commas: for work on the table. */
const ONLY = process.env['BIGFLEET_MUTANTS']?.split(',');

const DAY_NANOS = 86_400_000_000_000n;

const { clock } = realRuntime();

test(`each of ${mutations.length} mutants of the engine is caught`, async (context) => {
  const startMs = clock.monotonicMs();
  using workspace = new Workspace();
  const judge = new Judge(workspace, clock);
  const { outcome, tookMs } = await judge.baseline();
  assert.equal(outcome.kind, 'passed', `the suite fails without a mutant: ${show(outcome)}`);
  context.diagnostic(`without a mutant: ${show(outcome)} in ${(tookMs / 1000).toFixed(1)} s`);
  const chosen = inTodaysOrder();
  const judged: Judgement[] = [];
  for (const mutation of chosen) {
    if (judged.length > 0 && clock.monotonicMs() - startMs > TIME_BOX_MS) break;
    const judgement = await judge.judge(mutation);
    judged.push(judgement);
    context.diagnostic(describeJudgement(judgement));
  }
  assert.ok(judged.length > 0, 'no mutant has such an id');
  const caught = judged.filter(isCaught);
  const hung = caught.filter((each) => each.outcome.kind === 'timeout');
  const missed = judged.filter((judgement) => !isCaught(judgement)).map(describeJudgement);
  context.diagnostic(
    `${caught.length} of ${judged.length} mutants caught, ${hung.length} of them by timeout`,
  );
  context.diagnostic(
    `${judged.length} of ${chosen.length} mutants tried, from ${judged[0]?.mutation.id}`,
  );
  assert.deepEqual(missed, []);
});

function inTodaysOrder(): readonly Mutation[] {
  if (ONLY !== undefined) return mutations.filter(({ id }) => ONLY.includes(id));
  // A small time box covers some of them: each day starts at another place, however many they are.
  const day = Number(clock.unixNanos() / DAY_NANOS);
  const start = (Math.imul(day, 0x9e37_79b1) >>> 0) % mutations.length;
  return [...mutations.slice(start), ...mutations.slice(0, start)];
}

function show(value: object): string {
  return JSON.stringify(value);
}
