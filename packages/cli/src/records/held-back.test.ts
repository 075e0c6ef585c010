// Proves what `bigfleet records` and `bigfleet explain` say about a reclaim that rail 1 held back,
// from the directory of a real run, and that frames of a later build are told and passed over.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { RealShards } from '../ctl/testing/real-shard.ts';
import { type Ran, runCommand } from '../testing/run-bigfleet.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'held-back-'));
after(() => rmSync(folder, { recursive: true }));

/** Four machines, of which one is wanted any more; one goes in each cycle. */
before(async () => {
  const world = new RealShards();
  world.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
  await world.startShard('shard-0', 4);
  await world.connect('blue', 'shard-0', 16, 1_000);
  await world.time.runFor(20_000);
  await world.run(['rails', '--shard=shard-0', '--reclaim-cap-fraction=0.05', '--reason=slowly']);
  await world.connect('blue', 'shard-0', 4, 1_000);
  await world.time.runFor(1_000);
  await world.stop();
  await world.writeRecords('shard-0', folder);
});

const bigfleet = (...argv: string[]): Promise<Ran> => runCommand(argv);

interface Line {
  readonly cycle: string;
  readonly heldBack?: object;
}

async function firstHeldBack(): Promise<Line> {
  const { output } = await bigfleet('records', folder, '-o', 'json');
  const lines = output.trim().split('\n');
  const held = lines.map((line) => JSON.parse(line) as Line).find(({ heldBack }) => heldBack);
  return held ?? assert.fail('nothing was held back');
}

test('a line per cycle says how many were held back, by code', async () => {
  const { cycle, heldBack } = await firstHeldBack();
  const actions = { deferred_reclaim_cap: 2 };
  assert.deepEqual(heldBack, { actions, rollups: [], unnamedRollupCount: 0, problem: '' });
  const { output } = await bigfleet('records', folder, `--from-cycle=${cycle}`, '--limit=1');
  assert.match(output, / Reclaim=3 unmet=0 deferred_reclaim_cap=2\n$/);
});

interface Answer {
  readonly dispositions: readonly object[];
}

test('an explanation says why nothing happened, in words and in JSON', async () => {
  const { cycle } = await firstHeldBack();
  const about = (id: string): string[] => [
    'explain',
    folder,
    `--machine=${id}`,
    `--cycle=${cycle}`,
  ];
  const words =
    'This was decided, but held back (deferred_reclaim_cap): at most 1 reclaim of cluster blue per ' +
    'cycle (5 % of its machines); it is decided again in the next cycle.';
  const text = await bigfleet(...about('shard-0-m1'));
  assert.equal(text.output.split('\n')[2], words);
  const json = await bigfleet(...about('shard-0-m1'), '-o', 'json');
  const { dispositions } = JSON.parse(json.output) as Answer;
  assert.deepEqual(dispositions, [{ code: 'deferred_reclaim_cap', count: 1, text: words }]);
  const gone = await bigfleet(...about('shard-0-m3'), '-o', 'json');
  assert.deepEqual((JSON.parse(gone.output) as Answer).dispositions, []);
});

test('the directory replays, also behind a frame of a later build, which is told', async () => {
  assert.equal((await bigfleet('replay', folder)).code, 0);
  const [segment = ''] = readdirSync(folder).filter((name) => name.endsWith('.records'));
  const frame = Buffer.alloc(44);
  frame.writeUInt32LE(99, 8);
  frame.writeUInt32LE(crc32(frame.subarray(8)), 4);
  const before = await bigfleet('records', folder);
  appendFileSync(path.join(folder, segment), frame);
  const { output, error } = await bigfleet('records', folder);
  assert.equal(output, before.output);
  assert.match(
    error,
    /1 frames are of a kind that this build does not know; they were passed over/,
  );
  const replayed = await bigfleet('replay', folder);
  assert.equal(replayed.code, 0);
  assert.match(replayed.output, /1 frames of a kind that this build does not know/);
});
