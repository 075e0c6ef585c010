// The loop itself (observability §3.1, §3.8). `execute` is the time to queue actions, not to carry
// them out; `emit` is hints. The engine's thread tells what its phases took; the rest of the way
// there and back (hand-over, input, ledgers, record) is `snapread`. A cycle that waited for a provider
// which refuses from the start is no sample: the minute would stand for the work of a cycle for hours.

import { B14, type Counter, type Gauge, type MetricRegistry } from '@bigfleet/telemetry';
import type { CycleReport } from '../core/observer.ts';

const ENGINE_PHASES = ['phase1', 'phase2', 'phase3'] as const;
const PHASES = ['reconcile', 'snapread', ...ENGINE_PHASES, 'emit', 'execute'] as const;

export interface CycleMetrics {
  cycled(report: CycleReport): void;
  /** Hints of one cycle went out. */
  published(tookMs: number): void;
}

export function createCycleMetrics(registry: MetricRegistry, warmupCycles: number): CycleMetrics {
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
  const phase = (name: (typeof PHASES)[number], ms: number): void =>
    phases.labels({ phase: name }).observe(Math.max(0, ms) / 1_000);
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
