// Proves that the two processes of a cluster load nothing of the fleet's own: a process that runs in every
// cluster is paid for in memory by the cluster's owner.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { build } from 'esbuild';

const ROOT = path.join(import.meta.dirname, '..', '..');
const FLEET = /^packages\/(?:shard|coordclient|coordinator|providerkit|sim)\//;

async function loadedBy(main: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path.join('packages', 'cli', 'src', main)],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  return Object.keys(metafile.inputs);
}

for (const main of ['operator-main.ts', 'pod-controller-main.ts']) {
  test(`${main} loads neither shard nor coordinator`, async () => {
    const files = await loadedBy(main);
    assert.ok(files.length > 50, `${files.length} files`);
    assert.ok(files.some((file) => file.startsWith('packages/kube/src/')));
    assert.deepEqual(
      files.filter((file) => FLEET.test(file)),
      [],
    );
  });
}

test('and the look would find it: bigfleet loads both', async () => {
  const files = await loadedBy('main.ts');
  assert.ok(files.some((file) => FLEET.test(file)));
});
