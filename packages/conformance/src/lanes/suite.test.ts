// Proves what becomes of a lane: results from whatever its checks do, an endpoint that is not
// there, hangs, talks nonsense or dies half way, a check that never ends, and a run that is
// interrupted. None of them may look clean.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type Check, type CheckContext, CheckFailed, SkipCheck } from '../harness/check.ts';
import type { LaneReport, SuiteRun, TestResult } from '../run/result.ts';
import { garbagePeer, silentPeer } from '../testing/bad-peers.ts';
import { type ServedTiny, serveTiny } from '../testing/serve-tiny.ts';
import { judge } from '../verdict/judge.ts';
import { run, started, tinyCommand } from './testing/suite-options.ts';

async function tiny(t: TestContext, seedCount: number = 32): Promise<ServedTiny> {
  const served = await serveTiny({ runtime: realRuntime(), seedCount });
  t.after(() => served.server.stop());
  return served;
}

function check(id: string, body: (context: CheckContext) => Promise<void>): Check {
  return { id, run: body };
}

function lane(suite: SuiteRun, name: string): LaneReport {
  const found = suite.lanes.find((report) => report.lane === name);
  assert.ok(found !== undefined);
  return found;
}

function resultsOf(suite: SuiteRun, name: string = 'extension'): readonly TestResult[] {
  const report = lane(suite, name);
  assert.equal(report.kind, 'ran');
  return report.results;
}

test('a check passes, fails, skips or breaks, each with its own result', async (t) => {
  const { target } = await tiny(t);
  const suite = await run({
    target: { target },
    checks: [
      check('B101', async ({ note }) => note('all well')),
      check('B103', () => Promise.reject(new CheckFailed('\nexpected IDLE, is FAILED\nand more'))),
      check('B104', () => Promise.reject(new SkipCheck('precondition-unmet', 'seed more'))),
      check('B105', () => Promise.reject(new TypeError('x is undefined'))),
    ],
  });
  const [passed, failed, skipped, broken] = resultsOf(suite);
  assert.equal(passed?.name, 'TestB101_Lifecycle');
  assert.equal(passed.behaviourId, 'B101');
  assert.deepEqual(passed.notes, ['all well']);
  assert.deepEqual(passed.outcome, { kind: 'passed' });
  assert.deepEqual(failed?.outcome, {
    kind: 'failed',
    finding: 'expected IDLE, is FAILED',
    detail: '\nexpected IDLE, is FAILED\nand more',
  });
  assert.deepEqual(skipped?.outcome, {
    kind: 'skipped',
    skip: 'precondition-unmet',
    reason: 'seed more',
  });
  assert.equal(broken?.outcome.kind, 'failed');
  assert.match(broken.outcome.detail, /^TypeError: x is undefined\n +at /);
});

test('a check of an unknown behaviour stops the run', async (t) => {
  const { target } = await tiny(t);
  const suite = run({ target: { target }, checks: [check('B102', async () => {})] });
  await assert.rejects(suite, /no behaviour of this id/);
});

test('each check has its own connection and its own stream of the seed', async (t) => {
  const { target, server } = await tiny(t);
  const drawn: number[] = [];
  const draw = async ({ random, endpoint, secondConnection }: CheckContext): Promise<void> => {
    drawn.push(random.uint32());
    const other = await secondConnection();
    assert.ok((await endpoint.list({ maxResults: 1 })).ok);
    assert.ok((await other.list({ maxResults: 1 })).ok);
    assert.ok(server.connectionCount >= 2);
  };
  const checks = [check('B101', draw), check('B103', draw)];
  const first = await run({ target: { target }, checks });
  await run({ target: { target }, checks: [...checks].reverse() });
  await run({ target: { target }, checks, seed: '8' });
  assert.ok(resultsOf(first).every(({ outcome }) => outcome.kind === 'passed'));
  const [a, b, bAgain, aAgain, aOther] = drawn;
  assert.equal(a, aAgain);
  assert.equal(b, bAgain);
  assert.notEqual(a, b);
  assert.notEqual(a, aOther);
});

test('capabilities are probed on the endpoint', async (t) => {
  for (const hasDelete of [true, false]) {
    const served = await serveTiny({ runtime: realRuntime(), seedCount: 4, hasDelete });
    t.after(() => served.server.stop());
    let seen: boolean | undefined;
    const checks = [
      check('B109', async ({ capabilities }) => {
        seen = capabilities.delete;
        assert.equal(capabilities.sinceRevision, true);
      }),
    ];
    const suite = await run({ target: { target: served.target }, checks });
    assert.deepEqual(resultsOf(suite)[0]?.outcome, { kind: 'passed' });
    assert.equal(seen, hasDelete);
  }
});

test('a check that never ends is a finding', async (t) => {
  const { target } = await tiny(t);
  const hang = check('B101', () => new Promise(() => {}));
  const scale = { seedCount: 1, soakMs: 0 };
  const suite = await run({ target: { target }, checks: [hang], checkBoundMs: 300, scale });
  const [result] = resultsOf(suite);
  assert.equal(result?.outcome.kind, 'failed');
  assert.match(result.outcome.finding, /deadline passed/);
});

test('nothing listens, silence and nonsense: no lane is judged', async (t) => {
  const silent = await silentPeer();
  const garbage = await garbagePeer();
  t.after(silent.close);
  t.after(garbage.close);
  const { target: freed } = await silentPeer().then((peer) => {
    peer.close();
    return peer;
  });
  for (const target of [freed, silent.target, garbage.target]) {
    const suite = await run({
      target: { target },
      checks: [check('B101', async () => {})],
      skipBaseline: false,
      timeScale: 0.05,
    });
    for (const name of ['baseline', 'extension']) {
      const report = lane(suite, name);
      assert.equal(report.kind, 'broken');
      assert.match(report.problem, new RegExp(`^${target} does not answer \\(`));
    }
    const judgement = judge(suite);
    assert.equal(judgement.verdict, 'INCOMPLETE');
    assert.match(judgement.behaviours[0]?.missing ?? '', /does not answer/);
  }
});

test('an endpoint that dies ends the lane, and what was not judged is missing', async () => {
  const checks = ['B101', 'B103', 'B104', 'B105', 'B106', 'B107', 'B108'].map((id) =>
    check(id, async ({ endpoint }) => {
      const answer = await endpoint.list();
      if (!answer.ok) throw new CheckFailed(`List: ${answer.code}`);
    }),
  );
  // Reachability and probe need some calls of their own.
  const command = tinyCommand('--die-after=9');
  const suite = await run({ subject: started(command), checks, profiles: ['core'] });
  const report = lane(suite, 'extension');
  assert.equal(report.kind, 'ran');
  assert.match(report.problem ?? '', /^ended after TestB10\d_Lifecycle: .* does not answer/);
  assert.equal(report.results.at(-1)?.outcome.kind, 'failed');
  const unjudged = judge(suite).behaviours.find(({ behaviour }) => behaviour.id === 'B108');
  assert.match(unjudged?.missing ?? '', /does not answer/);
});

test('a lane without a single check is a gap', async (t) => {
  const { target } = await tiny(t);
  const judgement = judge(await run({ target: { target } }));
  assert.equal(judgement.verdict, 'INCOMPLETE');
  assert.deepEqual(judgement.gaps, ['extension: produced no results']);
});

test('claimed lanes that cannot run say what they need', async (t) => {
  const { target } = await tiny(t, 32);
  const suite = await run({
    target: { target },
    profiles: ['core', 'fault', 'durable', 'scale'],
    checks: ['B101', 'B701', 'B1001', 'B1101'].map((id) => check(id, async () => {})),
  });
  const problemOf = (name: string): string => {
    const report = lane(suite, name);
    assert.equal(report.kind, 'broken');
    return report.problem;
  };
  assert.match(problemOf('fault'), /^needs --fault-target/);
  assert.match(problemOf('durable'), /^needs --start-cmd/);
  assert.match(problemOf('scale'), /holds 32 machines, the scale lane needs 40/);
  assert.deepEqual(judge(suite).verdict, 'INCOMPLETE');
});

test('--only leaves the other lanes alone', async (t) => {
  const { target } = await tiny(t);
  const suite = await run({
    target: { target },
    profiles: ['core', 'scale'],
    skipBaseline: false,
    checks: ['B101', 'B103', 'B1101'].map((id) => check(id, async () => {})),
    only: new Set(['B103']),
  });
  assert.deepEqual(
    resultsOf(suite).map(({ behaviourId }) => behaviourId),
    ['B103'],
  );
  assert.equal(lane(suite, 'baseline').kind, 'not-asked');
  assert.deepEqual(lane(suite, 'scale'), {
    kind: 'not-asked',
    lane: 'scale',
    missing: 'not selected by --only',
  });
});

test('the fault lane judges the endpoint that is named', async (t) => {
  const subject = await tiny(t);
  const hooked = await tiny(t);
  let judged = '';
  const checks = [
    check('B701', async ({ endpoint, faultTimeoutMs }) => {
      judged = endpoint.target;
      assert.equal(faultTimeoutMs, 2_000);
    }),
  ];
  const suite = await run({
    target: { target: subject.target },
    faultTarget: { target: hooked.target },
    profiles: ['core', 'fault'],
    checks,
  });
  assert.equal(judged, hooked.target);
  const report = lane(suite, 'fault');
  assert.ok(report.kind === 'ran' && report.judged === hooked.target);
});

test('the scale lane runs on a target that is large enough', async (t) => {
  const { target } = await tiny(t, 40);
  const suite = await run({
    target: { target },
    profiles: ['scale'],
    checks: [
      check('B1101', async ({ scale }) => {
        assert.deepEqual(scale, { seedCount: 40, soakMs: 200 });
      }),
    ],
  });
  assert.deepEqual(resultsOf(suite, 'scale')[0]?.outcome, { kind: 'passed' });
});

test('an interrupted run rejects with the reason', async (t) => {
  const { target } = await tiny(t);
  const controller = new AbortController();
  const stop = check('B101', async ({ signal }) => {
    controller.abort(new BigFleetError('cancelled', 'interrupted by SIGINT'));
    signal.throwIfAborted();
  });
  const never = check('B103', async () => assert.fail('a check ran after the interruption'));
  const suite = run({ target: { target }, checks: [stop, never] }, controller.signal);
  await assert.rejects(suite, /interrupted by SIGINT/);
});
