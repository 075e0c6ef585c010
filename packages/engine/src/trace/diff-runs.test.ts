// Proves that two builds over one trace are compared exactly: equal builds are identical, a
// wrong tie-break is found at the first cycle where it decides otherwise, and actions, dollars,
// preemptions and shortfalls are counted as defined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind } from '../model/action.ts';
import { CapacityType } from '../model/capacity-type.ts';
import { cores, fleet, machine, need } from '../testing/build.ts';
import { describeDiff, diffRuns } from './diff-runs.ts';
import { createEngineLike } from './engine-like.ts';
import { RecordedEngine } from './recorded-engine.ts';
import { ReplayEngine } from './replay-engine.ts';
import { neverReleases, reversedTies, throwsInCycle } from './testing/mutants.ts';
import { Chunks, randomRun } from './testing/random-run.ts';
import { TraceReader } from './trace-reader.ts';

test('a build compared with itself is identical', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const { trace } = randomRun(`self-${seed}`);
    const report = diffRuns(trace, createEngineLike, createEngineLike);
    assert.equal(report.outcome, 'identical', `seed ${seed}`);
    assert.deepEqual(report.a, report.b);
    assert.deepEqual(report.recordedMismatches, { a: 0, b: 0 });
    assert.equal(report.cycleCount, 12);
    assert.deepEqual(report.end, { kind: 'closed' });
  }
});

test('a wrong tie-break is found at the first cycle at which the lists differ', () => {
  let found = 0;
  let late = 0;
  for (let seed = 1; seed <= 100; seed++) {
    const { trace } = randomRun(`mutant-${seed}`);
    const report = diffRuns(trace, createEngineLike, reversedTies);
    const expected = firstDifferingCycle(trace);
    assert.equal(report.firstDifference?.cycle, expected, `seed ${seed}`);
    assert.equal(report.outcome, expected === undefined ? 'identical' : 'different');
    assert.equal(report.recordedMismatches.a, 0, `seed ${seed}`);
    assert.equal(report.recordedMismatches.b, report.differingCount, `seed ${seed}`);
    if (expected !== undefined) found += 1;
    if ((expected ?? 1) > 1) late += 1;
  }
  assert.ok(found > 60, `the mutant decided otherwise in ${found} of 100 runs`);
  assert.ok(late > 5, `later than the first cycle in ${late} runs`);
});

/** Without hashes and without the code under test: list by list. */
function firstDifferingCycle(trace: Uint8Array): number | undefined {
  const right = new ReplayEngine(createEngineLike, 'recorded');
  const wrong = new ReplayEngine(reversedTies, 'recorded');
  let cycle = 0;
  for (const entry of new TraceReader(trace)) {
    assert.equal(right.apply(entry), undefined);
    assert.equal(wrong.apply(entry), undefined);
    if (entry.kind !== 'cycle') continue;
    cycle += 1;
    const [a, b] = [right, wrong].map(({ engine }) => JSON.stringify(engine.actions()));
    if (a !== b) return cycle;
  }
  return undefined;
}

test('actions, dollars, preemptions and shortfalls are counted per side', () => {
  const chunks = new Chunks();
  const low = need({ cluster: 'low', wants: cores(1), priority: 1 });
  const input = fleet({
    machines: [
      machine({ id: 'busy', state: 'Configured', serves: low, price: 3 }),
      machine({ id: 'idle', price: 0.25 }),
      machine({ id: 'spare', state: 'Speculative', price: 2, has: cores(8) }),
      machine({ id: 'old', price: 4, has: cores(1), type: 'other' }),
    ],
    idleSinceMs: new Map([['old', 0]]),
    needs: [low],
  });
  const engine = new RecordedEngine(input, chunks.sink);
  // Releases `old` alone: its hold is over.
  engine.cycle({ nowMs: input.nowMs });
  engine.inventory.remove('old');
  // Nine cores: the idle machine and the spare one; two more: preempts `busy`, one is missing.
  engine.applyRollup('high', [need({ cluster: 'high', wants: cores(11), priority: 9 })]);
  engine.cycle({ nowMs: input.nowMs });
  engine.close();
  const report = diffRuns(chunks.join(), createEngineLike, neverReleases);
  const { a, b } = report;
  assert.deepEqual(a.byKind, { 1: 1, 2: 1, 3: 0, 4: 1, 5: 1 });
  assert.deepEqual(b.byKind, { 1: 1, 2: 1, 3: 0, 4: 1, 5: 0 });
  assert.equal(a.actionCount, 4);
  assert.deepEqual([a.preemptionCount, b.preemptionCount], [1, 1]);
  // Bound: + 0.25 + 2 − 3. Bought: + 2, and − 4 where `old` is given back.
  assert.deepEqual([a.boundMicrosPerHour, b.boundMicrosPerHour], [-750_000, -750_000]);
  assert.deepEqual([a.boughtMicrosPerHour, b.boughtMicrosPerHour], [-2_000_000, 2_000_000]);
  assert.deepEqual([a.shortfallCycles, a.peakShortfallCount, a.escalatedCycles], [1, 1, 0]);
  assert.equal(report.firstDifference?.cycle, 1);
  assert.equal(report.differingCount, 1);
  assert.deepEqual(report.onlyAByKind, { 1: 0, 2: 0, 3: 0, 4: 0, 5: 1 });
  assert.deepEqual(report.onlyBByKind, { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 });
  const text = describeDiff(report);
  for (const line of [
    /^diff: different; 1 of 2 cycles differ$/m,
    /^Delete: 1 → 0; only a 1, only b 0$/m,
    /^preemptions: 1 → 1$/m,
    /^bought \$\/h: -2 → 2$/m,
    /^shortfalls \(peak\): 1 → 1$/m,
    /^cycles unlike the recorded run: 0 → 1$/m,
    /^first difference: cycle 1 at /m,
    /^ {2}only a: Delete "old"$/m,
  ]) {
    assert.match(text, line);
  }
});

test('shortfalls count as escalated when they are older than five cycles', () => {
  const chunks = new Chunks();
  const input = fleet({ needs: [need({ wants: cores(1) })] });
  const engine = new RecordedEngine(input, chunks.sink);
  for (let cycle = 1; cycle <= 7; cycle++) engine.cycle({ nowMs: input.nowMs });
  engine.close();
  const { a } = diffRuns(chunks.join(), createEngineLike, createEngineLike);
  assert.deepEqual([a.shortfallCycles, a.escalatedCycles], [7, 2]);
});

test('the same actions in another order are a difference', () => {
  const chunks = new Chunks();
  const spot = { capacityType: CapacityType.Spot };
  const input = fleet({
    machines: [machine({ id: 'm1', ...spot }), machine({ id: 'm2', ...spot })],
    idleSinceMs: new Map([
      ['m1', 0],
      ['m2', 0],
    ]),
  });
  const engine = new RecordedEngine(input, chunks.sink);
  engine.cycle({ nowMs: input.nowMs });
  engine.close();
  const report = diffRuns(chunks.join(), createEngineLike, reversedTies);
  const difference = report.firstDifference?.difference;
  assert.equal(report.outcome, 'different');
  assert.equal(report.a.byKind[ActionKind.Delete], 2);
  assert.deepEqual(
    [difference?.onlyACount, difference?.onlyBCount, difference?.firstIndex],
    [0, 0, 0],
  );
  assert.match(describeDiff(report), /same actions, other order from 0 on/);
});

test('a build that breaks is named with its side', () => {
  const { trace } = randomRun('broken');
  const report = diffRuns(trace, createEngineLike, throwsInCycle(3));
  assert.equal(report.outcome, 'failed');
  assert.equal(report.failure?.side, 'b');
  assert.equal(report.cycleCount, 2);
  assert.match(describeDiff(report), /engine_threw in b at cycle/);
});
