// The loop itself (observability §3.1, §3.8). `execute` is the time to queue actions, not to carry
// them out; `emit` is hints. The engine's thread tells what its phases took; the rest of the way
// there and back (hand-over, input, ledgers, record) is `snapread`. A cycle that waited for a provider
// which refuses from the start is no sample: the minute would stand for the work of a cycle for hours.
// Whatever is a sample of the histograms is one of the timings that a reader of the status sees.

import { B14, type Counter, type Gauge, type MetricRegistry } from '@bigfleet/telemetry';
import type { CycleReport } from '../core/observer.ts';
import { type Phase, PHASES, type PhaseTimings } from './phase-timings.ts';

const ENGINE_PHASES = ['phase1', 'phase2', 'phase3'] as const;

export interface CycleMetrics {
  cycled(report: CycleReport): void;
  /** Hints of one cycle went out. */
  published(tookMs: number): void;
}

export interface CycleMetricsOptions {
  readonly registry: MetricRegistry;
  readonly warmupCycles: number;
  readonly timings: Pick<PhaseTimings, 'note'>;
}

export function createCycleMetrics(options: CycleMetricsOptions): CycleMetrics {
  const { registry, warmupCycles, timings } = options;
  const duration = registry.histogram({
    name: 'bigfleet_shard_cycle_duration_seconds',
    help: 'Wall clock of one cycle: reconcile, decide, enqueue. One sample per cycle.',
    bounds: B14,
  });
  const phases = registry.histogram({
    name: 'bigfleet_shard_cycle_phase_duration_seconds',
    help: 'The parts of a cycle; execute is the time to enqueue.',
    bounds: B14,
    labels: { phase: PHASES },
  });
  const phase = (name: Phase, ms: number): void => {
    const seconds = Math.max(0, ms) / 1_000;
    phases.labels({ phase: name }).observe(seconds);
    timings.note(name, seconds);
  };
  const counts = createCycleCounts(registry);
  let cycleCount = 0;
  return {
    cycled(report) {
      cycleCount = report.cycle;
      counts(report);
      if (report.cycle <= warmupCycles || hasWaited(report)) return;
      const { reconcile, engine, execute, total } = report.tookMs;
      const decide = engine.phase1 + engine.phase2 + engine.phase3;
      duration.observe(total / 1_000);
      timings.note('cycle', total / 1_000);
      phase('reconcile', reconcile);
      phase('snapread', total - reconcile - decide - execute);
      for (const name of ENGINE_PHASES) phase(name, engine[name]);
      phase('execute', execute);
    },
    published(tookMs) {
      if (cycleCount > warmupCycles) phase('emit', tookMs);
    },
  };
}

function hasWaited({ refreshes }: CycleReport): boolean {
  return [...refreshes.values()].some(({ wasAskedAgain }) => wasAskedAgain);
}

function createCycleCounts(registry: MetricRegistry): (report: CycleReport) => void {
  const cycles: Counter = registry.counter({
    name: 'bigfleet_shard_cycles_total',
    help: 'Cycles, warm-up included.',
  });
  const needRows: Gauge = registry.gauge({
    name: 'bigfleet_shard_need_rows',
    help: 'Rows of the NeedsTable.',
  });
  const mismatches: Counter = registry.counter({
    name: 'bigfleet_shard_incremental_mismatch_total',
    help: 'Safety passes that found another answer than the incremental one; must stay 0.',
  });
  let mismatchCount = 0;
  return ({ answer }) => {
    cycles.inc();
    needRows.set(answer.rowCount);
    mismatches.inc(answer.mismatchCount - mismatchCount);
    mismatchCount = answer.mismatchCount;
  };
}
