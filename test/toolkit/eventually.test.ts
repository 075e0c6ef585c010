// Proves that polling ends with the first real result, at the deadline, or when hope is gone, and
// that a poll which never settles cannot hang the test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { HANG_MS, sleep, withDeadline } from './real-time.ts';

test('returns the first result that is neither undefined nor false', async () => {
  const answers = [undefined, false, 0, 1];
  const result = await eventually(() => answers.shift(), {
    what: 'x',
    everyMs: 1,
  });
  assert.equal(result, 0);
  assert.equal(answers.length, 1);
});

test('survives failing polls and reports the last one at the deadline', async () => {
  let calls = 0;
  const poll = (): never => {
    calls += 1;
    throw new Error(`refused ${calls}`);
  };
  const options = { what: 'server', withinMs: 1_000, everyMs: 5, details: () => 'its log' };
  await assert.rejects(eventually(poll, options), (error: Error) => {
    assert.match(error.message, /^server: not within 1000 ms; last: refused \d+\nits log$/);
    return error.cause instanceof Error;
  });
  assert.ok(calls > 2);
});

test('gives up at once when there is no hope', async () => {
  const options = { what: 'server', hopeless: () => 'it ended' };
  await assert.rejects(
    eventually(() => undefined, options),
    /server: it ended/,
  );
});

test('a poll that never settles fails at the deadline and sees its signal abort', async () => {
  let seen: AbortSignal | undefined;
  const poll = (signal: AbortSignal): Promise<true> => {
    seen = signal;
    return new Promise(() => {});
  };
  await assert.rejects(
    eventually(poll, { what: 'stuck', withinMs: 50 }),
    /stuck: not within 50 ms/,
  );
  assert.equal(seen?.aborted, true);
});

test('the deadline does not hide why earlier polls failed', async () => {
  let calls = 0;
  const poll = (): Promise<true> => {
    calls += 1;
    if (calls === 1) throw new Error('down: refused');
    return new Promise(() => {});
  };
  const options = { what: 'target', withinMs: 60, everyMs: 1 };
  await assert.rejects(eventually(poll, options), /not within 60 ms; last: down: refused$/);
});

test('withDeadline passes results and errors through, and names what was late', async () => {
  assert.equal(await withDeadline('fine', HANG_MS, async () => 5), 5);
  await assert.rejects(
    withDeadline('bad', HANG_MS, () => Promise.reject(new Error('own'))),
    /own/,
  );
  await assert.rejects(
    withDeadline('late', 20, () => new Promise(() => {})),
    /late: nothing within 20 ms/,
  );
});

test('sleep ends early with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleeping = sleep(60_000, controller.signal);
  controller.abort(new Error('enough'));
  await assert.rejects(sleeping, /enough/);
  await assert.rejects(sleep(1, controller.signal), /enough/);
});
