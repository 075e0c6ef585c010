// Proves that the package list and the commands it stands for agree, that a missing command is an
// error with the one line to run, and that the installer is silent and quick when nothing is
// missing and never installs without root.

import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  COMMANDS_OF_PACKAGE,
  listedPackages,
  missingCommands,
  parsePackageList,
  requireCommand,
} from './packages.ts';
import { type ProcessExit, startProcess } from './process.ts';
import { createTempDir } from './temp-dir.ts';

const INSTALLER = fileURLToPath(new URL('./install-debian-packages.sh', import.meta.url));
const NOBODY = 65_534;

test('every listed package has known commands, and the reverse', () => {
  assert.deepEqual([...listedPackages()].sort(), Object.keys(COMMANDS_OF_PACKAGE).sort());
});

test('all commands are here', () => {
  assert.deepEqual(missingCommands(), [], 'run: sudo make deps');
});

test('the list allows comments and blank lines', () => {
  assert.deepEqual(parsePackageList('# head\n\n a  # why\nb\n'), ['a', 'b']);
});

test('a missing command names its package and what to run', () => {
  const path = process.env['PATH'];
  assert.match(requireCommand('etcd'), /\/etcd$/);
  try {
    process.env['PATH'] = '/nowhere';
    assert.throws(
      () => requireCommand('etcd'),
      /etcd \(Debian package etcd-server\) is missing; run: sudo make deps/,
    );
  } finally {
    process.env['PATH'] = path;
  }
});

async function install(list: string, uid?: number): Promise<{ exit: ProcessExit; output: string }> {
  // Readable for everyone, unlike a temporary directory of ours.
  const installer = await startProcess({
    name: 'installer',
    command: 'sh',
    args: [INSTALLER, list],
    ...(uid === undefined ? {} : { uid }),
  });
  return { exit: await installer.waitExit(), output: installer.output.text() };
}

test('the installer does nothing when nothing is missing', async () => {
  const list = fileURLToPath(new URL('./debian-packages.txt', import.meta.url));
  assert.deepEqual(await install(list), { exit: { kind: 'code', code: 0 }, output: '' });
});

test('without root the installer says in one line what to run, and fails', async () => {
  await using dir = createTempDir('packages');
  const list = join(dir.path, 'list.txt');
  await writeFile(list, 'bash\nbigfleet-no-such-package # never\n', { mode: 0o644 });
  await chmod(dir.path, 0o755);
  const uid = process.getuid?.() === 0 ? NOBODY : undefined;
  const { exit, output } = await install(list, uid);
  assert.deepEqual(exit, { kind: 'code', code: 1 });
  assert.equal(output, 'missing Debian packages: bigfleet-no-such-package; run: sudo make deps');
});
