// Proves that what a shard left on disk can be read without it: records, why a machine was chosen,
// and a replay that decides the same again, also after SIGKILL.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { startOperator, startShardProcess } from './shard-process.ts';

const MAIN = path.join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');

function bigfleet(...argv: readonly string[]): { code: number | null; out: string; err: string } {
  const ended = spawnSync(process.execPath, [MAIN, ...argv], { encoding: 'utf8' });
  return { code: ended.status, out: ended.stdout, err: ended.stderr };
}

test('records, explain and replay on the directory of a killed shard', async () => {
  await using folder = createTempDir('shard-offline');
  const shard = await startShardProcess([
    '--fake-provider',
    '--seed-machines=4',
    `--data-dir=${folder.path}`,
  ]);
  await using operator = startOperator('blue', () => shard.address);
  operator.cluster.want(8);
  await eventually(
    () => {
      operator.cluster.nudge();
      return operator.cluster.machinesIn(MachineState.CONFIGURED).length === 2;
    },
    { what: 'two machines of four cores are Configured', everyMs: 200 },
  );
  shard.process.signal('SIGKILL');
  await shard.process.waitExit();

  const directory = `--records-dir=${path.join(folder.path, 'records')}`;
  const records = bigfleet('records', directory);
  assert.equal(records.code, 0, records.err);
  assert.match(records.out, /^cycle \d+ epoch 1 .*Bootstrap/m);

  const [machine = ''] = operator.cluster.machinesIn(MachineState.CONFIGURED);
  const explained = bigfleet('explain', directory, `--machine=${machine}`);
  assert.equal(explained.code, 0, explained.err);
  assert.match(explained.out, /was bootstrapped for the need of cluster blue at priority 1000/);
  const json = bigfleet('explain', directory, `--machine=${machine}`, '--output=json');
  assert.equal((JSON.parse(json.out) as { kind: string }).kind, 'answered');

  for (const mode of ['recorded', 'incremental', 'full']) {
    const replayed = bigfleet('replay', directory, `--mode=${mode}`);
    assert.equal(replayed.code, 0, `${mode}: ${replayed.out}${replayed.err}`);
    assert.match(replayed.out, /outcome: identical/);
  }
  assert.equal(bigfleet('explain', directory, '--machine=nobody').code, 1);
});
