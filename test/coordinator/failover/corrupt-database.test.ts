// Proves that a coordinator process refuses a damaged database file with the reason and the way out,
// and leaves the file as it found it: starting over on top of it would lose the fleet's state.

import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../../toolkit/index.ts';
import { planLone } from './lone-coordinator.ts';
import { registerValues } from './register-load.ts';

const PAGE = 4_096;

const DAMAGE: readonly (readonly [string, (whole: Buffer) => Buffer])[] = [
  [
    'its first page is something else',
    (whole) => Buffer.concat([Buffer.alloc(PAGE, 'x'), whole.subarray(PAGE)]),
  ],
  [
    'its pages after the first are noise',
    (whole) => Buffer.concat([whole.subarray(0, PAGE), Buffer.alloc(whole.length - PAGE, 0xa5)]),
  ],
  ['it is cut in half', (whole) => whole.subarray(0, Math.floor(whole.length / 2))],
];

test('a damaged database is refused by name and not touched', async (t) => {
  await using opened = new AsyncDisposableStack();
  const folder = opened.use(createTempDir('corrupt'));
  const lone = await planLone({ folder: folder.path }, opened);
  await lone.start();
  await lone.waitReady();
  await registerValues(lone);
  assert.deepEqual(await lone.process.stop(), { kind: 'code', code: 0 });
  const file = path.join(lone.dataDir, 'coordinator.db');
  const whole = readFileSync(file);
  assert.ok(whole.length > 2 * PAGE);
  for (const [name, damage] of DAMAGE) {
    await t.test(name, async () => {
      const damaged = damage(whole);
      writeFileSync(file, damaged);
      for (const beside of ['-wal', '-shm']) rmSync(`${file}${beside}`, { force: true });
      await lone.start();
      assert.deepEqual(await lone.waitExit(), { kind: 'code', code: 1 });
      const output = lone.outputText();
      assert.match(output, /bigfleet coordinator: coordinator_store_corrupt: .*coordinator\.db/);
      assert.match(output, /bigfleetctl snapshot restore/);
      assert.ok(readFileSync(file).equals(damaged), 'the file is as it was');
    });
  }
  await t.test('and the whole one is taken again', async () => {
    writeFileSync(file, whole);
    await lone.start();
    await lone.waitReady();
    assert.ok((await lone.coordinator.listShards({})).shards.length > 0);
  });
});
