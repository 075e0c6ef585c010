// Proves that the author guide is true today: its list of behaviours is the catalogue, its excerpts
// are the sources, its worked provider compiles, serves where the page says, keeps the contract in
// memory and on Acme's real API. What installs or writes runs in provider-author-guide.long.ts.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { ROOT, SKIP } from '../template/clone.ts';
import { ownEnvironment, runCommand } from '../template/command.ts';
import { leasePort, startProcess } from '../toolkit/index.ts';
import { AcmeServer } from './acme-server.ts';
import { guideBlocks, guideText, PROVIDER } from './guide.ts';
import { PageRunner } from './page-runner.ts';
import { createShadowTree } from './shadow-tree.ts';

const SUITE = path.join(ROOT, 'packages/conformance/src/main.ts');
const quick = { cwd: ROOT };

test('the page holds a worked provider, excerpts and commands', () => {
  const counts = new Map<string, number>();
  for (const { kind } of guideBlocks) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  assert.deepEqual(
    ['file', 'excerpt', 'run', 'serve'].map((kind) => (counts.get(kind) ?? 0) > 0),
    [true, true, true, true],
  );
  assert.match(guideText, /^make conformance TARGET=localhost:9001$/m);
});

test('the areas on the page are the catalogue', async () => {
  const listed = await runCommand(process.execPath, [SUITE, '-list'], quick);
  const catalogue = [...listed.matchAll(/^(B\d+) +(\S+(?: \S+)*) {2,}/gm)].map(
    ([, id, area]) => `${area} ${id}`,
  );
  const rows = [...guideText.matchAll(/^\| ([^|]+) \((\d+)\) \| (B[^|]+) \|$/gm)];
  const onPage = rows.flatMap(([, area, count, ids = '']) => {
    const each = ids.split(', ');
    assert.equal(each.length, Number(count), area);
    return each.map((id) => `${area} ${id}`);
  });
  assert.equal(catalogue.length, 93);
  assert.deepEqual(onPage, catalogue);
});

test('the worked provider compiles, and serves where the page says', SKIP, async () => {
  await using tree = createShadowTree(PROVIDER);
  await using page = await PageRunner.open(tree.path);
  for (const block of guideBlocks) if (block.kind !== 'clone') await page.perform(block);
  await page.shell(`tsc -p providers/${PROVIDER} --noEmit`);
  const report = await page.shell(judge('localhost:9001', ['B101', 'B109', 'B303', 'B501']));
  assertPassed(report, 4);
});

test('the worked provider runs real machines, and leaves none behind', SKIP, async () => {
  await using tree = createShadowTree(PROVIDER);
  await using page = await PageRunner.open(tree.path);
  for (const block of guideBlocks) if (block.kind === 'file') await page.perform(block);
  await using acme = new AcmeServer();
  const url = await acme.listen();
  await using lease = await leasePort();
  const target = `127.0.0.1:${lease.port}`;
  await using provider = await startProcess({
    name: 'the worked provider on Acme',
    command: process.execPath,
    args: [
      path.join(tree.path, 'providers', PROVIDER, 'src/main.ts'),
      `--acme-url=${url}`,
      `--addr=${target}`,
      '--metrics-addr=',
      '--allow-ephemeral-state',
    ],
    env: { ...ownEnvironment(), ACME_TOKEN: acme.token },
    ready: { kind: 'line', pattern: /serving CapacityProvider" .*acme_backend=acme/ },
  });
  const report = await page.shell(judge(target, ['B103', 'B109', 'B409']));
  assertPassed(report, 3);
  const { launchCount, billedCount } = acme;
  assert.ok(launchCount >= 2 && billedCount < launchCount, `${launchCount}, ${billedCount} left`);
  await provider.stop();
});

/** A partial run never certifies and ends with 1: its lines say what passed. */
function judge(target: string, ids: readonly string[]): string {
  return `node ${SUITE} -target ${target} -skip-baseline -only ${ids.join(',')} || [ $? -eq 1 ]`;
}

function assertPassed(report: string, count: number): void {
  assert.match(report, new RegExp(`^behaviours: 93 total, ${count} passed, 0 failed`, 'm'), report);
}
