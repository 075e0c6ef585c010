// Where a dot of the cost scatter stands. Both axes are dollars per hour from cents to thousands, and 0 is a
// common value (capacity that is never interrupted loses nothing), so a plain logarithm cannot show it: the
// scale is linear below `knee` and logarithmic above.

export interface MoneyScale {
  readonly knee: number;
  readonly max: number;
  /** 0…1 along the axis. */
  place(dollars: number): number;
  /** Dollars at 0…1; the inverse of `place`. */
  value(place: number): number;
  /** Round values from 0 up to the end of the axis, few enough to label. */
  readonly ticks: readonly number[];
}

const MAX_TICKS = 7;

/** The knee lies at the smallest positive value, so that no dot is squeezed into the linear part. */
export function moneyScale(values: readonly number[]): MoneyScale {
  let smallest = Infinity;
  let largest = 0;
  for (const value of values) {
    if (value > 0 && value < smallest) smallest = value;
    if (value > largest && Number.isFinite(value)) largest = value;
  }
  if (largest === 0) largest = 1;
  // Six decades are as many as an axis can label; one value alone still wants an axis around it.
  const knee = Math.max(Math.min(smallest, largest / 20), largest / 1e6);
  const max = largest * 1.25;
  const length = Math.log1p(max / knee);
  return {
    knee,
    max,
    place: (dollars) => Math.log1p(Math.max(0, dollars) / knee) / length,
    value: (place) => Math.expm1(place * length) * knee,
    ticks: ticksOf(knee, max),
  };
}

function ticksOf(knee: number, max: number): number[] {
  for (const steps of [[1, 2, 5], [1, 3], [1]]) {
    const found = [0];
    for (let power = Math.floor(Math.log10(knee)); power <= Math.ceil(Math.log10(max)); power++) {
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(1));
        if (tick >= knee * 0.99 && tick <= max) found.push(tick);
      }
    }
    if (found.length <= MAX_TICKS || steps.length === 1) return found;
  }
  return [0];
}

/** Points of `price + loss = effectiveCost`, in 0…1 of both axes: a curve where the axes are logarithmic. */
export function equalCostLine(
  effectiveCost: number,
  x: MoneyScale,
  y: MoneyScale,
): readonly (readonly [number, number])[] {
  const points: [number, number][] = [];
  // Steps are even on the axis that moves: by price while the line is flat, by loss while it is steep.
  const STEPS = 48;
  const knot = effectiveCost / 2;
  for (let step = 0; step <= STEPS; step++) {
    const price = x.value((x.place(knot) * step) / STEPS);
    points.push([x.place(price), y.place(effectiveCost - price)]);
  }
  for (let step = STEPS - 1; step >= 0; step--) {
    const loss = y.value((y.place(knot) * step) / STEPS);
    points.push([x.place(effectiveCost - loss), y.place(loss)]);
  }
  return points;
}

/** Effective costs whose lines divide the plane evenly enough to read a dot's cost from. */
export function equalCostLevels(x: MoneyScale, y: MoneyScale): readonly number[] {
  const end = Math.max(x.max, y.max);
  const wide = x.max >= y.max ? x : y;
  return wide.ticks.filter((tick) => tick > 0 && tick <= end).slice(-4);
}

export interface Dot {
  readonly x: number;
  readonly y: number;
  readonly radius: number;
}

/** The dot under the pointer: the smallest of those that cover it, else the nearest within `reach`. */
export function dotAt(dots: readonly Dot[], x: number, y: number, reach: number): number {
  let best = -1;
  let bestRank = Infinity;
  for (const [index, dot] of dots.entries()) {
    const distance = Math.hypot(dot.x - x, dot.y - y);
    const covers = distance <= dot.radius;
    if (!covers && distance - dot.radius > reach) continue;
    const rank = covers ? dot.radius : 1e6 + distance - dot.radius;
    if (rank < bestRank) {
      bestRank = rank;
      best = index;
    }
  }
  return best;
}

/** Area follows the count; the largest is kept from hiding its neighbours. */
export function dotRadius(count: number, largest: number): number {
  return 3.5 + 18 * Math.sqrt(count / Math.max(1, largest));
}
