// 5,000 operators connected and silent: what an idle mTLS session costs a shard in memory, how long
// it takes until all are open, and what a call beside them takes. Each operator has its own TLS
// connection; certificates are shared among them, because minting one each would take longer than
// the bench. Recorded, without a bar.

import { realRuntime } from '@bigfleet/base/real';
import {
  type Channel,
  type Client,
  createClient,
  createGrpcChannel,
  Health,
  tlsFromFlags,
} from '@bigfleet/wire';
import { type BenchEntry, defineBench, keep } from '../harness/index.ts';
import { percentiles } from '../harness/percentiles.ts';
import type { PemFiles } from './child-order.ts';
import { DIALLING_COUNT } from './stream-clients.ts';
import type { ServerMemory, StreamCounts } from './stream-counts.ts';
import { type Opened, StreamFleet } from './stream-fleet.ts';

const STREAM_COUNT = 5_000;

interface Built {
  readonly opened: Opened;
  readonly counts: StreamCounts;
  readonly before: ServerMemory;
  readonly after: ServerMemory;
}

interface State extends Built {
  readonly fleet: StreamFleet;
  readonly channel: Channel;
  readonly probe: Client<typeof Health>;
}

async function build(fleet: StreamFleet, seed: number): Promise<State> {
  const address = await fleet.startServer(seed);
  const before = await fleet.memory();
  const opened = await fleet.open(address, STREAM_COUNT);
  const counts = await fleet.count();
  const after = await fleet.memory();
  const channel = dialProbe(address, fleet.operatorTls);
  const probe = createClient(Health, channel);
  return { fleet, opened, counts, before, after, channel, probe };
}

function dialProbe(target: string, files: PemFiles): Channel {
  const tls = tlsFromFlags({ ...files, requireTls: true });
  if (tls === 'plaintext') throw new Error('the probe must be mTLS');
  const serverIdentity = { kind: 'shard' } as const;
  return createGrpcChannel({ runtime: realRuntime(), target, tls, serverIdentity });
}

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'wire/streams-5k',
    shape: { streams: STREAM_COUNT, connections: STREAM_COUNT, acknowledged: STREAM_COUNT },
    warmup: 100,
    iterations: 500,
    measureAllocations: false,
    timeoutMs: 120_000,
    async setup({ seed }) {
      const fleet = new StreamFleet();
      return build(fleet, seed).catch(async (error: unknown) => {
        await fleet.close();
        throw error;
      });
    },
    observe({ counts, opened }) {
      return { ...counts, acknowledged: opened.eachMs.length };
    },
    /** A health check on a connection of its own, beside all the idle ones. */
    async iteration({ probe }) {
      keep(await probe.check({}));
    },
    async extras({ fleet, opened, before, after }) {
      const { streams } = await fleet.count();
      const lostCount = await fleet.countLost();
      if (streams !== STREAM_COUNT || lostCount > 0) {
        throw new Error(`${streams} streams are left, the clients lost ${lostCount}`);
      }
      const { p50, p99, max } = percentiles(opened.eachMs);
      return {
        openMs: opened.totalMs,
        openP50Ms: p50,
        openP99Ms: p99,
        openMaxMs: max,
        opensPerSecond: (STREAM_COUNT * 1_000) / opened.totalMs,
        openConcurrency: fleet.clientProcessCount * DIALLING_COUNT,
        clientProcesses: fleet.clientProcessCount,
        bytesPerStream: (after.rssBytes - before.rssBytes) / STREAM_COUNT,
        liveBytesPerStream: (after.liveBytes - before.liveBytes) / STREAM_COUNT,
        serverRssBytes: after.rssBytes,
        serverRssBytesBefore: before.rssBytes,
      };
    },
    async teardown({ fleet, channel }) {
      channel.close();
      await fleet.close();
    },
  }),
];

export default entries;
