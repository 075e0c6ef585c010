// Proves on real processes that registering a provider connects it (coordinator §7.5, shard §13): an
// entry that was there before a shard and one that comes after its first report are both dialled; an
// entry for one shard is dialled by nobody else, and one for all never makes a machine two shards'; a
// provider in use is deregistered by force only, and then keeps what is bound; and a shard that
// restarts while no coordinator runs finds its providers.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { MachineState, RpcError } from '@bigfleet/wire';
import { createTempDir, eventually } from '../../toolkit/index.ts';
import { type ProviderProcess, startProvider } from '../../provider/child.ts';
import { startLedgerProvider } from '../../shard/kill/ledger-provider.ts';
import { machinesOf } from '../../shard/query.ts';
import {
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from '../../shard/shard-process.ts';
import type { CoordinatorProcess } from '../failover/coordinator-process.ts';
import { planLone } from '../failover/lone-coordinator.ts';

const EVERY_MS = 200;
const COUNT = 4;
const OUTPUT_CHARS = 3_000;

/** By provider: its machines that the shard knows. */
async function holdings(shard: ShardProcess): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const [id, { provider }] of await machinesOf(shard.address)) {
    found.set(provider, (found.get(provider) ?? new Set()).add(id));
  }
  return found;
}

class World {
  readonly folder: string;
  readonly lone: CoordinatorProcess;
  readonly #opened: AsyncDisposableStack;
  readonly #shards: ShardProcess[] = [];

  static async open(opened: AsyncDisposableStack): Promise<World> {
    const folder = opened.use(createTempDir('registry'));
    const lone = await planLone({ folder: folder.path }, opened);
    await lone.start();
    await lone.waitReady();
    return new World(folder.path, lone, opened);
  }

  private constructor(folder: string, lone: CoordinatorProcess, opened: AsyncDisposableStack) {
    this.folder = folder;
    this.lone = lone;
    this.#opened = opened;
  }

  async provider(name: string): Promise<ProviderProcess> {
    const state = path.join(this.folder, `${name}.json`);
    const argv = ['--addr=127.0.0.1:0', `--state=${state}`, `--seed-count=${COUNT}`, '--work=20ms'];
    return this.#opened.use(await startProvider(argv));
  }

  async shard(shardId: string, argv: readonly string[] = []): Promise<ShardProcess> {
    const shard = await startShardProcess([
      ...argv,
      `--id=${shardId}`,
      `--data-dir=${path.join(this.folder, shardId)}`,
      `--coordinator-addr=${this.lone.address}`,
      '--coordinator-heartbeat-interval=500ms',
    ]);
    this.#shards.push(shard);
    return this.#opened.use(shard);
  }

  /** What the shards said last is part of every failure. */
  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const details = (): string =>
      this.#shards.map(({ process: { output } }) => output.text().slice(-OUTPUT_CHARS)).join('\n');
    await eventually(isSo, { what, everyMs: EVERY_MS, details });
  }

  async serves(operator: TestOperator, count: number): Promise<void> {
    await this.until(`${count} machines serve`, async () => {
      operator.cluster.nudge();
      return operator.cluster.machinesIn(MachineState.CONFIGURED).length === count;
    });
  }

  async register(name: string, address: string, shards: string[]): Promise<void> {
    const provider = { name, address, region: 'here', declaredQuota: 0, shards };
    await this.lone.admin.registerProvider({ provider });
  }

  async untilReported(shardId: string): Promise<void> {
    await this.until(`${shardId} is registered`, async () => {
      const { shards } = await this.lone.coordinator.listShards({});
      return shards.some((each) => each.shardId === shardId);
    });
  }
}

test('the registry connects shards to providers', async (t) => {
  await using opened = new AsyncDisposableStack();
  const world = await World.open(opened);
  // Of two kinds: their machines have ids of their own.
  const own = opened.use(await startLedgerProvider({ folder: world.folder, machineCount: COUNT }));
  const common = await world.provider('common');
  const first = await world.shard('first');
  await world.untilReported('first');

  await t.test('an entry after the first report, for one shard', async () => {
    assert.equal((await holdings(first)).size, 0);
    await world.register('own', own.address, ['first']);
    await world.until('the new entry is dialled', async () => (await holdings(first)).has('own'));
    assert.equal((await holdings(first)).get('own')?.size, COUNT);
  });

  const operator = opened.use(startOperator('blue', () => first.address));
  await t.test('its machines serve', async () => {
    operator.cluster.want(2);
    await world.serves(operator, 2);
  });

  await t.test('an entry for all, and a shard that comes after it', async () => {
    await world.register('common', common.address, []);
    const second = await world.shard('second');
    const commonOf = async (shard: ShardProcess): Promise<ReadonlySet<string>> =>
      (await holdings(shard)).get('common') ?? new Set();
    // Kept, not asserted, in the poll: a failure there would only be polled again.
    const owners = new Map<string, Set<string>>();
    await world.until('every machine of it has an owner', async () => {
      const [a, b] = [await commonOf(first), await commonOf(second)];
      for (const id of a) owners.set(id, (owners.get(id) ?? new Set()).add('first'));
      for (const id of b) owners.set(id, (owners.get(id) ?? new Set()).add('second'));
      return a.size + b.size === COUNT;
    });
    assert.deepEqual(
      [...owners.values()].map((shards) => shards.size),
      Array.from({ length: COUNT }, () => 1),
      'one owner each, at every look',
    );
    assert.equal((await holdings(second)).has('own'), false, 'an entry for another shard');
  });

  await t.test('a provider in use is deregistered by force only', async () => {
    await assert.rejects(
      world.lone.admin.deregisterProvider({ name: 'own', force: false }),
      (error) => error instanceof RpcError && /in use by first/.test(error.message),
    );
    const { providers } = await world.lone.coordinator.listProviders({});
    assert.deepEqual(providers.map(({ name }) => name).sort(), ['common', 'own']);
  });

  await world.lone.process.kill();
  await t.test('without a coordinator a restarted shard finds its providers', async () => {
    await first.process.kill();
    const again = await world.shard('first', [`--listen=${first.address}`]);
    await world.until('its machines are back', async () => {
      return (await holdings(again)).get('own')?.size === COUNT;
    });
    operator.cluster.want(3);
    await world.serves(operator, 3);
  });

  await t.test('deregistered by force: what is bound stays bound', async () => {
    await world.lone.start();
    await world.lone.waitReady();
    await world.until('the shard reports again', async () => {
      const { reports } = await world.lone.coordinator.listShardReports({ shardId: 'first' });
      return reports.length > 0;
    });
    await world.lone.admin.deregisterProvider({ name: 'own', force: true });
    await world.until('its free machines are let go', async () => {
      operator.cluster.nudge();
      return (await holdings(first)).get('own')?.size === 3;
    });
    const bound = [...(await machinesOf(first.address)).values()].filter(
      ({ clusterId, provider }) => clusterId === 'blue' && provider === 'own',
    );
    assert.equal(bound.length, 3);
    await world.serves(operator, 3);
  });
});
