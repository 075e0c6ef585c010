// Proves that the checks pass a correct provider — the kit's, instant and staged, with and without
// Delete, through faults, a kill and a scale run — and that an empty one certifies nothing.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Check } from '../harness/check.ts';
import { probeCapabilities } from '../harness/probe.ts';
import { KitSubject, type KitSubjectOptions } from '../harness/testing/kit-subject.ts';
import {
  createTime,
  createWorld,
  type JudgeOptions,
  type Outcome,
  type World,
} from '../harness/testing/world.ts';
import { allChecks, crossRestart } from './index.ts';

const isOf = (pattern: RegExp) => (check: Check) => pattern.test(check.id);
const isBlackBox = isOf(/^B([1-5]|[89]|12)\d\d$/);
const isFault = isOf(/^B7\d\d$/);
const isDurable = isOf(/^B10\d\d$/);
const isScale = isOf(/^B11\d\d$/);

async function worldOf(t: TestContext, options: KitSubjectOptions = {}): Promise<World> {
  const time = createTime();
  const world = await createWorld(new KitSubject(time, options), time);
  t.after(() => world.close());
  return world;
}

async function judgeAll(
  world: World,
  checks: readonly Check[],
  options?: JudgeOptions,
): Promise<ReadonlyMap<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const check of checks) outcomes.set(check.id, await world.judge(check, options));
  return outcomes;
}

/** Everything passed but the named skips. */
function assertPassed(
  outcomes: ReadonlyMap<string, Outcome>,
  skipped: readonly string[] = [],
): void {
  const others = [...outcomes].filter(([, { kind }]) => kind !== 'passed');
  assert.deepEqual(
    others.filter(([id]) => !skipped.includes(id)),
    [],
  );
  assert.deepEqual(others.map(([id]) => id).sort(), [...skipped].sort());
}

test('there is one check per behaviour: 69 black-box, 8 fault, 7 durable, 9 scale', () => {
  assert.equal(allChecks.length, 93);
  assert.equal(new Set(allChecks.map(({ id }) => id)).size, 93);
  const counts = [isBlackBox, isFault, isDurable, isScale].map((is) => allChecks.filter(is).length);
  assert.deepEqual(counts, [69, 8, 7, 9]);
});

for (const [name, options, tokens] of [
  ['instant', { workMs: 0 }, 'lenient'],
  ['staged', { workMs: 30 }, 'lenient'],
  ['strict tokens', { layers: { settings: { strictTokens: true } } }, 'strict'],
] as const) {
  test(`${name}: all 69 black-box behaviours pass on one pool of 256 slots`, async (t) => {
    const world = await worldOf(t, options);
    const capabilities = await world.run(() => probeCapabilities(world.context('probe')));
    assert.deepEqual(capabilities, { delete: true, sinceRevision: true });
    const outcomes = await judgeAll(world, allChecks.filter(isBlackBox), { capabilities });
    assertPassed(outcomes);
    assert.deepEqual(outcomes.get('B210'), { kind: 'passed', notes: ['strict'] });
    assert.deepEqual(outcomes.get('B211'), { kind: 'passed', notes: [tokens] });
    assert.deepEqual(outcomes.get('B907'), {
      kind: 'passed',
      notes: ['truncated page cursor is safe to thread'],
    });
  });
}

test('without Delete: the three that need it are absent, the rest passes on 256 slots', async (t) => {
  const world = await worldOf(t, { hasDelete: false });
  const capabilities = await world.run(() => probeCapabilities(world.context('probe')));
  assert.deepEqual(capabilities, { delete: false, sinceRevision: true });
  const outcomes = await judgeAll(world, allChecks.filter(isBlackBox), { capabilities });
  assertPassed(outcomes, ['B109', 'B409', 'B807']);
  for (const outcome of outcomes.values()) {
    if (outcome.kind === 'skipped') assert.equal(outcome.skip, 'capability-absent');
  }
});

test('an empty provider passes nothing that it was not asked', async (t) => {
  const world = await worldOf(t, { seedCount: 0 });
  const outcomes = await judgeAll(world, allChecks.filter(isBlackBox));
  const passed = [...outcomes].filter(([, { kind }]) => kind === 'passed').map(([id]) => id);
  // What these judge needs no machine: unknown ids, empty lists, cursors.
  assert.deepEqual(passed, [
    'B207',
    'B208',
    'B215',
    'B301',
    'B902',
    'B904',
    'B906',
    'B908',
    'B909',
  ]);
  for (const [id, outcome] of outcomes) {
    if (outcome.kind === 'passed') continue;
    assert.equal(outcome.kind === 'skipped' && outcome.skip, 'precondition-unmet', id);
  }
});

test('fault lane: failing, hanging and late work, failing slots passed over', async (t) => {
  const world = await worldOf(t, { seedCount: 64, createFaultCount: 8, timeoutMs: 2_000 });
  assertPassed(await judgeAll(world, allChecks.filter(isFault), { faultTimeoutMs: 2_000 }));
});

test('fault lane without failing slots: B702 cannot be judged', async (t) => {
  const world = await worldOf(t, { seedCount: 8 });
  const outcomes = await judgeAll(world, allChecks.filter(isOf(/^B702$/)));
  const outcome = outcomes.get('B702');
  assert.equal(outcome?.kind === 'skipped' && outcome.skip, 'precondition-unmet');
});

test('durable lane: one kill of the target, one of the fault provider', async (t) => {
  const target = await worldOf(t, { seedCount: 64 });
  const fault = await worldOf(t, { seedCount: 64, createFaultCount: 8, timeoutMs: 30_000 });
  const before = target.context('durable');
  const durable = await target.run(() => crossRestart(before, () => target.killAndReboot()));
  const withoutFault = await judgeAll(
    target,
    allChecks.filter(isDurable).filter(({ id }) => id !== 'B1006'),
    { durable },
  );
  assertPassed(withoutFault);
  const endpoint = fault.connect();
  const process = { endpoint, killAndReboot: () => fault.killAndReboot() };
  const interrupted = allChecks.filter(({ id }) => id === 'B1006');
  assertPassed(await judgeAll(fault, interrupted, { durable, process }));
  const alone = await judgeAll(target, allChecks.filter(isDurable));
  for (const [id, outcome] of alone) {
    assert.equal(outcome.kind === 'skipped' && outcome.skip, 'precondition-unmet', id);
  }
});

test('scale lane on a small fleet', async (t) => {
  for (const hasDelete of [true, false]) {
    const world = await worldOf(t, { seedCount: 700, hasDelete });
    const outcomes = await judgeAll(world, allChecks.filter(isScale), {
      capabilities: { delete: hasDelete, sinceRevision: true },
      scale: { seedCount: 700, soakMs: 1_000 },
    });
    assertPassed(outcomes);
  }
});

test('without cursors: absent below 10,000 machines, a finding above', async (t) => {
  const world = await worldOf(t, { seedCount: 8 });
  const cursors = allChecks.filter(isOf(/^B110[23]$/));
  const capabilities = { delete: true, sinceRevision: false };
  for (const [seedCount, kind] of [
    [10_000, 'skipped'],
    [10_001, 'failed'],
  ] as const) {
    const scale = { seedCount, soakMs: 100 };
    for (const outcome of (await judgeAll(world, cursors, { capabilities, scale })).values()) {
      assert.equal(outcome.kind, kind);
    }
  }
});
