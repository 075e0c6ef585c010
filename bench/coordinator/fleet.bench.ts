// The largest fleet of the coordinator on SQLite: an iteration is one report of each of 200 shards,
// decoded, handled and answered, while nothing changes. The extras are what an operator waits for:
// state size, snapshot, restore, the first load of a new leader, a round of reports after a change
// that every shard must hear of, and the work between a shard's shortfall and the first instruction.

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { FleetState, restoreSnapshot, SnapshotExporter } from '@bigfleet/coordinator';
import {
  type BenchEntry,
  defineBench,
  type Extra,
  keep,
  measureRetained,
} from '../harness/index.ts';
import { anotherDomain, CLUSTERS, DOMAINS, fillFleet, SHARDS } from './fleet.ts';
import { type Leader, startLeader } from './leader.ts';
import { ModelShards, RIPE_AGE } from './model-shards.ts';

/** On the disk of the checkout: a temporary folder may be memory, where an fsync costs nothing. */
const RESULTS = join(import.meta.dirname, '..', 'results');
const MAX_ROWS = 100;
const runtime = realRuntime();

interface Stage {
  readonly folder: string;
  readonly leader: Leader;
  readonly shards: ModelShards;
  readonly fillMs: number;
  /** From nobody heard to everybody acting on the current assignment. */
  readonly settleMs: number;
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startMs = runtime.clock.monotonicMs();
  await work();
  return runtime.clock.monotonicMs() - startMs;
};

async function start(): Promise<Stage> {
  mkdirSync(RESULTS, { recursive: true });
  const folder = mkdtempSync(join(RESULTS, 'fleet-'));
  const leader = await startLeader(runtime, join(folder, 'data'));
  const fillMs = await timed(() => fillFleet(leader.ledger));
  const shards = new ModelShards(leader.desk);
  const settleMs = await timed(() => shards.settle());
  return { folder, leader, shards, fillMs, settleMs };
}

async function measureDisk({ folder, leader }: Stage): Promise<Extra> {
  const { store, log } = leader;
  const directory = join(folder, 'snapshots');
  const options = { runtime, store, log, directory, intervalMs: 3_600_000, retain: 1 };
  const snapshotMs = await timed(() => new SnapshotExporter(options).exportOnce());
  const source = join(directory, 'latest');
  const dataDir = join(folder, 'restored');
  const names = { nodeId: 'bench', raftAdvertise: 'bench:7791', store: 'auto' } as const;
  const restoreMs = await timed(() => restoreSnapshot({ source, dataDir, log, ...names }));
  let restored: Leader | undefined;
  const takeOverMs = await timed(async () => {
    restored = await startLeader(runtime, dataDir);
  });
  const found = restored?.ledger.state.domains().length;
  if (found !== DOMAINS) throw new Error(`the restored ledger has ${found} domains`);
  await restored?.stop();
  const snapshotBytes = statSync(join(source, 'state')).size;
  return { snapshotMs, restoreMs, takeOverMs, snapshotBytes };
}

async function measureHeap({ folder }: Stage): Promise<Extra> {
  const leader = await startLeader(runtime, join(folder, 'restored'));
  const { bytes } = await measureRetained(async () => {
    const held = await leader.store.campaign(new AbortController().signal);
    return new FleetState(await leader.store.load(held));
  });
  await leader.stop();
  return { heapBytes: bytes };
}

/** Every shard behind the same provider, and every other one too, must hear of a new domain. */
async function measureChange({ leader, shards }: Stage): Promise<Extra> {
  const result = await leader.ledger.apply(anotherDomain(0));
  if (result.kind !== 'applied') throw new Error(`a command was ${result.kind}`);
  let assigned = 0;
  const changeRoundMs = await timed(async () => {
    assigned = await shards.round();
  });
  if (assigned !== SHARDS) throw new Error(`${assigned} shards heard of a change`);
  const answerBytes = shards.answerBytes;
  await shards.settle();
  return { changeRoundMs, changeReportsPerSecond: (SHARDS * 1_000) / changeRoundMs, answerBytes };
}

/** The work alone: in production the pass waits for its interval and the donor for its report. */
async function measureInstruction({ leader, shards }: Stage): Promise<Extra> {
  let passMs = 0;
  let instructions = 0;
  const shortfallToInstructionMs = await timed(async () => {
    await shards.report(0, { age: RIPE_AGE });
    passMs = await timed(async () => {
      const plan = await leader.rebalancing.rebalancer.pass();
      if (plan.moves.length === 0) throw new Error('the pass found no donor');
    });
    for (let donor = 1; donor < SHARDS && instructions === 0; donor++) {
      instructions = (await shards.report(donor)).instructions.length;
    }
  });
  if (instructions === 0) throw new Error('nobody was instructed');
  return { shortfallToInstructionMs, passMs };
}

/** Every shard short of a hundred things at once: the most that one pass can be given. */
async function measureWorstPass({ leader, shards }: Stage): Promise<Extra> {
  await shards.round({ rows: MAX_ROWS, age: RIPE_AGE });
  const worstPassMs = await timed(async () => {
    keep(await leader.rebalancing.rebalancer.pass());
  });
  return { worstPassMs };
}

const entries: readonly BenchEntry[] = [
  defineBench<Stage>({
    name: 'coordinator/fleet',
    shape: { shards: SHARDS, domains: DOMAINS, clusters: CLUSTERS },
    warmup: 3,
    iterations: 30,
    opsPerIteration: SHARDS,
    measureAllocations: false,
    setup: start,
    observe: ({ leader: { ledger } }) => ({
      shards: ledger.state.shards().length,
      domains: ledger.state.domains().length,
      clusters: ledger.state.clusters().length,
    }),
    async iteration({ shards }) {
      const assigned = await shards.round();
      if (assigned > 0) throw new Error(`${assigned} answers changed something in a quiet fleet`);
    },
    async extras(stage, { p50Ms }) {
      const fillPerSecond = ((SHARDS + DOMAINS + CLUSTERS) * 1_000) / stage.fillMs;
      return {
        fillPerSecond,
        settleMs: stage.settleMs,
        reportsPerSecond: (SHARDS * 1_000) / p50Ms,
        ...(await measureDisk(stage)),
        ...(await measureHeap(stage)),
        ...(await measureChange(stage)),
        ...(await measureInstruction(stage)),
        ...(await measureWorstPass(stage)),
      };
    },
    async teardown({ folder, leader }) {
      await leader.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  }),
];

export default entries;
