// `--trace-samples`: every command's duration as it was, beside the histogram, whose percentiles are
// only good to a factor of two (scale-and-testing §7). One series, `apply`, refused commands included.

import type { Clock } from '@bigfleet/base';
import type { SampleTrace } from '@bigfleet/telemetry';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';

const APPLY_SERIES = 'apply';

/** The same metrics; without a trace nothing is added. */
export function tracedApplies(
  metrics: CoordinatorMetrics,
  samples: Pick<SampleTrace, 'series'> | undefined,
  clock: Clock,
): CoordinatorMetrics {
  if (samples === undefined) return metrics;
  const series = samples.series(APPLY_SERIES);
  return {
    ...metrics,
    onApply: (outcome, seconds) => {
      metrics.onApply(outcome, seconds);
      series.record(clock.monotonicMs() - seconds * 1_000, seconds);
    },
  };
}
