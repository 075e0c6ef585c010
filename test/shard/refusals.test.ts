// Proves that a shard which must not run does not: a directory in use, an epoch or settings that
// cannot be read, half a TLS configuration, a port that is taken. One line, exit code 1.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createTempDir } from '../toolkit/index.ts';
import { launchShard, startShardProcess } from './shard-process.ts';

async function refusal(argv: readonly string[]): Promise<string> {
  await using child = await launchShard(argv);
  assert.deepEqual(await child.waitExit(), { kind: 'code', code: 1 });
  return child.output.text();
}

test('a second process on the same directory', async () => {
  await using folder = createTempDir('shard-lock');
  const argv = [`--data-dir=${folder.path}`, '--fake-provider'];
  await using first = await startShardProcess(argv);
  assert.match(await refusal(argv), /bigfleet shard: data_dir_locked: another process holds/);
  assert.equal(first.epoch, 1);
  assert.equal(await readFile(path.join(folder.path, 'epoch'), 'utf8'), '1\n', 'and no new epoch');
});

const damaged: readonly (readonly [string, string, RegExp])[] = [
  ['epoch', 'seven', /epoch_corrupt/],
  ['rails.json', '{"version":1,"settings":{"pauze":true}}', /rails_corrupt/],
  ['providers.json', '{', /providers_file_corrupt/],
];
for (const [name, content, problem] of damaged) {
  test(`a damaged ${name}`, async () => {
    await using folder = createTempDir('shard-damage');
    const dataDir = path.join(folder.path, 'data');
    await mkdir(dataDir);
    await writeFile(path.join(dataDir, name), content);
    assert.match(await refusal([`--data-dir=${dataDir}`]), problem);
    assert.equal(await readFile(path.join(dataDir, name), 'utf8'), content, 'kept for inspection');
  });
}

test('half a TLS configuration, before anything is written', async () => {
  await using folder = createTempDir('shard-tls');
  const dataDir = path.join(folder.path, 'data');
  const output = await refusal([`--data-dir=${dataDir}`, '--tls-cert=cert.pem']);
  assert.match(output, /tls_partial_configuration/);
  await assert.rejects(readFile(path.join(dataDir, 'epoch')), /ENOENT/);
});

test('an address that another process has', async () => {
  await using folder = createTempDir('shard-port');
  await using first = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'a')}`,
    '--fake-provider',
  ]);
  const dataDir = `--data-dir=${path.join(folder.path, 'b')}`;
  const output = await refusal([dataDir, '--fake-provider', `--listen=${first.address}`]);
  assert.match(output, /bigfleet shard: .*(in use|cannot listen)/);
});
