// Proves that `bigfleet all-in-one` runs as a process: its shard is registered at its coordinator, a
// cluster gets a named machine, both halves' metrics come from one address, it stops when it is told,
// and it comes back on the same data.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { startOperator } from '../shard/shard-process.ts';
import {
  createTempDir,
  eventually,
  http,
  type RunningProcess,
  startProcess,
} from '../toolkit/index.ts';

const BIN = path.join(import.meta.dirname, '../../bin');
const READY =
  / msg="all-in-one ready" coordinator=(\S+) shard=(\S+) raft=127\.0\.0\.1:0 data_dir=\S+/;
const SERVING = / msg="metrics serving" addr=(\S+)/;

function start(dataDir: string): Promise<RunningProcess> {
  const here = '127.0.0.1:0';
  return startProcess({
    name: 'all-in-one',
    command: path.join(BIN, 'bigfleet'),
    args: [
      'all-in-one',
      `--data-dir=${dataDir}`,
      ...['shard-listen', 'coordinator-listen', 'raft-bind'].map((name) => `--${name}=${here}`),
      ...['shard-metrics-addr', 'coordinator-metrics-addr'].map((name) => `--${name}=${here}`),
    ],
    ready: { kind: 'line', pattern: READY },
  });
}

async function listShards(coordinator: string): Promise<string> {
  await using ctl = await startProcess({
    name: 'bigfleetctl',
    command: path.join(BIN, 'bigfleetctl'),
    args: [`--coordinator=${coordinator}`, 'list-shards'],
  });
  assert.deepEqual(await ctl.waitExit(), { kind: 'code', code: 0 });
  return ctl.output.text();
}

test('a laptop has a fleet of one shard', async () => {
  await using folder = createTempDir('all-in-one');
  await using running = await start(folder.path);
  const [, coordinator = '', shard = ''] = await running.waitForLine(READY);
  const [, metrics = ''] = await running.waitForLine(SERVING);
  await eventually(async () => (await listShards(coordinator)).includes(`shard-0  ${shard}`), {
    what: 'the shard is registered',
    everyMs: 500,
    details: () => running.output.text(),
  });
  await using operator = startOperator('laptop', () => shard);
  operator.cluster.want(1);
  const [machine] = await eventually(
    () => {
      const bound = operator.cluster.machinesIn(MachineState.CONFIGURED);
      return bound.length > 0 && bound;
    },
    { what: 'a machine serves', details: () => running.output.text() },
  );
  assert.match(machine ?? '', /^dev-cpu-[0-7]$/);
  const { body } = await http({ url: `http://${metrics}/metrics` });
  assert.match(body, /^bigfleet_shard_cycles_total [1-9]/m);
  assert.match(body, /^bigfleet_coordinator_is_leader 1$/m);
  assert.equal((await http({ url: `http://${metrics}/readyz` })).status, 200);
  running.signal('SIGTERM');
  assert.deepEqual(await running.waitExit(), { kind: 'code', code: 0 });
  await using again = await start(folder.path);
  const [, comeBack = ''] = await again.waitForLine(READY);
  assert.match(await listShards(comeBack), /shard-0/);
});
