// Proves that commands reach a process and its refusals come back as they were said, that a second terminal
// finds the demo that runs and no other, and what a trial may be told.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createTempDir } from '../../../test/toolkit/index.ts';
import { PROVIDERS } from '../places.ts';
import { RUN_PREFIX } from '../work-dir.ts';
import { callCommand, type Commands, numberField, serveCommands, textField } from './commands.ts';
import { DemoCommands } from './demo-commands.ts';
import { announce, chooseDemo, type RunningDemo, runningDemos } from './running-demo.ts';

async function served(t: TestContext, commands: Commands): Promise<string> {
  const dir = createTempDir('control');
  const socket = path.join(dir.path, 'socket');
  const server = await serveCommands(socket, commands);
  t.after(async () => {
    server.close();
    await dir.remove();
  });
  return socket;
}

function refusal(pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof BigFleetError && pattern.test(error.message);
}

test('a command answers, refuses with its own words, and is known by name', async (t) => {
  const socket = await served(t, {
    double: async (fields) => ({ twice: 2 * numberField(fields, 'n', { min: 0, max: 10 }) }),
    choose: async (fields) => ({ chosen: textField(fields, 'what', ['a', 'b']) }),
    break: () => Promise.reject(new TypeError('a bug')),
  });
  assert.deepEqual(await callCommand(socket, 'double', { n: 4 }), { twice: 8 });
  const refused: readonly (readonly [string, Record<string, unknown>, RegExp])[] = [
    ['double', { n: 11 }, /^n 11: a number from 0 to 10$/],
    ['double', { n: '4' }, /^n "4": a number/],
    ['choose', { what: 'c' }, /^what "c": one of a, b$/],
    ['toString', {}, /POST \/toString: there is no such command/],
    ['break', {}, /a bug/],
  ];
  for (const [name, fields, pattern] of refused) {
    await assert.rejects(callCommand(socket, name, fields), refusal(pattern), name);
  }
  await assert.rejects(callCommand(`${socket}-gone`, 'double'), refusal(/^nobody answers at/));
});

function demoOf(dir: string, pid: number): RunningDemo {
  const dashboardUrl = 'http://127.0.0.1:8760';
  return { pid, dir, dashboardUrl, shards: ['shard-0'], clusters: ['web-eu'], zones: {} };
}

test('only demos whose process lives are found, and only those that announced themselves', async (t) => {
  const dir = createTempDir('demos');
  t.after(() => dir.remove());
  const folder = (name: string): string => {
    const made = path.join(dir.path, `${RUN_PREFIX}${name}`);
    mkdirSync(made);
    return made;
  };
  const { pid: goneId } = spawnSync(process.execPath, ['-e', '']);
  const living = folder('living');
  const announced = announce(demoOf(living, process.pid));
  announce(demoOf(folder('gone'), goneId));
  folder('starting');
  writeFileSync(path.join(folder('half'), 'demo.json'), '{"pid":');
  writeFileSync(path.join(folder('moved'), 'demo.json'), JSON.stringify(demoOf('/x', process.pid)));
  assert.deepEqual(
    runningDemos(dir.path).map((demo) => demo.dir),
    [living],
  );
  announced[Symbol.dispose]();
  assert.deepEqual(runningDemos(dir.path), []);
});

test('no demo, one, several, and one that is named', () => {
  const [first, second] = [demoOf('/tmp/a', 1), demoOf('/tmp/b', 2)];
  assert.equal(chooseDemo([first], undefined), first);
  assert.equal(chooseDemo([first, second], '/tmp/b'), second);
  assert.throws(
    () => chooseDemo([], undefined),
    refusal(/^no demo runs: start one with `make up`/),
  );
  assert.throws(
    () => chooseDemo([first, second], ''),
    refusal(
      /^several demos run: say which one\n {2}DEMO=\/tmp\/a .*\n {2}DEMO=\/tmp\/b {2}# process 2/,
    ),
  );
  assert.throws(() => chooseDemo([first], '/tmp/c'), refusal(/DEMO=\/tmp\/c: no demo runs there/));
});

test('a lost zone reaches both providers, is told, and its end too', async (t) => {
  const time = createVirtualRuntime({ seed: 'control', drain: drainMicrotasks });
  const heard: string[] = [];
  const sockets = new Map<string, string>();
  for (const name of PROVIDERS) {
    const lose = async ({ zone }: Record<string, unknown>): Promise<object> => {
      heard.push(`${name} ${String(zone)}`);
      return { lostCount: 3 };
    };
    sockets.set(name, await served(t, { 'lose-zone': lose }));
  }
  const told: string[] = [];
  const subject = new DemoCommands({
    runtime: time.runtime,
    shards: [],
    socketOf: (name) => sockets.get(name) ?? '',
    tell: (line) => {
      told.push(line);
    },
    signal: new AbortController().signal,
  });
  const command = subject.commands['lose-zone'];
  assert.deepEqual(await command?.({ zone: 'zone-a', forMs: 30_000 }), { lostCount: 6 });
  assert.deepEqual(heard.sort(), ['sim-metal zone-a', 'sim-north zone-a']);
  assert.deepEqual(subject.tried, ['zone']);
  assert.match(told[0] ?? '', /^zone-a lost its power: 6 machines are gone/);
  await time.runFor(29_000);
  assert.equal(told.length, 1);
  await time.runFor(2_000);
  assert.deepEqual(told.slice(1), ['zone-a is back']);
  await assert.rejects(
    async () => command?.({ zone: 'zone-x', forMs: 1_000 }),
    refusal(/one of zone-a/),
  );
  assert.deepEqual(subject.tried, ['zone']);
});
