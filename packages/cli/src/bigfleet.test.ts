// Proves the front door: which command runs, what is printed where, and the exit codes.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runCommand as run } from './testing/run-bigfleet.ts';

test('help is output and success', async () => {
  for (const argv of [['help'], ['--help'], ['-h']]) {
    const { code, output, error } = await run(argv);
    assert.deepEqual([code, error], [0, '']);
    assert.match(output, /shard/);
  }
  const { code, output } = await run(['shard', '--help']);
  assert.equal(code, 0);
  assert.match(output, /--execute-concurrency/);
});

const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [[], /^bigfleet: no subcommand\nUsage/],
  [['shards'], /^bigfleet: unknown subcommand "shards"/],
  [['shard', '--lisen=:1'], /^bigfleet shard: unknown flag --lisen; did you mean --listen\?/],
  [['shard', '--seed-spot=1'], /^bigfleet shard: --seed-spot needs --fake-provider/],
  [['records', '--from-cycle=x'], /^bigfleet records: .*--from-cycle.*see bigfleet records --help/],
  [['explain'], /^bigfleet explain: give --machine, or --cluster and --fingerprint;/],
  [['explain', '--machine=a', '--cluster=b'], /^bigfleet explain: give --machine, or/],
  [['replay', '--mode=backwards'], /^bigfleet replay: .*recorded, incremental, full/],
];
for (const [argv, problem] of wrong) {
  test(`bigfleet ${argv.join(' ')}: exit 2, ${problem.source}`, async () => {
    const { code, output, error } = await run(argv);
    assert.deepEqual([code, output], [2, '']);
    assert.match(error, problem);
  });
}

test('another major of Node is refused', async () => {
  const { code, error } = await run(['shard'], { nodeVersion: '20.9.0' });
  assert.equal(code, 2);
  assert.match(error, /needs Node.js 24, this is 20.9.0/);
});

for (const verb of [['records'], ['replay'], ['explain', '--machine=a']]) {
  test(`bigfleet ${verb.join(' ')}: a directory that is not there is named`, async () => {
    const { code, error } = await run([...verb, '--records-dir=/nowhere/at/all']);
    assert.equal(code, 1);
    assert.match(error, /there is no directory \/nowhere\/at\/all; name the one/);
  });
}

test('records that the file system refuses are one line, and a directory is no segment', async (t) => {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'bigfleet-records-'));
  t.after(() => rmSync(directory, { recursive: true }));
  mkdirSync(path.join(directory, '000000000001-00000000.records'));
  const none = await run(['records', directory]);
  assert.deepEqual([none.code, none.error], [0, 'bigfleet records: no record matches\n']);
  const loop = path.join(directory, '000000000001-00000001.records');
  symlinkSync(loop, loop);
  for (const verb of ['records', 'replay', 'explain']) {
    const subject = verb === 'explain' ? ['--machine=m1'] : [];
    const { code, output, error } = await run([verb, directory, ...subject]);
    assert.deepEqual([code, output], [1, '']);
    assert.match(error, new RegExp(`^bigfleet ${verb}: .* cannot be read: ELOOP.*\n$`));
  }
});
