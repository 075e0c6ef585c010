// What an incremental reconcile costs the shard after 1,000 changes, in a small fleet and in one a
// hundred times larger: over real gRPC, in the reconcile thread as in a shard, from the question to
// the last write. It must follow the changes, not the machines that exist.

import { realRuntime } from '@bigfleet/base/real';
import { decodeShardMetadata, Inventory } from '@bigfleet/engine';
import {
  dialProvider,
  type IngestBatch,
  KnownMachines,
  type LocalMarks,
  ProviderSource,
  type RefreshOutcome,
  WorkerScans,
} from '@bigfleet/shard';
import { tlsFromFlags, TokenSource } from '@bigfleet/wire';
import { type BenchEntry, defineBench, defineRatio, keep } from '../harness/index.ts';
import { Stage } from './stage.ts';

const CHANGES = 1_000;
const MAX_SLOWDOWN = 2;

interface Reconcile {
  readonly stage: Stage;
  readonly source: ProviderSource;
  readonly scans: WorkerScans;
  readonly inventory: Inventory;
  readonly view: KnownMachines;
  readonly fullMs: number;
  nowMs: number;
}

const noMarks: LocalMarks = {
  pendingOf: () => 'none',
  failedHereAtMs: () => undefined,
  isTouched: () => false,
};

async function start(shape: string): Promise<Reconcile> {
  const stage = new Stage({ shape, clusters: [] });
  try {
    await stage.startProvider();
    const tls = tlsFromFlags({ ...stage.shardTls, requireTls: true });
    if (tls === 'plaintext') throw new Error('the provider is dialled with mTLS');
    const runtime = realRuntime();
    const address = stage.providerAddress;
    const fencing = new TokenSource('shard-0', 1n);
    const { provider } = dialProvider({ runtime, address, tls, fencing });
    const onLost = (error: Error): void => {
      throw error;
    };
    const scans = new WorkerScans({ runtime, tls, onLost });
    const { asker } = scans.connect(address);
    const source = new ProviderSource({ name: 'bench', provider, mode: 'incremental', asker });
    const inventory = new Inventory({ isIndexed: false });
    const view = new KnownMachines(inventory, noMarks);
    const state = { stage, source, scans, inventory, view, fullMs: 0, nowMs: 1 };
    const startMs = performance.now();
    await refresh(state);
    return { ...state, fullMs: performance.now() - startMs };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

function refresh({ source, inventory, view, nowMs }: Reconcile): Promise<RefreshOutcome> {
  return source.refresh({
    known: view,
    nowMs,
    readAssignment: decodeShardMetadata,
    apply: ({ changes }: IngestBatch) => {
      for (const change of changes) {
        if (change.kind === 'removed') throw new Error(`${change.before.id} is gone`);
        inventory.put(change.machine, nowMs);
      }
    },
  });
}

function reconcileBench(size: string, machines: number): BenchEntry {
  return defineBench<Reconcile>({
    name: `shard/reconcile/${size}`,
    shape: { machines },
    warmup: 10,
    iterations: 100,
    measureAllocations: false,
    setup: () => start(`idle-${size}`),
    observe: ({ inventory }) => ({ machines: inventory.size }),
    async prepare(state) {
      state.nowMs += 1;
      await state.stage.provider?.askNumber('change', CHANGES);
    },
    async iteration(state) {
      const outcome = await refresh(state);
      const { list } = outcome.kind === 'refreshed' ? outcome : { list: 'none' };
      if (list !== 'delta') throw new Error(`a ${list} List, ${outcome.kind}`);
      keep(outcome);
    },
    extras: ({ fullMs }) => ({ firstFullMs: fullMs }),
    teardown: async ({ stage, scans }) => {
      await scans.close();
      await stage.close();
    },
  });
}

const entries: readonly BenchEntry[] = [
  reconcileBench('5k', 5_000),
  reconcileBench('500k', 500_000),
  defineRatio({
    of: 'shard/reconcile/500k',
    over: 'shard/reconcile/5k',
    metric: 'p50Ms',
    as: 'slowdown',
    bar: { max: MAX_SLOWDOWN },
  }),
];

export default entries;
