// Commands per second through the whole apply path on SQLite, one in flight, on a real disk. The
// reference is the same transaction with the same bytes on bare node:sqlite: what deciding,
// encoding, guarding and installing cost on top of the disk.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { type ApplyQueue, openLedger, SqliteStore } from '@bigfleet/coordinator';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { type BenchEntry, compareInterleaved, defineBench } from '../harness/index.ts';
import { BareSqlite } from './bare-sqlite.ts';

const OPS = 64;
const ROUNDS = 40;
/** On the disk of the checkout: a temporary folder may be memory, where an fsync costs nothing. */
const RESULTS = join(import.meta.dirname, '..', 'results');
const runtime = realRuntime();

interface Sides {
  readonly folder: string;
  readonly store: SqliteStore;
  readonly ledger: ApplyQueue;
  readonly bare: BareSqlite;
  readonly rowsBefore: number;
  next: number;
}

async function start(folder: string): Promise<Sides> {
  const store = new SqliteStore({
    runtime,
    dataDir: join(folder, 'ours'),
    nodeId: 'bench',
    grpcAddress: 'bench:7790',
    bootstrap: true,
  });
  await store.open();
  const leadership = await store.campaign(new AbortController().signal);
  const log = createLogger({ clock: runtime.clock, sink: captureSink() });
  const ledger = await openLedger({ runtime, store, leadership, log });
  await ledger.apply({ kind: 'AddShard', id: 'shard-0', address: 'h:1', registeredAtMs: 1 });
  const bare = new BareSqlite(join(folder, 'bare.db'));
  return { folder, store, ledger, bare, rowsBefore: ledger.state.domains().length, next: 0 };
}

async function applyOurs(sides: Sides): Promise<void> {
  for (let op = 0; op < OPS; op++) {
    const domain = { key: 'topology.kubernetes.io/rack', value: `rack-${sides.next++}` };
    const result = await sides.ledger.apply({ kind: 'AssignDomain', domain, shard: 'shard-0' });
    if (result.kind !== 'applied') throw new Error(`a command was ${result.kind}`);
  }
}

const entries: readonly BenchEntry[] = [
  defineBench<Sides>({
    name: 'coordinator/apply-sqlite',
    shape: { inFlight: 1, rowsPerCommand: 1 },
    warmup: 5,
    iterations: 50,
    opsPerIteration: OPS,
    measureAllocations: false,
    bars: { 'extra.ratio': { min: 0.7 } },
    async setup() {
      mkdirSync(RESULTS, { recursive: true });
      const sides = await start(mkdtempSync(join(RESULTS, 'apply-')));
      await applyOurs(sides);
      return sides;
    },
    observe: ({ ledger, rowsBefore }) => ({
      inFlight: ledger.queued + 1,
      rowsPerCommand: (ledger.state.domains().length - rowsBefore) / OPS,
    }),
    iteration: applyOurs,
    extras: (sides) =>
      compareInterleaved({
        ours: () => applyOurs(sides),
        reference: () => sides.bare.apply(OPS),
        rounds: ROUNDS,
        opsPerRound: OPS,
      }),
    async teardown({ folder, store, ledger, bare }) {
      await ledger.close();
      await store.close();
      bare.close();
      rmSync(folder, { recursive: true, force: true });
    },
  }),
];

export default entries;
