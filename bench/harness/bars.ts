// A bench's own bars, the only thing besides a wrong shape that turns a run red. A bar over a
// value that was not measured is broken: a gate that reads nothing once passed every run.

import type { Bar, Bars } from './define-bench.ts';
import type { Result } from './results.ts';

/** One line per broken bar. */
export function brokenBars(result: Result, bars: Bars): readonly string[] {
  return Object.entries(bars).flatMap(([path, bar]) => {
    const value = valueAt(result, path);
    if (value === undefined) return [`${result.name}: ${path} has a bar but was not measured`];
    return withinBar(value, bar)
      ? []
      : [`${result.name}: ${path} is ${round(value)}, bar ${describeBar(bar)}`];
  });
}

/** A finite number at a dotted path, or undefined. */
function valueAt(result: Result, path: string): number | undefined {
  let value: unknown = result;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function withinBar(value: number, { min, max }: Bar): boolean {
  return (min === undefined || value >= min) && (max === undefined || value <= max);
}

function describeBar({ min, max }: Bar): string {
  const parts = [min === undefined ? '' : `≥ ${min}`, max === undefined ? '' : `≤ ${max}`];
  return parts.filter((part) => part !== '').join(' and ');
}

function round(value: number): string {
  return String(Number(value.toPrecision(4)));
}
