// Pods in a reflector beside the common client's own informer: the time of a first list, of a list again,
// and the memory that each keeps. Both read the same server, which runs in a process of its own; each side
// has a process that does nothing else. An iteration is a list again by ours.

import { type BenchEntry, defineBench, type Extra, type ShapeRule } from '../harness/index.ts';
import { median } from '../harness/percentiles.ts';
import type { ClientMemory, ClientOrder, SyncReport } from './client-order.ts';
import { type ClientProcess, Stage } from './stage.ts';

const COLD_ROUNDS = 3;
const RESYNC_ROUNDS = 3;

interface State {
  readonly stage: Stage;
  readonly ours: ClientProcess;
  readonly counts: Readonly<Record<string, number>>;
  readonly resyncs: SyncReport[];
}

interface ColdStart {
  readonly sync: SyncReport;
  readonly memory: ClientMemory;
}

async function setup(seed: number, pods: number): Promise<State> {
  const stage = await Stage.start({ seed, pods, requests: 0 });
  const ours = stage.client('ours');
  const { size } = await ours.sync();
  const listBytes = await stage.server.askNumber('podListBytes');
  const counts = {
    pods: await stage.server.askNumber('podCount'),
    cached: size,
    bytesPerPod: Math.round(listBytes / pods),
  };
  return { stage, ours, counts, resyncs: [] };
}

/** A process that has just started: what an operator costs its cluster. */
async function coldStart(stage: Stage, side: ClientOrder['side']): Promise<ColdStart> {
  const client = stage.client(side);
  const sync = await client.sync();
  const memory = await client.memory();
  await stage.stop(client);
  return { sync, memory };
}

async function compare({ stage, ours, counts, resyncs }: State): Promise<Extra> {
  const starts = { ours: [] as ColdStart[], reference: [] as ColdStart[] };
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const order =
      round % 2 === 0 ? (['ours', 'reference'] as const) : (['reference', 'ours'] as const);
    for (const side of order) starts[side].push(await coldStart(stage, side));
  }
  for (const { sync } of [...starts.ours, ...starts.reference]) {
    if (sync.size !== counts['pods']) throw new Error(`${sync.size} Pods in a cache`);
  }
  const again = { ours: [] as SyncReport[], reference: [] as SyncReport[] };
  const reference = stage.client('reference');
  await reference.sync();
  for (let round = 0; round < RESYNC_ROUNDS; round++) {
    again.ours.push(await ours.resync());
    again.reference.push(await reference.resync());
  }
  await stage.stop(reference);
  const of = (reports: readonly SyncReport[], what: keyof SyncReport): number =>
    median(reports.map((report) => report[what]));
  const memoryOf = (side: keyof typeof starts, what: keyof ClientMemory): number =>
    median(starts[side].map(({ memory }) => memory[what]));
  const syncOf = (side: keyof typeof starts): readonly SyncReport[] =>
    starts[side].map(({ sync }) => sync);
  const ratios = {
    syncRatio: of(syncOf('reference'), 'ms') / of(syncOf('ours'), 'ms'),
    resyncRatio: of(again.reference, 'ms') / of(again.ours, 'ms'),
    syncCpuRatio: of(syncOf('reference'), 'cpuMs') / of(syncOf('ours'), 'cpuMs'),
    resyncCpuRatio: of(again.reference, 'cpuMs') / of(again.ours, 'cpuMs'),
    rssRatio: memoryOf('reference', 'rssBytes') / memoryOf('ours', 'rssBytes'),
    heapRatio: memoryOf('reference', 'heapBytes') / memoryOf('ours', 'heapBytes'),
    peakRssRatio: memoryOf('reference', 'peakRssBytes') / memoryOf('ours', 'peakRssBytes'),
  };
  return {
    ...ratios,
    oursSyncCpuMs: of(syncOf('ours'), 'cpuMs'),
    referenceSyncCpuMs: of(syncOf('reference'), 'cpuMs'),
    oursSyncMs: of(syncOf('ours'), 'ms'),
    referenceSyncMs: of(syncOf('reference'), 'ms'),
    oursResyncMs: of(again.ours, 'ms'),
    referenceResyncMs: of(again.reference, 'ms'),
    oursRssBytes: memoryOf('ours', 'rssBytes'),
    referenceRssBytes: memoryOf('reference', 'rssBytes'),
    oursHeapBytes: memoryOf('ours', 'heapBytes'),
    referenceHeapBytes: memoryOf('reference', 'heapBytes'),
    oursPeakRssBytes: memoryOf('ours', 'peakRssBytes'),
    referencePeakRssBytes: memoryOf('reference', 'peakRssBytes'),
    oursLagP99Ms: of(resyncs, 'lagP99Ms'),
    oursLagMaxMs: Math.max(...resyncs.map(({ lagMaxMs }) => lagMaxMs)),
    referenceLagMaxMs: Math.max(...again.reference.map(({ lagMaxMs }) => lagMaxMs)),
  };
}

interface Size {
  readonly name: string;
  readonly pods: number;
  readonly iterations: number;
  /** Where the process itself weighs more than what it keeps, memory says little. */
  readonly hasMemoryGoal: boolean;
}

function reflectorBench({ name, pods, iterations, hasMemoryGoal }: Size): BenchEntry {
  const bytesPerPod: ShapeRule = { min: 2_000, max: 5_000 };
  return defineBench<State>({
    name: `kube/reflector/${name}`,
    shape: { pods, cached: pods, bytesPerPod },
    warmup: 1,
    iterations,
    timeoutMs: 1_800_000,
    measureAllocations: false,
    bars: {
      'extra.syncRatio': { min: 2 },
      'extra.resyncRatio': { min: 2 },
      ...(hasMemoryGoal ? { 'extra.rssRatio': { min: 3 }, 'extra.heapRatio': { min: 3 } } : {}),
    },
    setup: ({ seed }) => setup(seed, pods),
    observe: ({ counts }) => counts,
    async iteration({ ours, resyncs }) {
      resyncs.push(await ours.resync());
    },
    extras: compare,
    teardown: ({ stage }) => stage.end(),
  });
}

const entries: readonly BenchEntry[] = [
  reflectorBench({ name: '10k', pods: 10_000, iterations: 10, hasMemoryGoal: false }),
  reflectorBench({ name: '100k', pods: 100_000, iterations: 5, hasMemoryGoal: true }),
];

export default entries;
