// One seed from beginning to end. The storm: changing demand, lost hosts, partitions, resets, slow
// and lossy links, duplicated requests, crashes at random steps and at random times, an administrator
// who pauses the shard and resumes it. Then quiet,
// long enough for every hold and cool-down; then the still: steady demand, and no action at all.

import assert from 'node:assert/strict';
import { createRandom, type Random } from '@bigfleet/base';
import { stateName } from '@bigfleet/engine';
import type { MachineRecord } from '@bigfleet/providerkit';
import type { ListMode, RunningShard } from '@bigfleet/shard';
import { type FaultPlan, randomFaults, scriptedFaults } from '@bigfleet/wire/memory';
import type { Mutant } from './mutant.ts';
import { providerAddress } from './provider-process.ts';
import { SHARD_ADDRESS, SHARD_HOST } from './shard-process.ts';
import { hostsNamed, type Strike, World } from './world.ts';

const STORM_MS = 8_000;
/** Failed machines cool down for a minute, idle spot is held for another, and then it is enough. */
const QUIET_MS = 180_000;
const QUIET_STEP_MS = 7_000;
/** Two cycles of the shard at least, and one reconcile of every provider. */
const STILL_MS = 21_000;
const PRIORITIES = [100, 5_000] as const;
/** One seed of so many lists by cursor. */
const INCREMENTAL_ONE_OF = 3;
/** One of so many moments of the storm is spent under a pause. */
const PAUSED_ONE_OF = 5;

export interface SeedOptions {
  readonly seed: string;
  /** Default: drawn from the seed. */
  readonly strikes?: readonly Strike[];
  /** Without faults of the network and lost hosts: only the strikes. */
  readonly isPlain?: boolean;
  readonly mutant?: Mutant;
  readonly sink?: (line: string) => void;
}

export interface SeedSummary {
  readonly hash: string;
  readonly stepCount: number;
  /** Steps of the storm: where a strike can fall. */
  readonly stormStepCount: number;
  readonly operationCount: number;
  readonly lifeCount: number;
  readonly strikeCount: number;
  readonly cycleCount: number;
  readonly duplicateCount: number;
  readonly pauseCount: number;
  readonly listMode: ListMode;
  readonly hosts: readonly string[];
}

/** Rejects with every broken law and the end of the history. */
export async function runSeed(options: SeedOptions): Promise<SeedSummary> {
  const run = new SeedRun(options);
  try {
    return await run.run();
  } finally {
    run.world.close();
  }
}

class SeedRun {
  readonly world: World;
  readonly #random: Random;
  /** Of its own: what else happens is the same with and without pauses. */
  readonly #pauses: Random;
  readonly #isPlain: boolean;
  readonly #listMode: ListMode;

  constructor({ seed, strikes, isPlain = false, mutant, sink }: SeedOptions) {
    const random = createRandom(seed);
    const shape = random.stream('shape');
    const clusterCount = 1 + shape.below(2);
    const providerCount = 1 + shape.below(2);
    const slotsPerProvider = 2 + shape.below(2);
    const clusters = hostsNamed('c', clusterCount);
    const providers = hostsNamed('p', providerCount);
    const hosts = [...clusters, ...providers, SHARD_HOST];
    const isIncremental = random.stream('list').below(INCREMENTAL_ONE_OF) === 0;
    this.#listMode = isIncremental ? 'incremental' : 'full';
    this.#isPlain = isPlain;
    this.#random = random.stream('life');
    this.#pauses = random.stream('pauses');
    this.world = new World({
      seed,
      clusterCount,
      providerCount,
      slotsPerProvider,
      faults: isPlain ? scriptedFaults([]) : stormFaults(random, hosts, providers),
      strikes: strikes ?? randomStrikes(random.stream('strikes'), hosts),
      listMode: this.#listMode,
      mutant,
      ...(sink === undefined ? {} : { sink }),
    });
  }

  async run(): Promise<SeedSummary> {
    const { world } = this;
    while (world.time.nowMs < STORM_MS) {
      await world.time.runFor(100 + this.#random.below(1_500));
      this.#live();
      if (!this.#isPlain) world.shard.setPaused(this.#pauses.below(PAUSED_ONE_OF) === 0);
      this.#check();
    }
    const stormStepCount = world.witness.stepCount;
    world.calm();
    for (let quietMs = 0; quietMs < QUIET_MS; quietMs += QUIET_STEP_MS) {
      world.shard.setPaused(false);
      await world.time.runFor(QUIET_STEP_MS);
      this.#check();
      if (this.#difference() === undefined) break;
    }
    await this.#still();
    return {
      hash: world.log.hash(),
      stepCount: world.witness.stepCount,
      stormStepCount,
      operationCount: world.operationCount,
      lifeCount: world.processes().reduce((sum, { lifeCount }) => sum + lifeCount, 0),
      strikeCount: world.strikeCount,
      cycleCount: world.shard.judge?.cycleCount ?? 0,
      pauseCount: world.shard.pauseCount,
      duplicateCount: world.network.counters.duplicatedRequests,
      listMode: this.#listMode,
      hosts: world.processes().map(({ host }) => host),
    };
  }

  #live(): void {
    const { world } = this;
    const cluster = this.#oneOf(world.clusters);
    const joined = world.substrate.joinedMachines();
    if (this.#random.below(8) === 0 && joined.length > 0 && !this.#isPlain) {
      const machineId = this.#oneOf(joined);
      world
        .providerOf(machineId)
        .loseHost(machineId)
        .catch((error: unknown) => {
          world.witness.broken(`a lost host could not be told: ${String(error)}`);
        });
      return;
    }
    cluster.want(this.#random.below(4), this.#oneOf(PRIORITIES));
  }

  async #still(): Promise<void> {
    const { world } = this;
    assert.equal(this.#difference(), undefined, 'no convergence');
    const { judge } = world.shard;
    assert.ok(judge !== undefined);
    const { cycleCount, decidedCount } = judge;
    const { operationCount } = world;
    await world.time.runFor(STILL_MS);
    this.#check();
    assert.equal(this.#difference(), undefined, 'convergence did not last');
    assert.equal(world.shard.judge, judge, 'the shard restarted in the quiet');
    assert.ok(judge.cycleCount >= cycleCount + 2, 'the shard stopped to cycle');
    assert.equal(judge.decidedCount, decidedCount, 'actions at steady demand');
    assert.equal(world.operationCount, operationCount, 'operations at steady demand');
  }

  /** What still keeps the four views of the fleet from being one, or demand from being met. */
  #difference(): string | undefined {
    const { running } = this.world.shard;
    if (running === undefined) return 'the shard does not run';
    for (const { host, isConnected } of this.world.operators) {
      if (!isConnected) return `${host} is not connected`;
    }
    for (const book of this.world.books.values()) {
      for (const { record } of book.machines.values()) {
        const problem = this.#differenceOf(record, running);
        if (problem !== undefined) return problem;
      }
    }
    return this.#unserved();
  }

  #differenceOf(record: MachineRecord, { parts }: RunningShard): string | undefined {
    const { fleet } = parts.core;
    const { substrate } = this.world;
    const { id, state, cluster, host, capacityType } = record;
    const slot = fleet.inventory.slotOf(id);
    if (slot < 0) return `the shard does not know ${id}`;
    const mine = fleet.read(slot);
    const isSame = stateName(mine.state) === state && mine.cluster === cluster;
    if (!isSame) return `${id}: ${stateName(mine.state)} ${mine.cluster} ≠ ${state} ${cluster}`;
    const isAtRest = ['Speculative', 'Idle', 'Configured'].includes(state);
    if (!isAtRest || fleet.pendingOf(slot) !== 'none') return `${id} is not at rest in ${state}`;
    if (state === 'Idle' && capacityType === 'Spot') return `${id} is held`;
    const isTrue =
      substrate.hostRefOf(id) === host?.ref && substrate.clusterOf(id) === record.cluster;
    return isTrue ? undefined : `${id}: the substrate is not as its provider says`;
  }

  #unserved(): string | undefined {
    const { clusters, slotCount } = this.world;
    for (const { id, wantedCount, nodeCount } of clusters) {
      if (nodeCount > wantedCount) return `${id} has ${nodeCount} nodes and wants ${wantedCount}`;
    }
    const wanted = clusters.reduce((sum, { wantedCount }) => sum + wantedCount, 0);
    const given = clusters.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
    const due = Math.min(wanted, slotCount);
    return given === due ? undefined : `${given} machines serve where ${due} should`;
  }

  #check(): void {
    assert.deepEqual(this.world.witness.breaches, []);
  }

  #oneOf<T>(values: readonly T[]): T {
    const value = values[this.#random.below(values.length)];
    assert.ok(value !== undefined);
    return value;
  }
}

function stormFaults(
  random: Random,
  hosts: readonly string[],
  providers: readonly string[],
): FaultPlan {
  return randomFaults(random.stream('faults'), {
    hosts,
    addresses: [SHARD_ADDRESS, ...providers.map(providerAddress)],
    untilMs: STORM_MS,
    everyMs: 1_700,
    maxFaultMs: 4_000,
    duplicates: true,
  });
}

function randomStrikes(random: Random, hosts: readonly string[]): readonly Strike[] {
  return Array.from({ length: random.below(4) }, () => ({
    step: 1 + random.below(300),
    host: hosts[random.below(hosts.length)] ?? SHARD_HOST,
    downMs: 1 + random.below(2_000),
  }));
}
