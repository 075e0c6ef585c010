// When to believe a measurement. K is taken before and after a shape; if the machine itself moved
// by more than 10 % in between (a neighbour woke up, the clock was throttled), the shape is
// measured once more, and then kept but marked. Never retried until it looks good.

const DRIFT_LIMIT = 0.1;

export interface CalibrationPair {
  readonly kBeforeMs: number;
  readonly kAfterMs: number;
}

function drift({ kBeforeMs, kAfterMs }: CalibrationPair): number {
  return Math.abs(kBeforeMs - kAfterMs) / Math.min(kBeforeMs, kAfterMs);
}

export function isSteady(pair: CalibrationPair): boolean {
  return drift(pair) <= DRIFT_LIMIT;
}

/** The shape's K. The smaller of the two, so that noise never makes a shape look cheaper. */
export function shapeK({ kBeforeMs, kAfterMs }: CalibrationPair): number {
  return Math.min(kBeforeMs, kAfterMs);
}

export interface Believed<Measurement> {
  readonly measurement: Measurement;
  readonly noisy: boolean;
}

/** At most two measurements; of two unsteady ones, the steadier, marked noisy. */
export async function measureSteadily<Measurement extends CalibrationPair>(
  measure: () => Promise<Measurement>,
): Promise<Believed<Measurement>> {
  const first = await measure();
  if (isSteady(first)) return { measurement: first, noisy: false };
  const second = await measure();
  if (isSteady(second)) return { measurement: second, noisy: false };
  return { measurement: drift(first) < drift(second) ? first : second, noisy: true };
}
