// The world of the kill loop: one provider that lives on, operators of two clusters whose demand
// grows and shrinks, and a shard that is started again and again on the same data directory.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CapacityProvider, type Client, createClient, MachineState } from '@bigfleet/wire';
import { createTempDir, eventually, type RunningProcess, sleep } from '../../toolkit/index.ts';
import { cycleOf, machinesOf } from '../query.ts';
import {
  dialShard,
  launchShard,
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from '../shard-process.ts';
import { type LedgerProvider, startLedgerProvider } from './ledger-provider.ts';
import { brokenEffects, type Effect, readEffects } from './effect-ledger.ts';

const POLL_MS = 100;
const MACHINE_COUNT = 48;

/** By machine id: its state and cluster. */
type View = ReadonlyMap<string, string>;

export class KillStage implements AsyncDisposable {
  readonly operators: readonly TestOperator[];
  readonly #opened: AsyncDisposableStack;
  readonly #calls: Client<typeof CapacityProvider>;
  readonly #shardArgv: readonly string[];
  readonly #dataDir: string;
  readonly #effects: string;
  readonly #wanted: number[] = [0, 0];
  #address = '';
  #epoch = 0;

  static async start(): Promise<KillStage> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(createTempDir('shard-kill'));
    const machineCount = MACHINE_COUNT;
    const provider = opening.use(await startLedgerProvider({ folder: folder.path, machineCount }));
    return new KillStage({ folder: folder.path, provider, opened: opening.move() });
  }

  private constructor(given: {
    readonly folder: string;
    readonly provider: LedgerProvider;
    readonly opened: AsyncDisposableStack;
  }) {
    this.#opened = given.opened;
    this.#effects = given.provider.effects;
    this.#dataDir = path.join(given.folder, 'shard');
    const channel = dialShard(given.provider.address);
    this.#opened.defer(() => channel.close());
    this.#calls = createClient(CapacityProvider, channel);
    this.#shardArgv = [
      `--data-dir=${this.#dataDir}`,
      `--provider=kit=${given.provider.address}`,
      // How fast is not the question here; the rails have tests of their own.
      '--reclaim-cap-fraction=0',
      '--log-level=info',
    ];
    this.operators = ['blue', 'green'].map((id) =>
      this.#opened.use(startOperator(id, () => this.#address)),
    );
  }

  wantedOf(at: number): number {
    return this.#wanted[at] ?? 0;
  }

  want(at: number, count: number): void {
    this.#wanted[at] = count;
    this.operators[at]?.cluster.want(count);
  }

  effects(): readonly Effect[] {
    return readEffects(this.#effects);
  }

  /** Until it serves; its epoch is higher than any before. */
  async startShard(): Promise<ShardProcess> {
    const shard = await startShardProcess(this.#shardArgv);
    assert.ok(shard.epoch > this.#epoch, `epoch ${shard.epoch} after ${this.#epoch}`);
    this.#epoch = shard.epoch;
    this.#address = shard.address;
    return shard;
  }

  /** A kill that finds the process at some point of its start. */
  async killWhileStarting(afterMs: number): Promise<void> {
    const child = await launchShard(this.#shardArgv);
    await sleep(afterMs);
    await kill(child);
    const text = await readFile(path.join(this.#dataDir, 'epoch'), 'utf8').catch(() => '0');
    const epoch = Number(text);
    assert.ok(epoch >= this.#epoch, `the epoch fell from ${this.#epoch} to ${epoch}`);
  }

  /** Cycles go on while time passes: operators keep changing their minds about nothing. */
  async work(forMs: number): Promise<void> {
    for (let leftMs = forMs; leftMs > 0; leftMs -= POLL_MS) {
      for (const { cluster } of this.operators) cluster.nudge();
      await sleep(Math.min(POLL_MS, leftMs));
    }
  }

  /** Demand is covered exactly, the shard knows what the provider knows, and nothing is under way. */
  async recovered(shard: ShardProcess): Promise<void> {
    let problem = '';
    let restedSince: number | undefined;
    await eventually(
      async () => {
        for (const { cluster } of this.operators) cluster.nudge();
        const cycle = await cycleOf(shard.address);
        problem = await this.#difference(shard.address);
        if (problem !== '') {
          restedSince = undefined;
          return false;
        }
        // An action that waits for its turn shows nowhere: two more whole cycles would have begun it.
        restedSince ??= cycle;
        return cycle >= restedSince + 2;
      },
      {
        what: 'recovered',
        everyMs: POLL_MS,
        details: () => `${problem}\n${shard.process.output.text()}`,
      },
    );
    assert.deepEqual(brokenEffects(this.effects()), []);
  }

  async #difference(address: string): Promise<string> {
    const theirs = await this.#providerView();
    const mine = await shardView(address);
    for (const [at, { session }] of this.operators.entries()) {
      if (!session.isConnected) return `operator ${at} is not connected`;
    }
    for (const [at, id] of ['blue', 'green'].entries()) {
      const count = [...theirs.values()].filter((each) => each === viewOf(id, BOUND)).length;
      if (count !== this.wantedOf(at)) return `${id} has ${count} and wants ${this.wantedOf(at)}`;
    }
    assert.equal(theirs.size, MACHINE_COUNT, 'the provider lost a machine');
    if (mine.size !== theirs.size) return `${mine.size} machines here, ${theirs.size} there`;
    for (const [id, view] of theirs) {
      if (!AT_REST.some((state) => view.startsWith(`${state} `))) return `${id} is ${view}`;
      if (mine.get(id) !== view) return `${id} is ${mine.get(id)} here, ${view} there`;
    }
    return '';
  }

  async #providerView(): Promise<View> {
    const { machines } = await this.#calls.list({});
    return new Map(machines.map(({ id, state, cluster }) => [id, viewOf(cluster, state)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}

const BOUND = MachineState.CONFIGURED;
const AT_REST = [MachineState.SPECULATIVE, MachineState.IDLE, BOUND];

/** The number of the state and the cluster. */
function viewOf(cluster: string, state: MachineState): string {
  return `${state} ${cluster}`;
}

async function shardView(address: string): Promise<View> {
  const machines = await machinesOf(address);
  return new Map([...machines].map(([id, { clusterId, state }]) => [id, viewOf(clusterId, state)]));
}

export async function kill(child: RunningProcess): Promise<void> {
  child.signal('SIGKILL');
  await child.waitExit();
}
