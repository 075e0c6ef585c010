// How a declared interruption probability compares with what happened: the rates that the calibration curve
// shows, and how far chance alone may carry them. Few interruptions prove little, and the picture says so.

export interface CalibrationRow {
  readonly declared: number;
  readonly machineHours: number;
  readonly expected: number;
  readonly observed: number;
}

export interface CalibrationPoint {
  readonly declared: number;
  readonly machineHours: number;
  readonly observed: number;
  readonly expected: number;
  /** Per machine-hour. */
  readonly promisedRate: number;
  readonly observedRate: number;
  /** Rates that the observed count is compatible with, at about 95 %. */
  readonly lowRate: number;
  readonly highRate: number;
  /** The promise lies outside of what chance explains. */
  readonly isBroken: boolean;
}

/** Below so many machine-hours a rate says more about chance than about the provider. */
export const ENOUGH_HOURS = 10;

export function calibrationPoints(rows: readonly CalibrationRow[]): readonly CalibrationPoint[] {
  return rows
    .filter((row) => row.machineHours >= ENOUGH_HOURS)
    .map((row) => {
      const { declared, machineHours, expected, observed } = row;
      const [low, high] = poissonRange(observed);
      return {
        declared,
        machineHours,
        observed,
        expected,
        promisedRate: expected / machineHours,
        observedRate: observed / machineHours,
        lowRate: low / machineHours,
        highRate: high / machineHours,
        isBroken: expected < low || expected > high,
      };
    });
}

/**
 * The 95 % range of a Poisson mean after `count` events, by the Wilson–Hilferty approximation of the exact
 * one. Off by a few hundredths from the second event on, which no picture shows.
 */
export function poissonRange(count: number): readonly [number, number] {
  const Z = 1.959964;
  const bound = (n: number, z: number): number =>
    n * (1 - 1 / (9 * n) + z / (3 * Math.sqrt(n))) ** 3;
  return [count === 0 ? 0 : bound(count, -Z), bound(count + 1, Z)];
}

/** Round steps from 0 that cover `top`: the last one is the end of the axis. */
export function rateTicks(top: number): readonly number[] {
  const rough = (top <= 0 ? 0.01 : top) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? rough;
  const count = Math.ceil((top <= 0 ? 0.01 : top) / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
