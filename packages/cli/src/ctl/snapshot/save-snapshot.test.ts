// Proves that a saved snapshot is a tar that tar reads, with meta.json first, whole or not there.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { startFakeCoordinator } from '../testing/fake-coordinator.ts';
import { runCtl } from '../testing/run-ctl.ts';
import { tarHeader } from './tar.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'ctl-snapshot-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

const data = ['x'.repeat(70_000), 'y'.repeat(513)];
const state = data.join('');
const sha256 = createHash('sha256').update(state).digest('hex');

function metaOf(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    version: 1,
    index: 90_210,
    term: '7',
    size: state.length,
    sha256,
    ...changes,
  });
}

test('tar reads it, and meta.json comes first', async (t) => {
  const folder = folderOf(t);
  const file = path.join(folder, 'fleet.tar');
  await using fake = await startFakeCoordinator({ snapshot: { meta: metaOf(), data } });
  const at = `--coordinator=${fake.address}`;
  const saved = await runCtl([at, 'snapshot', 'save', file, '--format=logical']);
  assert.deepEqual(saved, {
    code: 0,
    output: `saved snapshot index=90210 term=7 to ${file}\n`,
    error: '',
  });
  assert.deepEqual(fake.calls, ['snapshotSave logical']);
  const tar = (...argv: string[]) => execFileSync('tar', argv, { encoding: 'utf8' });
  assert.equal(tar('-tf', file), 'meta.json\nstate\n');
  assert.equal(tar('-xOf', file, 'state'), state);
  assert.equal(tar('-xOf', file, 'meta.json'), metaOf());
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['fleet.tar'], 'no spool is left');
});

const broken: readonly (readonly [string, string, RegExp])[] = [
  ['a wrong size', metaOf({ size: 3 }), /snapshot_incomplete: meta.json says 3 bytes, 70513/],
  ['a wrong checksum', metaOf({ sha256: '00' }), /snapshot_incomplete: the checksum/],
  ['meta that is no JSON', '{', /snapshot_incomplete: meta.json is not JSON/],
];
for (const [name, meta, problem] of broken) {
  test(`with ${name} the old file stays`, async (t) => {
    const folder = folderOf(t);
    const file = path.join(folder, 'fleet.tar');
    writeFileSync(file, 'old');
    await using fake = await startFakeCoordinator({ snapshot: { meta, data } });
    const { code, error } = await runCtl([
      `--coordinator=${fake.address}`,
      'snapshot',
      'save',
      file,
    ]);
    assert.equal(code, 1);
    assert.match(error, problem);
    assert.equal(readFileSync(file, 'utf8'), 'old');
    assert.deepEqual(readdirSync(folder), ['fleet.tar']);
  });
}

test('a folder that is not there is the user’s to correct', async () => {
  await using fake = await startFakeCoordinator({ snapshot: { meta: metaOf(), data } });
  const { code, error } = await runCtl([
    `--coordinator=${fake.address}`,
    ...'snapshot save /nowhere/at/all/fleet.tar'.split(' '),
  ]);
  assert.equal(code, 1);
  assert.match(error, /local_file_failed: ENOENT.*\n {2}next: Check the path/);
});

test('a size beyond eight gigabytes is binary in the header', () => {
  const header = tarHeader({ name: 'state', size: 2 ** 33 + 5, modifiedUnixSeconds: 0 });
  assert.equal(header[124], 0x80);
  assert.equal(header.readBigUInt64BE(128), 2n ** 33n + 5n);
});
