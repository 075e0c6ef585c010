// Commands per second through the whole apply path on a real etcd (one member, fsync on), one in
// flight. The reference is the same transaction with the same bytes and guards through the generated
// service on a bare channel: what deciding, encoding, guarding and installing cost on top of etcd.

import { realRuntime } from '@bigfleet/base/real';
import { type ApplyQueue, openLedger } from '@bigfleet/coordinator';
import { EtcdClient, EtcdStore } from '@bigfleet/coordinator/etcd';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { startEtcd } from '../../test/etcd/binaries.ts';
import type { EtcdCluster } from '../../test/toolkit/index.ts';
import { type BenchEntry, compareInterleaved, defineBench } from '../harness/index.ts';
import { BareEtcd } from './bare-etcd.ts';

const OPS = 32;
const ROUNDS = 30;
const runtime = realRuntime();

interface Sides {
  readonly etcd: EtcdCluster;
  readonly store: EtcdStore;
  readonly ledger: ApplyQueue;
  readonly bare: BareEtcd;
  readonly rowsBefore: number;
  next: number;
}

async function start(): Promise<Sides> {
  const etcd = await startEtcd(1);
  const store = new EtcdStore({
    runtime,
    client: new EtcdClient({ runtime, endpoints: etcd.endpoints }),
    nodeId: 'bench',
    grpcAddress: 'bench:7790',
    peerAddress: '',
    version: 'bench',
    bootstrap: true,
    holdsNodeLock: true,
  });
  await store.open();
  const leadership = await store.campaign(new AbortController().signal);
  const log = createLogger({ clock: runtime.clock, sink: captureSink() });
  const ledger = await openLedger({ runtime, store, leadership, log });
  await ledger.apply({ kind: 'AddShard', id: 'shard-0', address: 'h:1', registeredAtMs: 1 });
  const bare = new BareEtcd(runtime, etcd.member(0).endpoint.url, '/bare/');
  await bare.start();
  return { etcd, store, ledger, bare, rowsBefore: ledger.state.domains().length, next: 0 };
}

async function applyOurs(sides: Sides): Promise<void> {
  for (let op = 0; op < OPS; op += 1) {
    const domain = { key: 'topology.kubernetes.io/rack', value: `rack-${sides.next++}` };
    const result = await sides.ledger.apply({ kind: 'AssignDomain', domain, shard: 'shard-0' });
    if (result.kind !== 'applied') throw new Error(`a command was ${result.kind}`);
  }
}

const entries: readonly BenchEntry[] = [
  defineBench<Sides>({
    name: 'coordinator/apply-etcd',
    shape: { inFlight: 1, rowsPerCommand: 1 },
    warmup: 3,
    iterations: 20,
    opsPerIteration: OPS,
    measureAllocations: false,
    bars: { 'extra.ratio': { min: 0.7 } },
    async setup() {
      const sides = await start();
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
    async teardown({ etcd, store, ledger, bare }) {
      await ledger.close();
      await store.close();
      bare.close();
      await etcd.stop();
    },
  }),
];

export default entries;
