// Proves on which stores the scale lane judges a process that it boots: in memory, and on a line of
// its own with state where durability is claimed too; with state alone where there is no other way.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Profile } from '../catalogue/behaviour.ts';
import { type Check, CheckFailed } from '../harness/check.ts';
import { renderConsole } from '../report/console.ts';
import type { SuiteRun } from '../run/result.ts';
import { judge } from '../verdict/judge.ts';
import { run, started, tinyCommand } from './testing/suite-options.ts';

const lists: Check = {
  id: 'B1101',
  run: async ({ endpoint, note }) => {
    const answer = await endpoint.list();
    note(`${answer.ok ? answer.value.machines.length : 0} machines`);
  },
};

function judgeScale(
  command: string,
  profiles: readonly Profile[],
  check: Check = lists,
): Promise<SuiteRun> {
  const only = new Set([check.id]);
  return run({ subject: started(command), profiles, checks: [check], only });
}

function scaleLines(suite: SuiteRun): readonly string[] {
  return renderConsole(suite, judge(suite)).filter((line) => /^(scale:|B1101)/.test(line));
}

const passed = '1 tests, 1 passed, 0 failed, 0 skipped on start-cmd booted with 40 slots';
const keeping = tinyCommand('--state={state}');

test('a command with {state} is judged in memory when it claims no durability', async () => {
  const [behaviour, ...lanes] = scaleLines(await judgeScale(keeping, ['scale']));
  assert.match(behaviour ?? '', /^B1101 +passed .* \[40 machines\]$/);
  assert.deepEqual(lanes, [`scale:     ${passed}, in memory`]);
});

test('with durability it is judged in memory, and with state on a line of its own', async () => {
  const suite = await judgeScale(keeping, ['durable', 'scale']);
  const [behaviour, ...lanes] = scaleLines(suite);
  assert.match(behaviour ?? '', /\[40 machines\] \[with state: 40 machines\]$/);
  assert.deepEqual(lanes, [`scale:     ${passed}, in memory`, `scale:     ${passed}, with state`]);
});

test('a failure with state counts, and says where it was', async () => {
  let times = 0;
  const second: Check = {
    id: 'B1101',
    run: async () => {
      times += 1;
      if (times === 2) throw new CheckFailed('List took too long');
    },
  };
  const suite = await judgeScale(keeping, ['durable', 'scale'], second);
  const [behaviour] = scaleLines(suite);
  assert.match(behaviour ?? '', /^B1101 +failed .*: with state: List took too long$/);
  const names = suite.lanes.flatMap((lane) => (lane.kind === 'ran' ? lane.results : []));
  assert.deepEqual(
    names.map(({ name }) => name),
    ['TestB1101_Scale', 'TestB1101_Scale_WithState'],
  );
});

test('an empty {state} is an empty word, however the command spells it', async () => {
  const spellings = [
    '--state={state}',
    '--state {state}',
    '--state "{state}"',
    "'--state={state}'",
  ];
  for (const spelling of spellings) {
    const [, ...lanes] = scaleLines(await judgeScale(tinyCommand(spelling), ['scale']));
    assert.deepEqual(lanes, [`scale:     ${passed}, in memory`], spelling);
  }
});

test('what does not start without a state is judged with one, and that is said', async () => {
  const needy = `test -n "{state}" || { echo no state; exit 3; }; exec ${keeping}`;
  const [behaviour, ...lanes] = scaleLines(await judgeScale(needy, ['scale']));
  assert.match(behaviour ?? '', /^B1101 +passed .* \[with state: 40 machines\]$/);
  assert.match(lanes[0] ?? '', /^scale: +not run \(in memory: start-cmd exited with code 3.*\)$/);
  assert.deepEqual(lanes.slice(1), [`scale:     ${passed}, with state`]);
});

test('what does not start at all breaks the lane', async () => {
  const suite = await judgeScale('echo broken; exit 3 # {addr} {state}', ['scale']);
  assert.match(scaleLines(suite).at(-1) ?? '', /^scale: +produced nothing \(.*exited with code 3/);
  assert.equal(judge(suite).verdict, 'INCOMPLETE');
});
