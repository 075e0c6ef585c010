// Compares what a bench claims with what it built. Every stated key must be observed; a key that
// nobody counted is as wrong as a wrong count.

import type { Shape, ShapeRule } from './define-bench.ts';

/** One line per violated claim; empty when the shape is what it says. */
export function shapeProblems(
  stated: Readonly<Record<string, ShapeRule>>,
  observed: Shape,
): readonly string[] {
  return Object.entries(stated).flatMap(([key, rule]) => {
    const value = observed[key];
    if (value === undefined) return [`${key}: stated ${describe(rule)}, but observe() counts none`];
    return satisfies(rule, value) ? [] : [`${key}: stated ${describe(rule)}, built ${value}`];
  });
}

function satisfies(rule: ShapeRule, value: number | string): boolean {
  if (typeof rule !== 'object') return rule === value;
  if (typeof value !== 'number') return false;
  return (
    value >= (rule.min ?? Number.NEGATIVE_INFINITY) &&
    value <= (rule.max ?? Number.POSITIVE_INFINITY)
  );
}

function describe(rule: ShapeRule): string {
  if (typeof rule !== 'object') return String(rule);
  return `${rule.min ?? '…'} to ${rule.max ?? '…'}`;
}
