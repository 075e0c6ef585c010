// Proves --watch and --follow: redrawn in place on a terminal, blocks elsewhere, a server that is
// away for a moment survived, Ctrl-C a good end; and colours on terminals only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { RpcError } from '@bigfleet/wire';
import { startFakeCoordinator } from './testing/fake-coordinator.ts';
import { type RunOptions, type RunResult, runCtl } from './testing/run-ctl.ts';

/** Stops after so many prints. */
async function watch(
  argv: readonly string[],
  prints: number,
  options: RunOptions = {},
): Promise<RunResult> {
  const stop = Promise.withResolvers<void>();
  let count = 0;
  return runCtl([...argv, '--interval=100ms'], {
    ...options,
    stopSignal: stop.promise,
    onOutput: () => {
      count += 1;
      if (count === prints) stop.resolve();
    },
  });
}

test('to a pipe each answer is a block with its time', async () => {
  await using fake = await startFakeCoordinator();
  const { code, output } = await watch([`--coordinator=${fake.address}`, 'list-quotas', '-w'], 2);
  assert.equal(code, 0);
  const [first, second] = output.split('\n\n');
  assert.match(first ?? '', /^# 2026-01-01T12:00:00Z\nPROVIDER {2}REGION/);
  assert.equal(`${first}\n`, second);
});

test('JSON is a stream of documents, YAML is parted by dashes', async () => {
  await using fake = await startFakeCoordinator();
  const at = `--coordinator=${fake.address}`;
  const json = await watch([at, 'status', '-w', '-o', 'json'], 2);
  assert.match(json.output, /^\{\n[\s\S]*\n\}\n\{\n[\s\S]*\n\}\n$/);
  const yaml = await watch([at, 'status', '-w', '-o', 'yaml'], 2);
  assert.equal(yaml.output.match(/^---$/gm)?.length, 2);
});

test('on a terminal the picture is drawn over the last one, in colour', async () => {
  await using fake = await startFakeCoordinator();
  const argv = [`--coordinator=${fake.address}`, 'list-domain-assignments', '-w'];
  const { code, output } = await watch(argv, 2, { isTerminal: true });
  assert.equal(code, 0);
  assert.ok(output.startsWith('\u001b[2J\u001b[H2026-01-01T12:00:00Z\u001b[K\n'));
  assert.equal(output.split('\u001b[2J').length, 2, 'cleared once');
  assert.equal(output.split('\u001b[H').length, 3, 'drawn twice');
  assert.ok(output.includes('\u001b[33mreleasing\u001b[0m'));
  assert.ok(output.endsWith('\u001b[J\n'));
});

test('a picture that is higher than the terminal is cut, and says so', async () => {
  const shards = Array.from({ length: 60 }, (_, at) => ({ shardId: `s-${at}`, address: 'x:1' }));
  await using fake = await startFakeCoordinator({ shards });
  const argv = [`--coordinator=${fake.address}`, 'list-shards', '-w'];
  const { output } = await watch(argv, 1, { isTerminal: true });
  assert.match(output, /… 40 more lines/);
  assert.equal(output.trimEnd().split('\n').length, 23);
});

test('lines that are wider than the terminal are cut, and none is left in colour', async () => {
  const shards = [{ shardId: 'shard-0', address: `${'x'.repeat(100)}:1` }];
  await using fake = await startFakeCoordinator({ shards });
  const argv = [`--coordinator=${fake.address}`, 'list-shards', '-w'];
  const { output } = await watch(argv, 1, { isTerminal: true });
  const lines = stripVTControlCharacters(output).split('\n');
  assert.deepEqual([lines[1]?.length, lines[2]?.length], [80, 80]);
  assert.match(lines[2] ?? '', /^shard-0 {2}x+$/);
  const [, header = ''] = output.split('\n');
  assert.equal(header.split('\u001b[1m').length, header.split('\u001b[0m').length);
});

test('NO_COLOR and a pipe get no escape codes', async () => {
  await using fake = await startFakeCoordinator();
  const argv = [`--coordinator=${fake.address}`, 'list-domain-assignments'];
  for (const options of [
    { isTerminal: true, env: { NO_COLOR: '1' } },
    { isTerminal: true, env: { TERM: 'dumb' } },
    { isTerminal: false },
  ]) {
    assert.ok(!(await runCtl(argv, options)).output.includes('\u001b'));
  }
  const coloured = await runCtl(argv, { isTerminal: true, env: { NO_COLOR: '' } });
  assert.ok(coloured.output.includes('\u001b[33mreleasing'));
});

test('a server that is away for a moment does not end a watch', async () => {
  let asked = 0;
  await using fake = await startFakeCoordinator({
    precheck: () => {
      asked += 1;
      return asked === 2 ? new RpcError('ABORTED', 'busy') : undefined;
    },
  });
  const argv = [`--coordinator=${fake.address}`, 'list-quotas', '-w'];
  const { code, output, error } = await watch(argv, 2);
  assert.equal(code, 0);
  assert.equal(output.match(/^# /gm)?.length, 2);
  assert.match(error, /^bigfleetctl: request_refused: .*busy/);
});

test('the first answer must come: a wrong address is an error', async () => {
  const { code } = await watch(['--coordinator=127.0.0.1:1', 'list-quotas', '-w'], 1);
  assert.equal(code, 1);
});

test('top watches by itself on a terminal only', async () => {
  await using fake = await startFakeCoordinator({ shards: [] });
  const at = `--coordinator=${fake.address}`;
  const live = await watch([at, 'top'], 2, { isTerminal: true });
  assert.deepEqual([live.code, live.output.split('\u001b[H').length], [0, 3]);
  const once = await runCtl([at, 'top']);
  assert.match(once.output, /^Shards: {3}0\n/);
  const asked = await runCtl([at, 'top', '--watch=false'], { isTerminal: true });
  assert.ok(!asked.output.includes('\u001b[H'));
});
