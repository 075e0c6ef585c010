// Proves what-if on the traces of a real shard: the loop gives the recorded fleet back and answers changes in
// every form of output, deciding again changes exactly the releases, and whatever a user may get wrong is
// refused in words.

import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import type { WhatIfAnswer } from '@bigfleet/engine';
import { RealShards } from '../ctl/testing/real-shard.ts';
import { type Ran, runCommand } from '../testing/run-bigfleet.ts';

const bigfleet = (...argv: string[]): Promise<Ran> =>
  runCommand(argv, { nodeVersion: process.versions.node, runtime: realRuntime() });

const root = mkdtempSync(path.join(tmpdir(), 'what-if-'));
const folder = path.join(root, 'records');
let trace = '';
before(async () => {
  const world = new RealShards();
  await world.startShard('shard-0', 3);
  await world.connect('blue', 'shard-0', 8, 1_000);
  await world.time.runFor(1_000_000);
  await world.stop();
  await mkdir(folder);
  await world.writeRecords('shard-0', folder);
  trace = readdirSync(folder).find((name) => name.endsWith('.trace')) ?? '';
});
after(() => rmSync(root, { recursive: true }));

async function answerTo(...sets: readonly string[]): Promise<WhatIfAnswer> {
  const flags = sets.map((set) => `--set=${set}`);
  const { code, output, error } = await bigfleet('what-if', folder, ...flags, '-o', 'json');
  assert.deepEqual([code, error], [0, '']);
  return JSON.parse(output) as WhatIfAnswer;
}

test('the baseline is what the shard recorded, and a change is priced against it', async () => {
  const { fidelity, baseline, changed } = await answerTo('price:m6i.large=×1.5');
  assert.equal(fidelity.boundDistance, 0);
  assert.equal(fidelity.dollarsPerHourDistance, 0);
  assert.ok(baseline.money.dollars > 0);
  const dearer = Math.round(baseline.money.dollars * 1.5 * 1e4);
  assert.equal(Math.round(changed.money.dollars * 1e4), dearer);
  assert.equal(changed.churn.actionsByKind['Bootstrap'], 2);
});

test('with twice the demand the third machine is taken, and the rest breaks', async () => {
  const { changed, breaks } = await answerTo('demand=×2');
  assert.equal(changed.churn.actionsByKind['Bootstrap'], 3);
  assert.deepEqual(
    breaks.map(({ tier, cluster, reasonCode }) => [tier, cluster, reasonCode]),
    [['service', 'blue', 'priority_starved']],
  );
  const flags = ['--set=demand=×2', '--break-after=1h'];
  const patient = await bigfleet('what-if', folder, ...flags);
  assert.match(patient.output, /\nbreaks: no tier above batch is unmet for 1h /);
});

test('words, YAML, and one file alone', async () => {
  const words = await bigfleet('what-if', path.join(folder, trace), '--set=lose-zone=zone-a@5m');
  assert.deepEqual([words.code, words.error], [0, '']);
  assert.match(words.output, /^what if: lose-zone=zone-a@5m \(seed 1\)\nrecorded: /);
  assert.match(words.output, /\nmachines taken away +0 +3 +\+3\n/);
  assert.match(words.output, /\nbreaks: service at \+10m/);
  const yaml = await bigfleet('what-if', folder, '--set=demand=×2', '-o', 'yaml', '--seed=7');
  assert.match(yaml.output, /^---\nchanges:\n {2}- demand=×2\nseed: "7"\n/);
  const records = await bigfleet('records', folder, '-o', 'yaml', '--limit=1');
  assert.match(records.output, /^---\nepoch: "4"\ncycle: "1"\n/);
});

test('deciding again: other hold times release other machines, and nothing else', async () => {
  const decide = (...flags: string[]): Promise<Ran> =>
    bigfleet('what-if', folder, '--mode=decide', ...flags);
  const same = await decide('--set=price:other=1');
  assert.equal(same.code, 0, same.error);
  assert.match(same.output, /diff: identical; 0 of \d+ cycles differ/);
  const held = await decide('--set=on-demand-hold=30s', '-o', 'json');
  assert.equal(held.code, 0, held.error);
  const [{ report }] = JSON.parse(held.output) as [
    { report: { outcome: string; onlyBByKind: Record<string, number> } },
  ];
  assert.equal(report.outcome, 'different');
  assert.ok((report.onlyBByKind['5'] ?? 0) > 0, 'more deletes');
  assert.deepEqual(
    ['1', '2', '3', '4'].map((kind) => report.onlyBByKind[kind]),
    [0, 0, 0, 0],
  );
  const wrong = await decide('--set=clusters=+8');
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /--set=clusters=\+8 needs --mode=loop/);
});

test('a trace that was cut is counted up to the cut, and replays up to it', async () => {
  const cut = path.join(root, 'cut');
  await mkdir(cut);
  copyFileSync(path.join(folder, trace), path.join(cut, trace));
  truncateSync(path.join(cut, trace), 900);
  const { code, output } = await bigfleet('what-if', cut, '--set=demand=×2');
  assert.equal(code, 0);
  const [, count = ''] = /torn in the frame at byte \d+; its (\d+) cycles count/.exec(output) ?? [];
  assert.ok(Number(count) > 3, output);
  const replayed = await bigfleet('replay', cut);
  assert.equal(replayed.code, 0);
  assert.match(replayed.output, new RegExp(`replay: identical; ${count} cycles`));
});

test('a directory without traces, or with renamed ones, is explained by every verb', async () => {
  const empty = path.join(root, 'empty');
  const renamed = path.join(root, 'renamed');
  await mkdir(empty);
  await mkdir(renamed);
  copyFileSync(path.join(folder, trace), path.join(renamed, 'mine.trace'));
  for (const verb of [
    ['what-if', '--set=demand=×2'],
    ['what-if', '--set=spot-hold=0', '--mode=decide'],
    ['replay'],
    ['diff', '--against=/nowhere'],
  ]) {
    const [name = '', ...flags] = verb;
    const nothing = await bigfleet(name, empty, ...flags);
    assert.equal(nothing.code, 1);
    assert.match(nothing.error, /empty has no trace: a shard writes traces beside its records/);
    const other = await bigfleet(name, renamed, ...flags);
    assert.equal(other.code, 1);
    assert.match(
      other.error,
      /mine\.trace is not named as a shard names its traces; give that file/,
    );
  }
  const alone = await bigfleet('replay', path.join(renamed, 'mine.trace'));
  assert.deepEqual([alone.code, alone.error], [0, '']);
});

test('a file of which no cycle can be read is no answer, of any verb', async () => {
  const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
  for (const [name, bytes, why] of [
    ['junk', 'this is no trace at all', /not a trace/],
    ['torn', '', /torn in the frame at byte 0/],
  ] as const) {
    const dir = path.join(root, name);
    await mkdir(dir);
    writeFileSync(path.join(dir, trace), bytes);
    for (const [verb, ...flags] of [
      ['what-if', '--set=demand=×2'],
      ['what-if', '--set=spot-hold=0', '--mode=decide'],
      ['diff', `--against=${checkout}`],
      ['replay'],
    ] as const) {
      const { code, output, error } = await bigfleet(verb, dir, ...flags);
      assert.equal(code, 1, verb);
      assert.match(`${output}${error}`, why);
      if (verb !== 'replay') assert.deepEqual([output, /no_cycle/.test(error)], ['', true]);
    }
  }
});

test('what cannot be asked is refused: no change, a wrong one, one about nothing, no directory', async () => {
  const none = await bigfleet('what-if', '/nowhere');
  assert.equal(none.code, 2);
  assert.match(none.error, /give --set at least once/);
  const wrong = await bigfleet('what-if', folder, '--set=reserved=20%');
  assert.equal(wrong.code, 2);
  assert.match(wrong.error, /--set=reserved=20%: .*write a share such as -20%/);
  const unknown = await bigfleet('what-if', folder, '--set=lose-zone=zone-z');
  assert.deepEqual(unknown, {
    code: 1,
    output: '',
    error:
      'bigfleet what-if: unknown_subject: lose-zone=zone-z: the recording has no machine in zone "zone-z"\n',
  });
  const nowhere = await bigfleet('what-if', '/nowhere', '--set=demand=×2');
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.error, /there is no directory \/nowhere/);
});
