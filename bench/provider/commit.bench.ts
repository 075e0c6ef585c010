// Durable transitions per second with 64 calls at once, through the real kit and journal on a real
// disk. A transition is two commits, its acceptance and its end, so one group commit more or less
// shows twice. The reference is the same code with one commit per fsync.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createJournalStore, type JournalLimits } from '@bigfleet/providerkit';
import { type BenchEntry, compareInterleaved, defineBench } from '../harness/index.ts';
import { KitFleet, runtime } from './kit-fleet.ts';

const IN_FLIGHT = 64;
const ROUNDS = 30;
/** On the disk of the checkout: a temporary folder may be memory, where an fsync costs nothing. */
const RESULTS = join(import.meta.dirname, '..', 'results');
const ONE_PER_FSYNC: Partial<JournalLimits> = { maxBatchBytes: 1 };

interface Side {
  readonly fleet: KitFleet;
  readonly batches: number[];
  next: 'create' | 'delete';
}

interface Sides {
  readonly folder: string;
  readonly grouped: Side;
  readonly single: Side;
}

async function startSide(path: string, limits: Partial<JournalLimits>): Promise<Side> {
  const batches: number[] = [];
  const store = createJournalStore({
    path,
    runtime,
    limits,
    observer: { onCommitted: ({ commitCount }) => batches.push(commitCount) },
  });
  return { fleet: await KitFleet.start(IN_FLIGHT, store), batches, next: 'create' };
}

/** Every machine takes one step; the next round takes it back. */
async function round(side: Side): Promise<void> {
  await side.fleet.transition(side.next, side.fleet.ids);
  side.next = side.next === 'create' ? 'delete' : 'create';
}

const entries: readonly BenchEntry[] = [
  defineBench<Sides>({
    name: 'provider/commit',
    shape: { inFlight: IN_FLIGHT, commitsPerFsyncOfReference: 1 },
    warmup: 10,
    iterations: 100,
    opsPerIteration: IN_FLIGHT,
    measureAllocations: false,
    bars: { 'extra.ratio': { min: 5 } },
    async setup() {
      mkdirSync(RESULTS, { recursive: true });
      const folder = mkdtempSync(join(RESULTS, 'commit-'));
      const grouped = await startSide(join(folder, 'grouped', 'state.json'), {});
      const single = await startSide(join(folder, 'single', 'state.json'), ONE_PER_FSYNC);
      await round(single);
      return { folder, grouped, single };
    },
    observe: ({ grouped, single }) => ({
      inFlight: grouped.fleet.ids.length,
      commitsPerFsyncOfReference: Math.max(...single.batches.slice(1)),
    }),
    iteration: ({ grouped }) => round(grouped),
    async extras({ grouped, single }) {
      const compared = await compareInterleaved({
        ours: () => round(grouped),
        reference: () => round(single),
        rounds: ROUNDS,
        opsPerRound: IN_FLIGHT,
      });
      const { batches } = grouped;
      const commits = batches.reduce((sum, count) => sum + count, 0);
      return { ...compared, commitsPerFsync: commits / batches.length };
    },
    async teardown({ folder, grouped, single }) {
      await grouped.fleet.stop();
      await single.fleet.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  }),
];

export default entries;
