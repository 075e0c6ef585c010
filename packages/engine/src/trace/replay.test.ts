// Proves that a recorded run replays to the same decisions, incrementally, fully and as it was
// recorded, from its start and from the middle, and that a replay which does not is reported
// with the cycle and the actions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cores, fleet, machine, machines, need } from '../testing/build.ts';
import type { CycleInput } from '../model/cycle.ts';
import { ActionKind } from '../model/action.ts';
import { RecordedEngine, type RecordedEngineOptions } from './recorded-engine.ts';
import { describeReplay, replay } from './replay.ts';
import type { ReplayMode } from './replay-engine.ts';
import {
  neverReleases,
  refuses,
  reversedTies,
  throwsInCycle,
  watching,
} from './testing/mutants.ts';
import { Chunks, randomRun } from './testing/random-run.ts';

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 300);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);
const MODES = ['recorded', 'incremental', 'full'] as const;

test(`${RUNS} recorded runs of random fleets replay to the same hashes in every mode`, () => {
  let actionCount = 0;
  let distinct = 0;
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    const run = randomRun(`replay-${seed}`, { engine: { fullPassDirtyShare: 1 } });
    actionCount += run.actionCount;
    distinct += new Set(run.hashes).size;
    for (const mode of MODES) {
      const report = replay(run.trace, { mode });
      const where = `seed ${seed}, ${mode}:\n${describeReplay(report)}`;
      assert.equal(report.outcome, 'identical', where);
      assert.deepEqual(report.hashes, run.hashes, where);
      assert.equal(report.verifiedCount, run.hashes.length, where);
      assert.deepEqual(report.end, { kind: 'closed' }, where);
    }
  }
  // Runs that decide nothing would prove nothing.
  assert.ok(actionCount > RUNS * 20, `only ${actionCount} actions`);
  assert.ok(distinct > RUNS * 6, `only ${distinct} distinct hashes`);
});

test('a trace that begins in the middle of a run replays the rest of it', () => {
  for (let seed = 1; seed <= 60; seed++) {
    const rotateAfter = 1 + (seed % 9);
    const run = randomRun(`rotate-${seed}`, { rotateAfter, dictionaryEntries: 50 });
    const first = replay(run.trace);
    const second = replay(run.secondTrace);
    const where = `seed ${seed}\n${describeReplay(second)}`;
    assert.deepEqual(first.hashes, run.hashes.slice(0, rotateAfter), where);
    assert.deepEqual(first.end, { kind: 'closed' }, where);
    assert.deepEqual(second.hashes, run.hashes.slice(rotateAfter), where);
    assert.equal(second.outcome, 'identical', where);
  }
});

test('another decision is reported with its cycle, both lists and their difference', () => {
  const report = replay(threeCycles(), { build: reversedTies });
  assert.equal(report.outcome, 'different');
  const first = report.firstDifference;
  assert.ok(first?.difference);
  assert.equal(first.cycle, 2);
  assert.equal(first.nowMs, 1_000_000_002);
  assert.equal(first.recordedCount, 1);
  assert.deepEqual(
    first.difference.onlyA.map(({ machineId }) => machineId),
    ['idle1'],
  );
  assert.deepEqual(
    first.difference.onlyB.map(({ machineId }) => machineId),
    ['idle2'],
  );
  assert.match(describeReplay(report), /only recorded: Bootstrap "idle1", cluster "a"/);
  assert.match(describeReplay(report), /only replayed: Bootstrap "idle2", cluster "a"/);
});

test('with only hashes in the trace a difference still names the cycle', () => {
  const report = replay(threeCycles({ recordedActions: 0 }), { build: reversedTies });
  assert.equal(report.firstDifference?.cycle, 2);
  assert.equal(report.firstDifference?.difference, undefined);
  assert.match(describeReplay(report), /only the hash/);
});

test('the cycle in which an engine throws is where its replay ends', () => {
  const report = replay(threeCycles(), { build: throwsInCycle(2) });
  assert.equal(report.outcome, 'failed');
  assert.equal(report.cycleCount, 1);
  assert.equal(report.end, undefined);
  assert.equal(report.failure?.kind, 'engine_threw');
  assert.match(describeReplay(report), /engine_threw at cycle, .*a bug in cycle/);
});

test('an input that an engine refuses ends its replay', () => {
  const report = replay(threeCycles(), { build: refuses('idle2') });
  assert.equal(report.outcome, 'failed');
  assert.equal(report.failure?.kind, 'engine_refused');
  assert.equal(report.failure?.entry, 'put');
  assert.equal(report.cycleCount, 0);
});

test('a run that died inside a cycle replays to that cycle, unverified', () => {
  const whole = randomRun('unclosed', { unclosed: true });
  const report = replay(whole.trace);
  assert.equal(report.outcome, 'identical');
  assert.deepEqual(report.end, { kind: 'open' });
  // Without the last flush the decision of the last cycle is missing, its inputs are not.
  const chunks = new Chunks();
  const engine = new RecordedEngine(threeCycleFleet(), chunks.sink);
  engine.cycle({ nowMs: 1 });
  const dead = replay(chunks.join());
  assert.equal(dead.cycleCount, 1);
  assert.equal(dead.verifiedCount, 0);
  assert.equal(dead.outcome, 'identical');
});

test('each mode runs the passes that it promises', () => {
  const trace = randomRun('passes', { cycleCount: 20 }).trace;
  const passesOf = (mode: ReplayMode): readonly (boolean | undefined)[] => {
    const passes: (boolean | undefined)[] = [];
    const build = watching(({ isFullPass }) => passes.push(isFullPass));
    assert.equal(replay(trace, { mode, build }).outcome, 'identical');
    return passes;
  };
  assert.deepEqual(new Set(passesOf('full')), new Set([true]));
  assert.deepEqual(new Set(passesOf('incremental')), new Set([false]));
  assert.deepEqual(new Set(passesOf('recorded')), new Set([undefined, true]));
});

test('a difference in one kind of action is found among equal ones', () => {
  const chunks = new Chunks();
  const input = fleet({ machines: machines(3, 'm', {}), nowMs: 10_000_000 });
  const engine = new RecordedEngine(input, chunks.sink);
  engine.cycle({ nowMs: 10_000_000 });
  engine.cycle({ nowMs: 11_000_000 });
  engine.close();
  const report = replay(chunks.join(), { build: neverReleases });
  assert.equal(report.firstDifference?.cycle, 2);
  assert.equal(report.firstDifference?.difference?.onlyAByKind[ActionKind.Delete], 3);
});

/** Nothing to decide, then a tie between two idle machines, then nothing again. */
function threeCycles(options: RecordedEngineOptions = {}): Uint8Array {
  const chunks = new Chunks();
  const input = threeCycleFleet();
  const engine = new RecordedEngine(input, chunks.sink, options);
  engine.cycle({ nowMs: input.nowMs + 1 });
  engine.applyRollup('a', [need({ wants: cores(1) })]);
  engine.cycle({ nowMs: input.nowMs + 2 });
  engine.applyRollup('a', []);
  engine.cycle({ nowMs: input.nowMs + 3 });
  engine.close();
  assert.equal(replay(chunks.join()).outcome, 'identical');
  return chunks.join();
}

function threeCycleFleet(): CycleInput {
  return fleet({ machines: [machine({ id: 'idle2' }), machine({ id: 'idle1' })] });
}
