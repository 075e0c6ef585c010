// The memory of one dashboard that mirrors fifty shards (dashboard §4: at most 1 GiB, with an hour of decision
// records): `bigfleet dashboard` as a process with its default flags, mTLS to fifty shards that one process plays
// (fifty-shards/played-fleet.ts), 10,000 machines and 1,000 needs each. An iteration is one cycle of every shard,
// read by the dashboard up to a few frames; as many as an hour has. The kernel says what the process holds.
//
// `hour` has a cycle every ten seconds, the pace of a shard with nothing urgent; `busy-hour` one every two.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DashboardProcess,
  startDashboardProcess,
} from '../../test/dashboard/dashboard-process.ts';
import { CertificateAuthority, createTempDir, http } from '../../test/toolkit/index.ts';
import { type BenchEntry, defineBench, type Extra } from '../harness/index.ts';
import { PeerProcess } from '../harness/peer-process.ts';
import type { PemFiles } from '../shard/order.ts';
import type { PlayedOrder } from './fifty-shards/played-fleet.ts';

const PLAYED = new URL('./fifty-shards/played-fleet.ts', import.meta.url);
const SHARDS = 50;
const CLUSTERS = 250;
const MACHINES_PER_SHARD = 10_000;
const NEEDS_PER_SHARD = 1_000;
const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;
/** Collections that follow what was just taken in. */
const REST_MS = 15_000;
const THERE_WITHIN_MS = 600_000;
const POLL_MS = 250;
const TIMEOUT_MS = 2_700_000;
const LOCAL = { dnsNames: ['localhost'], ips: ['127.0.0.1'] } as const;

interface Memory {
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
}

class Mirrored {
  readonly #played: PeerProcess;
  readonly #dashboard: DashboardProcess;
  readonly #owned: AsyncDisposableStack;
  readonly counts: Readonly<Record<string, number>>;
  readonly #atRest: Memory;
  readonly #cycles: number;

  private constructor(
    parts: { played: PeerProcess; dashboard: DashboardProcess; owned: AsyncDisposableStack },
    counts: Readonly<Record<string, number>>,
    atRest: Memory,
    cycles: number,
  ) {
    this.#played = parts.played;
    this.#dashboard = parts.dashboard;
    this.#owned = parts.owned;
    this.counts = counts;
    this.#atRest = atRest;
    this.#cycles = cycles;
  }

  static async start(cycles: number): Promise<Mirrored> {
    await using stack = new AsyncDisposableStack();
    const folder = stack.use(createTempDir('fifty-shards'));
    const { reader, shards } = await mint(folder.path);
    const order: PlayedOrder = {
      shards: SHARDS,
      clusters: CLUSTERS,
      machines: SHARDS * MACHINES_PER_SHARD,
      needsPerShard: NEEDS_PER_SHARD,
      tls: shards,
      cycleMs: HOUR_MS / cycles,
      cycles,
      endMs: Date.now(),
    };
    const played = new PeerProcess({ child: PLAYED, order });
    stack.defer(() => played.stop());
    const addresses = (await played.ask('addresses', 0, THERE_WITHIN_MS)) as readonly string[];
    const dashboard = stack.use(
      await startDashboardProcess(
        ...addresses.map((address) => `--shard=${address}`),
        `--tls-cert=${reader.cert}`,
        `--tls-key=${reader.key}`,
        `--tls-ca=${reader.ca}`,
      ),
    );
    await untilThere(dashboard, ({ live, machines }) => live === SHARDS && machines > 0);
    await sleep(REST_MS);
    const seen = await stateOf(dashboard);
    const counts = {
      shards: await played.askNumber('shardCount'),
      liveShards: seen.live,
      machines: seen.machines,
      needs: seen.needs,
    };
    const atRest = await memoryOf(dashboard);
    return new Mirrored({ played, dashboard, owned: stack.move() }, counts, atRest, cycles);
  }

  async cycle(): Promise<void> {
    await this.#played.askNumber('cycle');
  }

  async measure(): Promise<Extra> {
    const { live } = await untilThere(
      this.#dashboard,
      ({ cycles }) => cycles.length === SHARDS && cycles.every((cycle) => cycle === this.#cycles),
    );
    if (live !== SHARDS) throw new Error(`${live} shards are live after the hour`);
    const right = await memoryOf(this.#dashboard);
    await sleep(REST_MS);
    const after = await memoryOf(this.#dashboard);
    const recordCount = await this.#played.askNumber('recordCount');
    // A record and its dispositions.
    if (recordCount !== 2 * SHARDS * this.#cycles) throw new Error(`${recordCount} records`);
    const model = await metrics(this.#dashboard);
    const machines = model('bigfleet_dashboard_machines');
    if (machines !== this.counts['machines']) throw new Error(`${machines} machines in the end`);
    const bytesOf = (part: string): number =>
      model(`bigfleet_dashboard_model_bytes{part="${part}"}`);
    return {
      ...prefixed('atRest', this.#atRest),
      ...prefixed('rightAfter', right),
      ...prefixed('afterHour', after),
      recordCount,
      recordBytesTold: await this.#played.askNumber('recordBytes'),
      frameBytesTold: await this.#played.askNumber('frameBytes'),
      decisionsTold: model('bigfleet_dashboard_events_total{event="decision"}'),
      columnBytes: bytesOf('columns'),
      historyBytes: bytesOf('history'),
      recordBytes: bytesOf('records'),
      needsAfterHour: model('bigfleet_dashboard_needs'),
      heapBytesPerMachine: after.heapBytes / machines,
    };
  }

  close(): Promise<void> {
    return this.#owned.disposeAsync();
  }
}

function prefixed(name: string, memory: Memory): Extra {
  return Object.fromEntries(
    Object.entries(memory).map(([key, value]) => [
      `${name}${key[0]?.toUpperCase()}${key.slice(1)}`,
      value,
    ]),
  );
}

interface Seen {
  readonly live: number;
  readonly machines: number;
  readonly needs: number;
  readonly cycles: readonly number[];
}

async function untilThere(
  dashboard: DashboardProcess,
  isThere: (seen: Seen) => boolean,
): Promise<Seen> {
  const deadlineMs = performance.now() + THERE_WITHIN_MS;
  for (;;) {
    const seen = await stateOf(dashboard);
    if (isThere(seen)) return seen;
    if (performance.now() > deadlineMs) {
      throw new Error(`the dashboard did not come so far: ${JSON.stringify(seen)}`);
    }
    await sleep(POLL_MS);
  }
}

async function stateOf(dashboard: DashboardProcess): Promise<Seen> {
  const { body } = await http({ url: `${dashboard.url}/api/v1/shards` });
  const { shards } = JSON.parse(body) as { readonly shards: readonly { readonly cycle: number }[] };
  const value = await metrics(dashboard);
  return {
    live: value('bigfleet_dashboard_sources{kind="shard",state="live"}'),
    machines: value('bigfleet_dashboard_machines'),
    needs: value('bigfleet_dashboard_needs'),
    cycles: shards.map(({ cycle }) => cycle),
  };
}

async function metrics({ url }: DashboardProcess): Promise<(series: string) => number> {
  const { body } = await http({ url: `${url}/metrics` });
  const lines = body.split('\n');
  return (series) => {
    const line = lines.find((each) => each.startsWith(`${series} `));
    if (line === undefined) throw new Error(`the dashboard has no series ${series}`);
    return Number(line.slice(series.length + 1));
  };
}

async function memoryOf(dashboard: DashboardProcess): Promise<Memory> {
  const status = readFileSync(`/proc/${dashboard.running.pid}/status`, 'utf8');
  const kilobytes = (name: string): number =>
    1_024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  const value = await metrics(dashboard);
  return {
    rssBytes: kilobytes('VmRSS'),
    peakRssBytes: kilobytes('VmHWM'),
    heapBytes: value('nodejs_heap_size_used_bytes{thread="main"}'),
    externalBytes: value('nodejs_external_memory_bytes{thread="main"}'),
  };
}

interface Minted {
  readonly reader: PemFiles;
  readonly shards: readonly PemFiles[];
}

async function mint(folder: string): Promise<Minted> {
  const ca = await CertificateAuthority.root();
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'ca.crt'), ca.caPem);
  const leaf = async (name: string, uri: string): Promise<PemFiles> => {
    const { certPem, keyPem } = await ca.leaf({ ...LOCAL, uris: [uri] });
    const at = (end: string): string => path.join(folder, `${name}.${end}`);
    writeFileSync(at('crt'), certPem);
    writeFileSync(at('key'), keyPem, { mode: 0o600 });
    return { cert: at('crt'), key: at('key'), ca: path.join(folder, 'ca.crt') };
  };
  const shards: PemFiles[] = [];
  for (let at = 0; at < SHARDS; at++) {
    const name = `shard-${String(at).padStart(3, '0')}`;
    shards.push(await leaf(name, `bigfleet://shard/${name}`));
  }
  return { reader: await leaf('reader', 'bigfleet://readonly'), shards };
}

function hourBench(name: string, cycles: number): BenchEntry {
  return defineBench<Mirrored>({
    name,
    shape: {
      shards: SHARDS,
      liveShards: SHARDS,
      machines: SHARDS * MACHINES_PER_SHARD,
      needs: { min: SHARDS * NEEDS_PER_SHARD },
    },
    warmup: 0,
    iterations: cycles,
    bars: {
      'extra.afterHourRssBytes': { max: GIB },
      'extra.afterHourPeakRssBytes': { max: GIB },
    },
    measureAllocations: false,
    timeoutMs: TIMEOUT_MS,
    setup: () => Mirrored.start(cycles),
    observe: ({ counts }) => counts,
    iteration: (mirrored) => mirrored.cycle(),
    extras: (mirrored) => mirrored.measure(),
    teardown: (mirrored) => mirrored.close(),
  });
}

const entries: readonly BenchEntry[] = [
  hourBench('dashboard/fifty-shards/hour', 360),
  hourBench('dashboard/fifty-shards/busy-hour', 1_800),
];

export default entries;
