// Proves diff on the traces of a real run with real processes as the other build: the same code
// decides the same, one changed line of the engine shows as what it changes and where it begins, and
// what is no build is refused.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import type { DiffReport } from '@bigfleet/engine';
import { RealShards } from '../../ctl/testing/real-shard.ts';
import { type Ran, runCommand } from '../../testing/run-bigfleet.ts';

const here = (name: string): string => path.join(import.meta.dirname, name);
const CHANGED_BUILD = fileURLToPath(new URL('../../testing/changed-main.ts', import.meta.url));

let folder = '';
before(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'diff-'));
  const world = new RealShards();
  await world.startShard('shard-0', 3);
  await world.connect('blue', 'shard-0', 8, 1_000);
  await world.time.runFor(120_000);
  await world.stop();
  await world.writeRecords('shard-0', folder);
  writeFileSync(path.join(folder, 'another-version.mjs'), ANOTHER_VERSION);
});
after(() => rmSync(folder, { recursive: true }));

const diff = (...argv: string[]): Promise<Ran> =>
  runCommand(['diff', ...argv], {
    nodeVersion: process.versions.node,
    runtime: realRuntime(),
  });

test('the same build decides the same', async () => {
  const checkout = here('../../../../..');
  const { code, output, error } = await diff(folder, `--against=${checkout}`);
  assert.deepEqual([code, error], [0, '']);
  assert.match(output, /diff: identical; 0 of [1-9]\d* cycles differ/);
  assert.match(output, /cycles unlike the recorded run: 0 → 0/);
});

test('one file alone, under whatever name it was copied', async () => {
  const [trace = ''] = readdirSync(folder).filter((name) => name.endsWith('.trace'));
  const copy = path.join(folder, 'mine.of-yesterday');
  copyFileSync(path.join(folder, trace), copy);
  const { code, output, error } = await diff(copy, `--against=${here('../../../../..')}`);
  rmSync(copy);
  assert.deepEqual([code, error], [0, '']);
  assert.match(output, /diff: identical; 0 of [1-9]\d* cycles differ/);
});

test('one changed line of the engine: what it releases, in dollars, and the first such cycle', async () => {
  const against = `--against=${CHANGED_BUILD}`;
  const { code, output, error } = await diff(folder, against, '-o', 'json');
  assert.deepEqual([code, error], [1, '']);
  const [{ report }] = JSON.parse(output) as [{ report: DiffReport }];
  assert.equal(report.outcome, 'different');
  const { onlyAByKind, onlyBByKind } = report;
  assert.ok(onlyAByKind[5] > 0, 'the other build deletes');
  assert.deepEqual({ ...onlyAByKind, 5: 0 }, onlyBByKind, 'and that is all');
  assert.ok(report.a.boughtMicrosPerHour < report.b.boughtMicrosPerHour);
  assert.deepEqual(report.recordedMismatches, { a: report.differingCount, b: 0 });
  assert.ok((report.firstDifference?.nowMs ?? 0) > 0);
  assert.equal(report.a.shortfallCycles, report.b.shortfallCycles);
});

/** It ends well and prints something else. */
const ANOTHER_VERSION = `console.log('{"kind":"decisions","version":2}');\n`;

const unusable: readonly (readonly [string, () => string, RegExp])[] = [
  ['a path that is not there', () => '/nowhere/main.ts', /neither a main file nor a checkout/],
  [
    'a build of another version',
    () => path.join(folder, 'another-version.mjs'),
    /another version of decisions/,
  ],
  ['a program that is no build', () => here('decision-line.ts'), /what it printed was cut off/],
];
for (const [what, build, problem] of unusable) {
  test(`${what} is refused`, async () => {
    const { code, output, error } = await diff(folder, `--against=${build()}`);
    assert.deepEqual([code, output], [1, '']);
    assert.match(error, /^bigfleet diff: other_build_unusable: /);
    assert.match(error, problem);
  });
}

test('without --against there is nothing to compare with', async () => {
  const { code, error } = await diff(folder);
  assert.equal(code, 2);
  assert.match(error, /give --against/);
});
