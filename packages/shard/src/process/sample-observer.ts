// Raw durations of every cycle, whole and in its parts, for `--trace-samples`: a gate reads these,
// because a bucketed quantile can only say "between b and 2b". All start at the start of the cycle.
// Cycles with the engine's scheduled safety pass are in a series of their own besides: it evaluates
// everything a second time, one cycle in a hundred, and benches time it apart.

import type { Clock } from '@bigfleet/base';
import type { SampleTrace } from '@bigfleet/telemetry';
import type { ShardObserver } from '../core/observer.ts';

export function createSampleObserver(
  samples: SampleTrace,
  clock: Clock,
): Pick<ShardObserver, 'onCycle'> {
  const cycle = samples.series('cycle');
  const reconcile = samples.series('cycle_reconcile');
  const decide = samples.series('cycle_phases');
  const execute = samples.series('cycle_execute');
  const safety = samples.series('cycle_safety');
  return {
    onCycle: ({ answer, tookMs }) => {
      const { engine } = tookMs;
      const startMs = clock.monotonicMs() - tookMs.total;
      cycle.record(startMs, tookMs.total / 1_000);
      reconcile.record(startMs, tookMs.reconcile / 1_000);
      decide.record(startMs, (engine.phase1 + engine.phase2 + engine.phase3) / 1_000);
      execute.record(startMs, tookMs.execute / 1_000);
      if (answer.pass === 'safety') safety.record(startMs, tookMs.total / 1_000);
    },
  };
}
