// The SIGKILL law: however often and whenever a provider is killed under load, every acknowledged
// mutation is there after the restart, no fence mark moved back, no operation id was given out
// twice, no record is lost.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createRandom } from '@bigfleet/base';
import { createTempDir, eventually, monotonicMs, sleep } from '../toolkit/index.ts';
import { dial, launchProvider, type ProviderClient, startProvider } from './child.ts';
import { OperationLedger, ShardLoad } from './shard-load.ts';

const MACHINE_COUNT = 40;
const MAX_LOAD_MS = 250;
/** Before a kill under load, however slow the machine. */
const MIN_MUTATIONS = 15;
const MAX_START_MS = 600;
/** One kill in this many hits a process that is still starting. */
const EARLY_KILL_EVERY = 5;

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: string;
  /** No further kill is begun after this. */
  readonly withinMs?: number;
}

export interface KillLoopReport {
  readonly killCount: number;
  readonly mutationCount: number;
  /** Configures that a kill interrupted for good: proof that kills hit work under way. */
  readonly interruptedCount: number;
}

export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopReport> {
  await using folder = createTempDir('sigkill');
  // The socket file that a killed process leaves behind must not stop the next one.
  const addr = `unix:${join(folder.path, 'p.sock')}`;
  const argv = [
    `--addr=${addr}`,
    `--state=${join(folder.path, 'state')}/`,
    `--seed-count=${MACHINE_COUNT}`,
    '--reconcile-interval=0',
    '--log-level=info',
  ];
  const random = createRandom(options.seed);
  const deadlineMs = monotonicMs() + (options.withinMs ?? Number.POSITIVE_INFINITY);
  const ledger = new OperationLedger();
  const shards = await createShards(argv, ledger);
  let killCount = 0;
  while (killCount < options.kills && monotonicMs() < deadlineMs) {
    if (random.below(EARLY_KILL_EVERY) === 0) {
      await killWhileStarting(argv, random.float() * MAX_START_MS);
    } else {
      await killUnderLoad(argv, shards, ledger, random.float() * MAX_LOAD_MS);
    }
    killCount += 1;
  }
  await checkAll(argv, shards);
  const interruptedCount = shards.reduce((sum, shard) => sum + shard.interruptedCount, 0);
  return { killCount, mutationCount: ledger.size, interruptedCount };
}

/** Two shards, each the owner of every second machine. */
async function createShards(
  argv: readonly string[],
  ledger: OperationLedger,
): Promise<readonly ShardLoad[]> {
  await using provider = await startProvider(argv);
  using client = dial(provider.address);
  const { machines } = await client.calls.list({});
  assert.equal(machines.length, MACHINE_COUNT);
  const ids = machines.map(({ id }) => id).toSorted();
  return [0, 1].map(
    (parity) =>
      new ShardLoad(
        `shard-${parity}`,
        ids.filter((_, index) => index % 2 === parity),
        ledger,
      ),
  );
}

async function killWhileStarting(argv: readonly string[], afterMs: number): Promise<void> {
  const child = await launchProvider(argv);
  await sleep(afterMs);
  await child.kill();
}

async function killUnderLoad(
  argv: readonly string[],
  shards: readonly ShardLoad[],
  ledger: OperationLedger,
  afterMs: number,
): Promise<void> {
  await using provider = await startProvider(argv);
  using client = dial(provider.address);
  await check(client, shards);
  const enough = ledger.size + MIN_MUTATIONS;
  let isOver = false;
  const load = Promise.all(shards.map((shard) => shard.run(client.calls))).finally(() => {
    isOver = true;
  });
  await eventually(() => isOver || ledger.size >= enough, { what: 'load', everyMs: 2 });
  await Promise.race([sleep(afterMs), load]);
  await provider.process.kill();
  await load;
}

async function checkAll(argv: readonly string[], shards: readonly ShardLoad[]): Promise<void> {
  await using provider = await startProvider(argv);
  using client = dial(provider.address);
  await check(client, shards);
}

async function check(client: ProviderClient, shards: readonly ShardLoad[]): Promise<void> {
  const { machines } = await client.calls.list({});
  assert.equal(new Set(machines.map(({ id }) => id)).size, MACHINE_COUNT, 'a record is lost');
  await Promise.all(shards.map((shard) => shard.check(client)));
}
