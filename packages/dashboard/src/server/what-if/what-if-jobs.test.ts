// Proves the order of what-if runs: one at a time, a short queue, one run for equal questions, an end for
// runs that nobody asks about, and words for everything that cannot be run.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type JobAnswer, type RunHandlers, type RunTask, WhatIfJobs } from './what-if-jobs.ts';

interface Started extends RunHandlers {
  readonly task: RunTask;
  isStopped: boolean;
}

class Stage {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'jobs', drain: drainMicrotasks });
  readonly started: Started[] = [];
  readonly jobs: WhatIfJobs;

  constructor(directories: ReadonlyMap<string, string> = new Map([['shard-0', '/records']])) {
    this.jobs = new WhatIfJobs({
      runtime: this.time.runtime,
      directories,
      start: (task, handlers) => {
        const run: Started = { task, ...handlers, isStopped: false };
        this.started.push(run);
        return { stop: () => void (run.isStopped = true) };
      },
    });
  }

  async ask(set = '', shard = '', seed = 1): Promise<JobAnswer> {
    const answer = await this.jobs.ask({ set, shard, seed });
    assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
    return answer.value;
  }

  async refusal(set: string, shard = ''): Promise<[string, string]> {
    const answer = await this.jobs.ask({ set, shard, seed: 1 });
    assert.ok(!answer.ok);
    return [answer.error.code, answer.error.message];
  }
}

test('equal questions are one run, and its progress moves the version', async () => {
  const stage = new Stage();
  const first = await stage.ask('demand=×2\n\n spot-hold=0 ');
  assert.deepEqual([first.status, first.progress], ['running', 0]);
  await stage.ask('demand=×2\nspot-hold=0');
  assert.equal(stage.started.length, 1);
  assert.deepEqual(stage.started[0]?.task.changes, ['demand=×2', 'spot-hold=0']);
  const { version } = stage.jobs;
  stage.started[0]?.onMessage({ kind: 'progress', progress: 0.5 });
  assert.ok(stage.jobs.version > version);
  assert.equal((await stage.ask('demand=×2\nspot-hold=0')).progress, 0.5);
  await stage.ask('demand=×2\nspot-hold=0', '', 2);
  assert.equal(stage.started.length, 1, 'another seed is another run, and waits');
});

test('one runs, four wait, the next is told to come again', async () => {
  const stage = new Stage();
  for (let at = 0; at < 5; at++) await stage.ask(`demand=×${at + 2}`);
  assert.equal(stage.started.length, 1);
  assert.deepEqual((await stage.refusal('demand=×9'))[0], 'what_if_busy');
  stage.started[0]?.onMessage({ kind: 'refused', code: 'no_cycle', text: 'nothing to read' });
  assert.equal(stage.started.length, 2);
  const failed = await stage.ask('demand=×2');
  assert.deepEqual([failed.status, failed.problem], ['failed', 'no_cycle: nothing to read']);
  await stage.ask('demand=×9');
});

test('a thread that ends without an answer fails its run, and the next one starts', async () => {
  const stage = new Stage();
  await stage.ask('demand=×2');
  await stage.ask('demand=×3');
  stage.started[0]?.onEnd('out of memory');
  assert.deepEqual((await stage.ask('demand=×2')).problem, 'out of memory');
  assert.equal(stage.started.length, 2);
});

test('a run that nobody asks about is ended, one that is asked about is not', async () => {
  const stage = new Stage();
  await stage.ask('demand=×2');
  for (let minute = 0; minute < 5; minute++) {
    const { version } = stage.jobs;
    await stage.time.runFor(50_000);
    assert.ok(stage.jobs.version > version, 'whoever watches is made to ask again');
    await stage.ask('demand=×2');
  }
  assert.equal(stage.started[0]?.isStopped, false);
  await stage.time.runFor(120_000);
  assert.equal(stage.started[0]?.isStopped, true);
  await stage.ask('demand=×2');
  assert.equal(stage.started.length, 2, 'it begins anew when somebody asks again');
});

test('an answer is kept for a while and then run again', async () => {
  const stage = new Stage();
  await stage.ask('demand=×2');
  stage.started[0]?.onEnd('broken');
  await stage.time.runFor(300_000);
  assert.equal((await stage.ask('demand=×2')).status, 'failed');
  await stage.time.runFor(900_000);
  assert.equal((await stage.ask('demand=×2')).status, 'running');
  assert.equal(stage.time.pendingTimers, 1);
  stage.jobs.stop();
  assert.equal(stage.time.pendingTimers, 0);
});

test('what cannot be run is refused in words', async () => {
  const two = new Stage(
    new Map([
      ['a', '/a'],
      ['b', '/b'],
    ]),
  );
  assert.deepEqual(await two.refusal('demand=×2'), [
    'parameter_invalid',
    'shard "": records are kept of a, b',
  ]);
  const one = new Stage();
  assert.equal((await one.refusal('demand=×2', 'shard-9'))[0], 'parameter_invalid');
  const [code, message] = await one.refusal('demand=×2\nmagic=yes');
  assert.equal(code, 'parameter_invalid');
  assert.match(message, /set "magic=yes": /);
  assert.match((await one.refusal('demand=×2\n'.repeat(40)))[1], /40 changes are more than 32/);
  const [absent, why] = await new Stage(new Map()).refusal('');
  assert.equal(absent, 'source_absent');
  assert.match(why, /--records-dir/);
  assert.equal(one.started.length + two.started.length, 0);
});
