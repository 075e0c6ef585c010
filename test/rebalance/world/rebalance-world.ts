// A coordinator on SQLite, two shards and the provider that they share, all real processes, with one
// cluster at each shard. Left is short of what right has. Processes may be killed and started again on
// their data; the provider and its journal of calls stay.

import assert from 'node:assert/strict';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
  MachineState,
  type TransferRecord,
  TransferRecordPhase,
} from '@bigfleet/wire';
import { machinesOf } from '../../shard/query.ts';
import { startOperator, type TestOperator } from '../../shard/shard-process.ts';
import {
  ATTEMPT_MS,
  createTempDir,
  eventually,
  type EventuallyOptions,
  http,
  leasePorts,
  type RunningProcess,
} from '../../toolkit/index.ts';
import { foreignActs, readActs } from './acts.ts';
import type { FleetHost } from './fleet-host.ts';
import { LEFT_ZONE, parkMachines, RIGHT_ZONE } from './park.ts';
import {
  type Endpoint,
  type ShardSpec,
  startCoordinator,
  startShard,
  startSharedProvider,
} from './processes.ts';
import { pulse } from './workload.ts';

const HOST = '127.0.0.1';
const POLL_MS = 150;
const ZONE_KEY = 'topology.kubernetes.io/zone';
export const SHARED = 'shared';
export const REGION = 'here';

export type Side = 'left' | 'right';
export type Victim = Side | 'coordinator';
const SIDES: readonly Side[] = ['left', 'right'];

export class RebalanceWorld implements AsyncDisposable {
  readonly clusters: Readonly<Record<Side, TestOperator>>;
  readonly coordinator: Client<typeof Coordinator>;
  readonly admin: Client<typeof CoordinatorAdmin>;
  readonly #opened: AsyncDisposableStack;
  readonly #dir: string;
  readonly #acts: string;
  readonly #endpoint: Endpoint;
  readonly #shards: Readonly<Record<Side, ShardSpec>>;
  readonly #processes = new Map<Victim, RunningProcess>();

  /** Ready: both shards own their zone. */
  static async start(host: FleetHost): Promise<RebalanceWorld> {
    await using opening = new AsyncDisposableStack();
    const dir = opening.use(createTempDir('rebalance')).path;
    const ports = await leasePorts(6);
    for (const lease of ports) opening.use(lease);
    const acts = path.join(dir, 'acts');
    const { process: provider, address } = await startSharedProvider(host, acts);
    opening.use(provider);
    const at = (first: number): Endpoint => ({
      address: `${HOST}:${ports[first]?.port}`,
      metricsAddress: `${HOST}:${ports[first + 1]?.port}`,
    });
    const endpoint = at(0);
    const shard = (id: string, first: number): ShardSpec => ({
      ...at(first),
      id,
      coordinator: endpoint.address,
      provider: address,
    });
    const shards = { left: shard('shard-left', 2), right: shard('shard-right', 4) };
    const world = new RebalanceWorld({ dir, acts, endpoint, shards, opened: opening.move() });
    try {
      await world.#open();
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(given: {
    readonly dir: string;
    readonly acts: string;
    readonly endpoint: Endpoint;
    readonly shards: Readonly<Record<Side, ShardSpec>>;
    readonly opened: AsyncDisposableStack;
  }) {
    this.#dir = given.dir;
    this.#acts = given.acts;
    this.#endpoint = given.endpoint;
    this.#shards = given.shards;
    this.#opened = given.opened;
    const channel = createGrpcChannel({
      runtime: realRuntime(),
      target: given.endpoint.address,
      unaryDeadlineMs: ATTEMPT_MS,
      reconnectBackoffMs: { initial: 20, max: 100 },
    });
    this.#opened.defer(() => channel.close());
    this.#opened.defer(async () => {
      for (const running of this.#processes.values()) await running[Symbol.asyncDispose]();
    });
    this.coordinator = createClient(Coordinator, channel);
    this.admin = createClient(CoordinatorAdmin, channel);
    const operator = (side: Side): TestOperator =>
      this.#opened.use(startOperator(side, () => this.#shards[side].address));
    this.clusters = { left: operator('left'), right: operator('right') };
  }

  async start(what: Victim): Promise<void> {
    const starting =
      what === 'coordinator'
        ? startCoordinator(this.#endpoint, this.#dir)
        : startShard(this.#shards[what], this.#dir);
    this.#processes.set(what, await starting);
  }

  async kill(what: Victim): Promise<void> {
    const running = this.#processes.get(what);
    assert.ok(running !== undefined, `${what} was started`);
    running.signal('SIGKILL');
    await running.waitExit();
  }

  shardId(side: Side): string {
    return this.#shards[side].id;
  }

  async transfers(): Promise<readonly TransferRecord[]> {
    const { transfers } = await this.admin.listTransfers({ includeClosed: true });
    return transfers;
  }

  /** The value of the one series that starts so, or the sum of them. */
  async metric(of: Victim, name: string): Promise<number> {
    const { metricsAddress } = of === 'coordinator' ? this.#endpoint : this.#shards[of];
    const { body } = await http({ url: `http://${metricsAddress}/metrics` });
    const lines = body.split('\n').filter((line) => line.startsWith(name));
    assert.ok(lines.length > 0, `${name} is a metric of ${of}`);
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }

  configured(side: Side, instanceType: string): readonly string[] {
    const bound = this.clusters[side].cluster.machinesIn(MachineState.CONFIGURED);
    return bound.filter((id) => id.startsWith(`${instanceType}/`));
  }

  /** Polls while cycles go on at both shards. */
  async until<T>(
    what: string,
    poll: () => Promise<T | false | undefined> | T | false | undefined,
    more: Partial<EventuallyOptions> = {},
  ): Promise<T> {
    return await eventually(
      async () => {
        this.pulse();
        return await poll();
      },
      { what, everyMs: POLL_MS, details: () => this.#lastLines(), ...more },
    );
  }

  /** A change that costs nothing: both shards run a cycle soon. */
  pulse(): void {
    for (const side of SIDES) pulse(this.clusters[side].cluster);
  }

  /** Every machine is one shard's, and the provider was never asked by another one. */
  async assertOneOwner(): Promise<void> {
    const machines = parkMachines().map(({ id }) => id);
    const owned = async (): Promise<readonly string[]> => {
      const found = await Promise.all(SIDES.map((side) => machinesOf(this.#shards[side].address)));
      return found.flatMap((each) => [...each.keys()]);
    };
    // A donor lists what it froze until it hears that it is gone.
    await this.until('every machine has one owner', async () => {
      assert.deepEqual((await owned()).toSorted(), machines.toSorted());
      return true;
    });
    const handovers = (await this.transfers())
      .filter(({ phase }) => phase !== TransferRecordPhase.ABORTED)
      .toSorted((a, b) => Number(a.createdAtUnixNs - b.createdAtUnixNs))
      .map(({ fromShardId: from, toShardId: to, machineIds }) => ({ from, to, machineIds }));
    const acts = readActs(this.#acts);
    assert.ok(acts.length > 0, 'the provider was asked for something');
    assert.deepEqual(foreignActs(acts, handovers), []);
  }

  /** Without demand: what the provider's home takes into use before the zones are told, it keeps. */
  async #open(): Promise<void> {
    await this.start('coordinator');
    await Promise.all(SIDES.map((side) => this.start(side)));
    await this.#untilOpen('both shards are known', async () => {
      const { shards } = await this.coordinator.listShards({});
      return shards.length === SIDES.length;
    });
    const zones = { left: LEFT_ZONE, right: RIGHT_ZONE };
    for (const side of SIDES) {
      await this.coordinator.assignDomain({
        topologyKey: ZONE_KEY,
        topologyValue: zones[side],
        shardId: this.shardId(side),
      });
    }
    const counts = {
      left: parkMachines().filter(({ zone }) => zone === LEFT_ZONE).length,
      right: parkMachines().filter(({ zone }) => zone === RIGHT_ZONE).length,
    };
    await this.#untilOpen('each shard owns its zone', async () => {
      const found = await Promise.all(SIDES.map((side) => machinesOf(this.#shards[side].address)));
      return SIDES.every((side, at) => found[at]?.size === counts[side]);
    });
  }

  async #untilOpen(what: string, poll: () => Promise<boolean>): Promise<void> {
    const details = (): string => this.#lastLines();
    await eventually(poll, { what, everyMs: POLL_MS, details });
  }

  #lastLines(): string {
    const texts = [...this.#processes].map(
      ([name, { output }]) => `${name}:\n${output.text().split('\n').slice(-25).join('\n')}`,
    );
    return texts.join('\n');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}
