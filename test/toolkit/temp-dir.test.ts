// Proves that a temporary directory is private, gone after its scope, also when its owner was killed with
// something mounted in it, and removable twice.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './eventually.ts';
import { startProcess } from './process.ts';
import { createTempDir } from './temp-dir.ts';

test('a temporary directory lives as long as its scope', async () => {
  let path: string;
  {
    await using dir = createTempDir('scope');
    path = dir.path;
    assert.equal(statSync(path).mode & 0o777, 0o700);
    writeFileSync(join(path, 'file'), 'content');
  }
  assert.equal(existsSync(path), false);
});

test('two directories differ, and removing twice is harmless', async () => {
  const [one, two] = [createTempDir(), createTempDir()];
  assert.notEqual(one.path, two.path);
  await one.remove();
  await one.remove();
  assert.equal(existsSync(one.path), false);
  assert.equal(existsSync(two.path), true);
  await two.remove();
});

test('a directory with a mount in it goes with an owner that was killed', {
  skip: await cannotMount(),
}, async () => {
  const source = `
    import { createTempDir } from ${JSON.stringify(new URL('./temp-dir.ts', import.meta.url).href)};
    console.log('made ' + createTempDir('mounted').path);
    setInterval(() => {}, 1_000);`;
  const owner = await startProcess({
    name: 'owner',
    command: process.execPath,
    args: ['--input-type=module-typescript', '--eval', source],
  });
  const [, path = ''] = await owner.waitForLine(/^made (.+)$/);
  mountIn(path);
  await owner.kill();
  await eventually(() => !existsSync(path), { what: `${path} is gone` });
});

function mountIn(folder: string): void {
  const place = join(folder, 'mounted');
  mkdirSync(place);
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', place], { stdio: 'pipe' });
  writeFileSync(join(place, 'file'), 'content');
}

async function cannotMount(): Promise<string | false> {
  await using dir = createTempDir('try');
  try {
    mountIn(dir.path);
    execFileSync('umount', [join(dir.path, 'mounted')]);
    return false;
  } catch (error) {
    return `nothing can be mounted here: ${String(error)}`;
  }
}
