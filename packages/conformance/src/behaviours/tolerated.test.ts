// Proves that what the catalogue tolerates passes, and that the report says so: lenient arguments,
// head-style cursors, acks without a snapshot, refusals of large input, missing optional fields.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { KitSubject } from '../harness/testing/kit-subject.ts';
import type { Tampering } from '../harness/testing/tamper.ts';
import { createTime, createWorld, type Outcome } from '../harness/testing/world.ts';
import { allChecks } from './index.ts';
import { onAnswers, onRecords, refused } from '../harness/testing/tamperings.ts';

async function judge(
  t: TestContext,
  ids: readonly string[],
  tampering: Tampering,
): Promise<readonly Outcome[]> {
  const time = createTime();
  const world = await createWorld(new KitSubject(time, { seedCount: 600 }), time);
  t.after(() => world.close());
  const outcomes: Outcome[] = [];
  for (const check of allChecks.filter(({ id }) => ids.includes(id))) {
    outcomes.push(await world.judge(check, { tampering }));
  }
  return outcomes;
}

test('a negative grace that is accepted is lenient', async (t) => {
  const positive = (value: bigint): bigint => (value < 0n ? -value : value);
  const outcomes = await judge(t, ['B210'], (real) => ({
    drain: (call) => real.drain({ ...call, graceSeconds: positive(call.graceSeconds) }),
  }));
  assert.deepEqual(outcomes, [{ kind: 'passed', notes: ['lenient'] }]);
});

test('the head revision on a cut page is certified, and reported as unsafe to thread', async (t) => {
  const outcomes = await judge(t, ['B907', 'B1103'], (real) => ({
    list: async (query = {}) => {
      const answer = await real.list(query);
      const head = await real.list();
      if (!answer.ok || !head.ok || !query.maxResults) return answer;
      return { ok: true, value: { ...answer.value, revision: head.value.revision } };
    },
  }));
  assert.deepEqual(outcomes, [
    {
      kind: 'passed',
      notes: ['truncated page cursor is NOT safe to thread: it is the head revision'],
    },
    { kind: 'passed', notes: ['head-style page cursors'] },
  ]);
});

test('large input may be refused as an argument, a large blob also as too large', async (t) => {
  const outcomes = await judge(t, ['B209', 'B213', 'B503'], (real) => ({
    configure: async (call) => {
      if ((call.metadata?.size ?? 0) > 100) return refused('INVALID_ARGUMENT');
      return (call.blob?.length ?? 0) > 1024 ? refused('RESOURCE_EXHAUSTED') : real.configure(call);
    },
  }));
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['passed', 'passed', 'passed'],
  );
});

test('a burst may be acknowledged without snapshots', async (t) => {
  const bare = onAnswers((answer) =>
    answer.ok ? { ok: true, value: { ...answer.value, machine: undefined } } : answer,
  );
  const outcomes = await judge(t, ['B103', 'B402', 'B408'], bare);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['passed', 'passed', 'passed'],
  );
});

test('without allocatable there is no density to compute', async (t) => {
  const plain = onRecords((machine) => ({ ...machine, allocatable: undefined }));
  const [outcome] = await judge(t, ['B804'], plain);
  assert.equal(outcome?.kind === 'skipped' && outcome.skip, 'capability-absent');
});
