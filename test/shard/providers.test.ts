// Proves over real processes, with asynchronous providers and eight actions at a time, what two
// providers mean (one fails or hangs: the other serves on, nothing is removed, and it is found
// again; the same id from a second one is refused) and that a restart reads every stamp back from the wire.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type MachineView, MachineState } from '@bigfleet/wire';
import { createTempDir, eventually, http, leasePort } from '../toolkit/index.ts';
import { startProvider } from '../provider/child.ts';
import { startLedgerProvider } from './kill/ledger-provider.ts';
import { machinesOf } from './query.ts';
import {
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from './shard-process.ts';

/** Half of the two minutes that a List may take: nobody waited for the one that hangs. */
const HANGING_LIST_MS = 60_000;
const COUNT = 6;

async function serves(operator: TestOperator, count: number): Promise<void> {
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

function byProvider(machines: ReadonlyMap<string, MachineView>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { provider } of machines.values()) counts[provider] = (counts[provider] ?? 0) + 1;
  return counts;
}

/** The line that says who was dialled, and as whom (observability §13). */
function assertDialled({ process: { output } }: ShardProcess, address: string): void {
  const lines = output.text().split('\n');
  const dialled = lines.filter((line) => line.includes('msg="dialing out-of-tree provider"'));
  const [line, ...more] = dialled.filter((each) => each.includes(`addr=${address} `));
  assert.match(line ?? dialled.join(), /level=INFO .*shard_id=\S+ .*epoch=1\b/);
  assert.deepEqual(more, []);
}

test('one of two providers dies and returns: the other serves on, nothing is removed', async () => {
  await using folder = createTempDir('shard-providers');
  const argv = (name: string): string[] => [
    '--addr=127.0.0.1:0',
    `--state=${path.join(folder.path, `${name}.json`)}`,
    `--seed-count=${COUNT}`,
    '--work=20ms',
  ];
  await using steady = await startProvider(argv('steady'));
  await using port = await leasePort();
  const mortal = (): ReturnType<typeof startLedgerProvider> =>
    startLedgerProvider({
      folder: folder.path,
      addr: `127.0.0.1:${port.port}`,
      machineCount: COUNT,
    });
  const first = await mortal();
  await using shard = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'shard')}`,
    `--provider=steady=${steady.address}`,
    `--provider=mortal=${first.address}`,
  ]);
  for (const { address } of [steady, first]) assertDialled(shard, address);
  await using operator = startOperator('blue', () => shard.address);
  operator.cluster.want(2);
  await serves(operator, 2);
  assert.deepEqual(byProvider(await machinesOf(shard.address)), { steady: COUNT, mortal: COUNT });

  await first.process.kill();
  const missing = COUNT - 1;
  operator.cluster.want(missing);
  await eventually(
    async () => {
      operator.cluster.nudge();
      const failed = '{provider="mortal",mode="full",outcome="error"}';
      return (await metric(shard, `bigfleet_shard_reconcile_total${failed}`)) > 0;
    },
    { what: 'the dead provider is noticed', everyMs: 200 },
  );
  const known = await machinesOf(shard.address);
  assert.deepEqual(byProvider(known), { steady: COUNT, mortal: COUNT }, 'a failed List removes');

  await using second = await mortal();
  assert.equal(second.address, first.address);
  await serves(operator, missing);
  const back = [...(await machinesOf(shard.address)).values()];
  const bound = back.filter(({ clusterId }) => clusterId === 'blue');
  assert.equal(bound.length, missing, 'each served by one machine');
});

test('one of two providers hangs: the other serves on within seconds, and it is heard again', async () => {
  await using folder = createTempDir('shard-hanging');
  await using steady = await startProvider([
    '--addr=127.0.0.1:0',
    `--state=${path.join(folder.path, 'steady.json')}`,
    `--seed-count=${COUNT}`,
    '--work=20ms',
  ]);
  await using hanging = await startLedgerProvider({ folder: folder.path, machineCount: 1 });
  await using shard = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'shard')}`,
    `--provider=steady=${steady.address}`,
    `--provider=hanging=${hanging.address}`,
  ]);
  await using operator = startOperator('blue', () => shard.address);
  const all = { steady: COUNT, hanging: 1 };
  const isWhole = async (): Promise<boolean> =>
    isDeepStrictEqual(byProvider(await machinesOf(shard.address)), all);
  await eventually(isWhole, { what: 'both are known', everyMs: 100 });

  // The kernel still takes what is sent to it: nothing tells the shard that nobody reads.
  hanging.process.signal('SIGSTOP');
  operator.cluster.want(COUNT);
  await eventually(
    () => {
      operator.cluster.nudge();
      // At most one of them is the hanging provider's to give.
      return operator.cluster.machinesIn(MachineState.CONFIGURED).length >= COUNT - 1;
    },
    { what: 'the other provider serves', withinMs: HANGING_LIST_MS, everyMs: 200 },
  );
  const before = await metric(shard, 'bigfleet_shard_cycles_total');
  await eventually(
    async () => {
      operator.cluster.nudge();
      return (await metric(shard, 'bigfleet_shard_cycles_total')) >= before + 5;
    },
    { what: 'cycles go on', withinMs: HANGING_LIST_MS, everyMs: 200 },
  );
  assert.ok(await isWhole(), 'silence removes nothing');

  hanging.process.signal('SIGCONT');
  operator.cluster.want(COUNT + 1);
  await serves(operator, COUNT + 1);
});

test('the same id from a second provider is refused, and the first keeps it', async () => {
  await using folder = createTempDir('shard-duplicates');
  const start = (name: string): ReturnType<typeof startProvider> =>
    startProvider([
      '--addr=127.0.0.1:0',
      `--state=${path.join(folder.path, name)}`,
      `--seed-count=${COUNT}`,
    ]);
  await using one = await start('one.json');
  await using other = await start('other.json');
  await using shard = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'shard')}`,
    `--provider=one=${one.address}`,
    `--provider=other=${other.address}`,
  ]);
  const refused = 'bigfleet_shard_machines_rejected_total{reason="duplicate_id"}';
  await eventually(async () => (await metric(shard, refused)) >= COUNT, {
    what: 'duplicates are counted',
    everyMs: 200,
  });
  const counts = byProvider(await machinesOf(shard.address));
  assert.equal(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    COUNT,
    JSON.stringify(counts),
  );
});

test('a restart reads priority, penalties, fingerprint and group back from the provider', async () => {
  await using folder = createTempDir('shard-stamps');
  await using provider = await startProvider([
    '--addr=127.0.0.1:0',
    `--state=${path.join(folder.path, 'provider.json')}`,
    `--seed-count=${COUNT}`,
    '--work=20ms',
  ]);
  const argv = [
    `--data-dir=${path.join(folder.path, 'shard')}`,
    `--provider=kit=${provider.address}`,
  ];
  const first = await startShardProcess(argv);
  const before = await (async () => {
    await using operator = startOperator('blue', () => first.address);
    operator.cluster.want(3, 4_242);
    await serves(operator, 3);
    return stampsOf(await machinesOf(first.address));
  })();
  assert.equal(before.length, 3);
  for (const stamp of before) {
    assert.equal(stamp.assignedPriority, 4_242);
    assert.notEqual(stamp.needFingerprint, '');
  }
  first.process.signal('SIGKILL');
  await first.process.waitExit();
  // Nobody reports: whatever it knows, it has from the provider.
  await using second = await startShardProcess(argv);
  const after = await eventually(
    async () => {
      const found = stampsOf(await machinesOf(second.address));
      return found.length === 3 ? found : undefined;
    },
    { what: 'the machines are known again', everyMs: 100 },
  );
  assert.deepEqual(after, before);
  for (const kind of ['Bootstrap', 'Provision', 'Reclaim', 'Preempt', 'Delete']) {
    assert.equal(await metric(second, `bigfleet_shard_actions_total{kind="${kind}"}`), 0, kind);
  }
});

type Stamp = Pick<
  MachineView,
  | 'machineId'
  | 'assignedPriority'
  | 'interruptionPenaltyBucket'
  | 'reclamationPenaltyBucket'
  | 'needFingerprint'
  | 'group'
>;

function stampsOf(machines: ReadonlyMap<string, MachineView>): readonly Stamp[] {
  return [...machines.values()]
    .filter(({ clusterId }) => clusterId === 'blue')
    .map((view) => ({
      machineId: view.machineId,
      assignedPriority: view.assignedPriority,
      interruptionPenaltyBucket: view.interruptionPenaltyBucket,
      reclamationPenaltyBucket: view.reclamationPenaltyBucket,
      needFingerprint: view.needFingerprint,
      group: view.group,
    }))
    .toSorted((a, b) => (a.machineId < b.machineId ? -1 : 1));
}
