// What the incremental Lists of ten shards cost after 1,000 changes, in a small fleet and in one a
// hundred times larger: it must follow the changes, not the machines that exist. What is left of a
// difference is memory: changed records of the large fleet are in nobody's cache.

import { MemoryStore } from '@bigfleet/providerkit';
import { type BenchEntry, defineBench, defineRatio, keep } from '../harness/index.ts';
import { KitFleet, machineListOf } from './kit-fleet.ts';

const CHANGE_COUNT = 1_000;
const SHARD_COUNT = 10;
const MAX_SLOWDOWN = 2;

interface Delta {
  readonly fleet: KitFleet;
  readonly machineCount: number;
  /** Spread over the whole fleet. */
  readonly changing: readonly string[];
  cursor: Uint8Array;
  answer: Uint8Array | undefined;
  next: 'create' | 'delete';
}

async function start(machineCount: number): Promise<Delta> {
  const fleet = await KitFleet.start(machineCount, new MemoryStore());
  const all = machineListOf(await fleet.list(new Uint8Array()));
  const stride = machineCount / CHANGE_COUNT;
  const changing = fleet.ids.filter((_, index) => index % stride === 0);
  return {
    fleet,
    machineCount: all.machines.length,
    changing,
    cursor: all.revision,
    answer: undefined,
    next: 'create',
  };
}

/** Checks what the last iteration answered, then makes the next changes. */
async function change(delta: Delta): Promise<void> {
  if (delta.answer !== undefined) {
    const { machines, revision } = machineListOf(delta.answer);
    if (machines.length !== CHANGE_COUNT) throw new Error(`${machines.length} machines in a delta`);
    delta.cursor = revision;
  }
  await delta.fleet.transition(delta.next, delta.changing);
  delta.next = delta.next === 'create' ? 'delete' : 'create';
}

function listDelta(size: string, machineCount: number): BenchEntry {
  return defineBench<Delta>({
    name: `provider/list-delta/${size}`,
    shape: { machines: machineCount, changes: CHANGE_COUNT },
    warmup: 10,
    iterations: 60,
    opsPerIteration: SHARD_COUNT,
    measureAllocations: false,
    setup: () => start(machineCount),
    observe: ({ machineCount: machines, changing }) => ({ machines, changes: changing.length }),
    prepare: change,
    async iteration(delta) {
      for (let shard = 0; shard < SHARD_COUNT; shard++) {
        delta.answer = await delta.fleet.list(delta.cursor);
        keep(delta.answer);
      }
    },
    extras: (delta) => ({ deltaBytes: delta.answer?.length ?? 0 }),
    teardown: ({ fleet }) => fleet.stop(),
  });
}

const entries: readonly BenchEntry[] = [
  listDelta('5k', 5_000),
  listDelta('500k', 500_000),
  defineRatio({
    of: 'provider/list-delta/500k',
    over: 'provider/list-delta/5k',
    metric: 'p50Ms',
    as: 'slowdown',
    bar: { max: MAX_SLOWDOWN },
  }),
];

export default entries;
