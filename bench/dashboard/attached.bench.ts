// What one attached dashboard costs a shard (dashboard §4: at most 1 % of the cycle time). `bigfleet shard`
// under the load of bench/shard, and a reader in a process of its own that asks what a dashboard asks: one that
// reads at once, and one that rests after every frame. Phases with and without a reader alternate in one run
// (attached/phases.ts). Compared are the shard's whole cycle, from its raw samples, and the processor time
// of its process, all threads, per cycle: a feed that no cycle waits for is still paid for.
//
// An iteration is a tick of the load, as in bench/shard; every phase has as many. After a reader left, the shard
// keeps its cursor of use for 256 cycles and goes on building deltas: these cycles belong to no phase.

import { setTimeout as sleep } from 'node:timers/promises';
import { clusterNames } from '../engine/fleet.ts';
import { LOCAL_5K } from '../engine/local-5k.ts';
import {
  type Bars,
  type BenchEntry,
  defineBench,
  type Extra,
  type ShapeRule,
} from '../harness/index.ts';
import { PeerProcess } from '../harness/peer-process.ts';
import type { ShardProcess } from '../shard/shard-process.ts';
import { Stage } from '../shard/stage.ts';
import type { FrameCounts } from './attached/feed-reader.ts';
import { comparePhases, phaseOrder, type Side } from './attached/phases.ts';

const READER = new URL('./attached/feed-reader.ts', import.meta.url);
const WARMUP_TICKS = 60;
const PHASE_TICKS = 60;
/** Fewer than six claim no interval. */
const ROUNDS = 6;
/** The least distance of two cycles: as many ticks as cycles. */
const TICK_MS = 100;
/** While a reader attaches: the log of 256 deltas must outlast the snapshot of half a million machines. */
const ATTACH_TICK_MS = 1_000;
/** How long a cursor is of use to a reader that comes back (packages/shard/src/read/feed/feed.ts), and some. */
const FORGOTTEN_AFTER_CYCLES = 260;
/** After each frame: the feed brings several times as many as such a reader takes. */
const SLOW_PAUSE_MS = 250;
const SETTLE_TICKS = 10;
const ATTACH_WITHIN_MS = 600_000;
const TIMEOUT_MS = 2_700_000;
const ORDER = phaseOrder(ROUNDS);

type Seen = FrameCounts & {
  readonly bytes: number;
  readonly machines: number;
  readonly needs: number;
  readonly storedReads: number;
};

interface Phase {
  readonly side: Side;
  readonly fromMs: number;
  toMs: number;
  cpuMs: number;
  cycles: number;
  /** What the reader had got when the phase began, and in it. */
  seen: Seen;
}

interface AttachPlan {
  readonly name: string;
  readonly shape: string;
  readonly clusters: number;
  /** What the operators are asked for. */
  readonly tick: string;
  readonly counts: Readonly<Record<string, ShapeRule>>;
  readonly bars: Bars;
  /** A slow reader comes to the end of a snapshot before its phase begins. */
  readonly isSlowWhole: boolean;
}

class Run {
  readonly #plan: AttachPlan;
  readonly #stage: Stage;
  readonly #shard: ShardProcess;
  readonly #reader: PeerProcess;
  readonly counts: Readonly<Record<string, number>>;
  readonly #phases: Phase[] = [];
  readonly #attachCpuMs: number[] = [];
  #attached: Side = 'detached';
  #ticks = 0;
  #nextMs = performance.now();

  private constructor(
    plan: AttachPlan,
    parts: { stage: Stage; shard: ShardProcess; reader: PeerProcess },
    counts: Readonly<Record<string, number>>,
  ) {
    this.#plan = plan;
    this.#stage = parts.stage;
    this.#shard = parts.shard;
    this.#reader = parts.reader;
    this.counts = counts;
  }

  static async start(plan: AttachPlan): Promise<Run> {
    const stage = new Stage({ shape: plan.shape, clusters: clusterNames(plan.clusters) });
    let reader: PeerProcess | undefined;
    try {
      await stage.startProvider();
      const shard = stage.startShard();
      await shard.started();
      await stage.startOperators(shard.address);
      await shard.quiet();
      const order = { target: shard.address, tls: stage.readerTls };
      reader = new PeerProcess({ child: READER, order });
      const counts = {
        machines: await shard.total('bigfleet_shard_inventory_machines'),
        sessions: await shard.metric('bigfleet_shard_active_sessions'),
        needs: await shard.metric('bigfleet_shard_need_rows'),
        phases: ORDER.length,
      };
      const run = new Run(plan, { stage, shard, reader }, counts);
      await run.#drive(() => Promise.resolve(run.#ticks >= WARMUP_TICKS));
      return run;
    } catch (error) {
      await reader?.stop();
      await stage.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#reader.stop();
    await this.#stage.close();
  }

  /** Before the timed iteration: the tick's moment, and at the border of two phases what lies between them. */
  async prepare(index: number): Promise<void> {
    if (index % PHASE_TICKS === 0) await this.#nextPhase(index / PHASE_TICKS);
    await this.#pace();
  }

  async tick(): Promise<void> {
    await this.#stage.count(this.#plan.tick, this.#ticks++);
  }

  async measure(): Promise<Extra> {
    await this.#endPhase();
    await this.#detach();
    const lostCount = await this.#stage.count('lostCount');
    const mismatches = await this.#shard.metric('bigfleet_shard_incremental_mismatch_total');
    if (lostCount > 0 || mismatches > 0) {
      throw new Error(`${lostCount} sessions lost, ${mismatches} mismatches`);
    }
    const samples = await this.#shard.samplesIn('cycle', this.#phases);
    const lagged = await this.#shard.metric('bigfleet_shard_feed_lagged_total');
    for (const phase of this.#phases) assertPhase(phase);
    const fast = this.#phases.filter(({ side }) => side === 'fast');
    const cycles = fast.reduce((sum, phase) => sum + phase.cycles, 0);
    return {
      ...comparePhases(
        this.#phases.map(({ side, cpuMs, cycles: count }, at) => ({
          side,
          cpuMsPerCycle: cpuMs / count,
          cyclesMs: samples[at] ?? new Float64Array(),
        })),
      ),
      /** With the cycles meanwhile: until snapshot and stored records were read. */
      attachCpuMs: Math.min(...this.#attachCpuMs),
      attachCpuMsMax: Math.max(...this.#attachCpuMs),
      fastBytesPerCycle: fast.reduce((sum, { seen }) => sum + seen.bytes, 0) / cycles,
      lagged,
      /** With a fast reader that fell behind all the same: a snapshot is in them. */
      fastBehindPhases: fast.filter(({ seen }) => seen.snapshot + seen.lagged > 0).length,
      shardRssBytes: this.#shard.rssBytes(),
      shardPeakRssBytes: this.#shard.peakRssBytes(),
    };
  }

  async #nextPhase(at: number): Promise<void> {
    const side = ORDER[at];
    if (side === undefined) throw new Error(`more iterations than phases: ${at}`);
    await this.#endPhase();
    if (side === 'detached') await this.#leave();
    else await this.#attach(side);
    const { cpuMs, cycles } = await this.#used();
    const seen = await this.#seen();
    this.#phases.push({ side, fromMs: Date.now(), toMs: 0, cpuMs: -cpuMs, cycles: -cycles, seen });
  }

  async #endPhase(): Promise<void> {
    const phase = this.#phases.at(-1);
    if (phase === undefined || phase.toMs > 0) return;
    phase.toMs = Date.now();
    const { cpuMs, cycles } = await this.#used();
    phase.cpuMs += cpuMs;
    phase.cycles += cycles;
    const seen = await this.#seen();
    const got = Object.entries(phase.seen).map(([name, before]) => {
      // Rows of the last snapshot are no sum.
      const isTotal = name === 'machines' || name === 'needs';
      return [name, seen[name as keyof Seen] - (isTotal ? 0 : before)];
    });
    phase.seen = Object.fromEntries(got) as Seen;
  }

  /** Until nothing of the reader is left: neither its stream nor what the shard kept for its return. */
  async #leave(): Promise<void> {
    const wasAttached = this.#attached !== 'detached';
    await this.#detach();
    const first = (await this.#used()).cycles;
    if (!wasAttached) return;
    await this.#drive(async () => (await this.#used()).cycles >= first + FORGOTTEN_AFTER_CYCLES);
    const readers = await this.#shard.metric('bigfleet_shard_feed_readers');
    if (readers !== 0) throw new Error(`${readers} readers in a phase without one`);
  }

  async #detach(): Promise<void> {
    if (this.#attached !== 'detached') await this.#reader.ask('detach');
    this.#attached = 'detached';
  }

  /**
   * Until it follows: the snapshot and the stored records are what attaching costs, once. A slow reader of half
   * a million machines is in its snapshot for longer than any phase.
   */
  async #attach(side: 'fast' | 'slow'): Promise<void> {
    const unattached = await this.#used();
    await this.#reader.ask('attach', side === 'slow' ? SLOW_PAUSE_MS : 0);
    this.#attached = side;
    const isWhole = side === 'fast' || this.#plan.isSlowWhole;
    let before: Seen | undefined;
    // Whoever fell behind while it read stored records gets a second snapshot: that is attaching too.
    const isThere = (now: Seen): boolean => {
      const isFollowing = now.delta > (before?.delta ?? 0) && now.snapshot === before?.snapshot;
      before = now;
      return isWhole ? now.storedReads > 0 && isFollowing : now.snapshot > SETTLE_TICKS;
    };
    await this.#drive(async () => isThere(await this.#seen()), ATTACH_TICK_MS);
    const after = await this.#used();
    if (side === 'fast') this.#attachCpuMs.push(after.cpuMs - unattached.cpuMs);
  }

  /** The load, outside of any phase. */
  async #drive(isDone: () => Promise<boolean>, tickMs = TICK_MS): Promise<void> {
    const deadlineMs = performance.now() + ATTACH_WITHIN_MS;
    while (!(await isDone())) {
      if (performance.now() > deadlineMs) throw new Error('the next phase does not come');
      for (let tick = 0; tick < SETTLE_TICKS; tick++) {
        await this.#pace(tickMs);
        await this.tick();
      }
    }
  }

  async #pace(tickMs = TICK_MS): Promise<void> {
    this.#nextMs = Math.max(this.#nextMs + tickMs, performance.now());
    await sleep(Math.max(1, this.#nextMs - performance.now()));
  }

  async #used(): Promise<{ readonly cpuMs: number; readonly cycles: number }> {
    const cpuMs = 1_000 * (await this.#shard.metric('process_cpu_seconds_total'));
    return { cpuMs, cycles: await this.#shard.metric('bigfleet_shard_cycles_total') };
  }

  async #seen(): Promise<Seen> {
    return (await this.#reader.ask('seen')) as Seen;
  }
}

/** A phase that is not what it says would compare a shard with itself. */
function assertPhase({ side, cycles, seen }: Phase): void {
  const { delta, record, snapshot, machines } = seen;
  const problems: string[] = [];
  if (cycles < PHASE_TICKS / 2) problems.push(`${cycles} cycles in ${PHASE_TICKS} ticks`);
  if (side === 'detached' && delta + record + snapshot > 0) problems.push('frames were read');
  if (side === 'fast') {
    if (machines === 0) problems.push('no whole snapshot');
    // A build that cannot keep up merges cycles.
    if (delta > cycles + 1) problems.push(`${delta} deltas of ${cycles} cycles`);
    if (delta + snapshot === 0) problems.push('nothing was read');
    if (record < delta) problems.push(`${record} records, ${delta} deltas`);
  }
  if (side === 'slow' && delta + record + snapshot === 0) problems.push('nothing was read');
  if (problems.length > 0) throw new Error(`a phase ${side}: ${problems.join('; ')}`);
}

function attachBench(plan: AttachPlan): BenchEntry {
  return defineBench<Run>({
    name: plan.name,
    shape: { ...plan.counts, phases: 4 * ROUNDS + 1 },
    // Warmed up by the start: an index then counts from the first phase.
    warmup: 0,
    iterations: PHASE_TICKS * ORDER.length,
    bars: plan.bars,
    measureAllocations: false,
    timeoutMs: TIMEOUT_MS,
    setup: () => Run.start(plan),
    observe: ({ counts }) => counts,
    prepare: (run, index) => run.prepare(index),
    iteration: (run) => run.tick(),
    extras: (run) => run.measure(),
    teardown: (run) => run.close(),
  });
}

const LOCAL_NEEDS = LOCAL_5K.clusters * (2 + LOCAL_5K.cacheGangs + LOCAL_5K.trainingGangs);
const BUDGET: Bars = {
  'extra.fastCycleRatio': { max: 1.01 },
  'extra.slowCycleRatio': { max: 1.01 },
  'extra.fastBehindPhases': { max: 0 },
};

const entries: readonly BenchEntry[] = [
  attachBench({
    name: 'dashboard/attached/local-5k',
    shape: 'local-5k',
    clusters: LOCAL_5K.clusters,
    tick: 'tick',
    isSlowWhole: true,
    counts: { machines: 5_000, sessions: LOCAL_5K.clusters, needs: LOCAL_NEEDS },
    bars: BUDGET,
  }),
  attachBench({
    name: 'dashboard/attached/500k',
    shape: 'steady-500k',
    clusters: 50,
    tick: 'steadyTick',
    isSlowWhole: false,
    counts: { machines: 500_000, sessions: 50, needs: 50_000 },
    bars: BUDGET,
  }),
];

export default entries;
