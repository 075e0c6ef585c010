// Proves what-if on the traces of a real run: with the recorded facts nothing differs, with another
// hold time exactly the releases do; and that its settings are read strictly.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { RealShards } from '../ctl/testing/real-shard.ts';
import { type Ran, runCommand } from '../testing/run-bigfleet.ts';
import { assumptions } from './assumption.ts';

const bigfleet = (...argv: string[]): Promise<Ran> => runCommand(argv);

test('other hold times release other machines, and nothing else', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'what-if-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const world = new RealShards();
  await world.startShard('shard-0', 3);
  await world.connect('blue', 'shard-0', 8, 1_000);
  await world.time.runFor(120_000);
  await world.stop();
  await world.writeRecords('shard-0', folder);

  const same = await bigfleet('what-if', folder, '--set=price:other=1');
  assert.equal(same.code, 0, same.error);
  assert.match(same.output, /diff: identical; 0 of \d+ cycles differ/);
  const held = await bigfleet('what-if', folder, '--set=on-demand-hold=30s', '-o', 'json');
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
  const records = await bigfleet('records', folder, '-o', 'yaml', '--limit=1');
  assert.match(records.output, /^---\nepoch: "4"\ncycle: "1"\n/);
});

for (const text of [
  'x=1',
  'price=1',
  'price:a=-1',
  'interruption:a=2',
  'spot-hold:a=1s',
  'spot-hold=x',
]) {
  test(`--set=${text} is refused`, () => {
    assert.equal(assumptions.parse(text).ok, false);
  });
}

test('without --set there is nothing to compare', async () => {
  const { code, error } = await bigfleet('what-if', '/nowhere');
  assert.equal(code, 2);
  assert.match(error, /give --set at least once/);
});
