// Proves that a temporary folder is removed after success, after failure and by an early exit.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withTempFolder } from './temp-folder.ts';

test('removed after success and after failure', async () => {
  const listenerCount = process.listenerCount('exit');
  const folder = await withTempFolder('test', async (path) => {
    writeFileSync(join(path, 'file'), 'content');
    return path;
  });
  assert.equal(existsSync(folder), false);

  let failedIn = '';
  const failing = withTempFolder('test', async (path) => {
    failedIn = path;
    throw new Error('planted');
  });
  await assert.rejects(failing, /planted/);
  assert.notEqual(failedIn, '');
  assert.equal(existsSync(failedIn), false);
  assert.equal(process.listenerCount('exit'), listenerCount);
});

test('removed when the process exits inside', () => {
  const module = JSON.stringify(join(import.meta.dirname, 'temp-folder.ts'));
  const script = `const { withTempFolder } = await import(${module});
    await withTempFolder('test', async (path) => { process.stdout.write(path); process.exit(0); });`;
  const args = ['--input-type=module', '--eval', script];
  const folder = execFileSync(process.execPath, args, { encoding: 'utf8' });
  assert.match(folder, /bigfleet-test-/);
  assert.equal(existsSync(folder), false);
});
