// Forecasts of interruption (provider-contract §16.4, providers A7). Vendors publish buckets of monthly
// frequency; the wire field is hourly. Published unconverted, spot looked 700 times riskier than it
// is and lost every ranking.

import type { CapacityTypeName } from '../model/machine.ts';

/** A vendor's bucket of monthly interruption frequency. */
export type FrequencyBucket = '<5%' | '5-10%' | '10-15%' | '15-20%' | '>20%';

const monthlyMidpoints: Readonly<Record<FrequencyBucket, number>> = {
  '<5%': 0.025,
  '5-10%': 0.075,
  '10-15%': 0.125,
  '15-20%': 0.175,
  '>20%': 0.3,
};

/** A spot type that no table lists: never 0, or it would win protected workloads. */
const UNKNOWN_BUCKET: FrequencyBucket = '10-15%';

const HOURS_PER_MONTH = 720;

/** The chance per hour that adds up to `monthly` over a month. */
export function hourlyProbability(monthly: number): number {
  return 1 - (1 - monthly) ** (1 / HOURS_PER_MONTH);
}

/** What a backend declares for a slot or host of this capacity. */
export function forecastInterruption(
  capacityType: CapacityTypeName,
  bucket: FrequencyBucket | undefined,
): number {
  if (capacityType !== 'Spot') return 0;
  return hourlyProbability(monthlyMidpoints[bucket ?? UNKNOWN_BUCKET]);
}
