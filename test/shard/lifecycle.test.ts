// Proves the shard's process against a real kit provider over gRPC: demand becomes nodes, a killed
// shard finds everything again and does nothing twice, and its epoch only rises.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { createTempDir, eventually, http } from '../toolkit/index.ts';
import { dial, startProvider } from '../provider/child.ts';
import {
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from './shard-process.ts';

async function configured(operator: TestOperator, count: number): Promise<void> {
  await eventually(
    () => {
      operator.cluster.nudge();
      return operator.cluster.machinesIn(MachineState.CONFIGURED).length === count;
    },
    { what: `${count} machines are Configured`, everyMs: 200 },
  );
}

async function metric(shard: ShardProcess, series: string): Promise<number> {
  const { body } = await http({ url: `http://${shard.metricsAddress}/metrics` });
  const line = body.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

/**
 * Actions that made a node, as the shard counts them. A Create that is answered with an Idle machine
 * binds it at once, under the same action: then there is no Bootstrap of its own.
 */
async function successes(shard: ShardProcess): Promise<number> {
  const of = (kind: string): string =>
    `bigfleet_shard_action_execute_outcomes_total{kind="${kind}",outcome="success"}`;
  return (await metric(shard, of('Bootstrap'))) + (await metric(shard, of('Provision')));
}

test('nodes come, survive SIGKILL of the shard, and go', async () => {
  await using folder = createTempDir('shard-life');
  const dataDir = path.join(folder.path, 'shard');
  const state = path.join(folder.path, 'provider.json');
  await using provider = await startProvider([
    '--addr=127.0.0.1:0',
    `--state=${state}`,
    '--seed-count=8',
    '--work=20ms',
  ]);
  const argv = [`--data-dir=${dataDir}`, `--provider=kit=${provider.address}`];
  let address = '';
  const first = await startShardProcess(argv);
  ({ address } = first);
  assert.equal(first.epoch, 1);
  await using operator = startOperator('blue', () => address);
  operator.cluster.want(3);
  await configured(operator, 3);
  const bound = operator.cluster.machinesIn(MachineState.CONFIGURED).sort();
  assert.ok(operator.cluster.hints.includes('available:any'));
  assert.ok(operator.cluster.renderCount >= 3, 'each was joined with a blob of its own');
  await eventually(async () => (await successes(first)) >= 3, {
    what: 'the actions are counted',
  });
  using client = dial(provider.address);
  const { machines: made } = await client.calls.list({});
  const inUse = made.filter(({ state: each }) => each === MachineState.CONFIGURED);
  assert.deepEqual(inUse.map(({ id }) => id).sort(), bound, 'the provider says the same');
  assert.ok(inUse.every(({ cluster }) => cluster === 'blue'));

  first.process.signal('SIGKILL');
  await first.process.waitExit();
  await using second = await startShardProcess(argv);
  ({ address } = second);
  assert.equal(second.epoch, 2);
  assert.equal(await readFile(path.join(dataDir, 'epoch'), 'utf8'), '2\n');
  await eventually(() => operator.session.isConnected, {
    what: 'reconnected',
  });
  await configured(operator, 3);
  assert.deepEqual(operator.cluster.machinesIn(MachineState.CONFIGURED).sort(), bound);
  for (const kind of ['Bootstrap', 'Provision', 'Reclaim', 'Preempt']) {
    assert.equal(await metric(second, `bigfleet_shard_actions_total{kind="${kind}"}`), 0, kind);
  }

  operator.cluster.want(0);
  await eventually(
    async () => {
      operator.cluster.nudge();
      const { machines } = await client.calls.list({});
      return machines.every(({ state: each }) => each !== MachineState.CONFIGURED);
    },
    { what: 'every machine is given back', everyMs: 200 },
  );
  assert.deepEqual([...new Set(operator.cluster.drained)].sort(), bound, 'operators drained first');
});
