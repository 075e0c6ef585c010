// Values that relate two shapes of one run: growth with size, loaded ÷ unloaded. Selecting one
// shape by name selects its partner too, because a ratio of which one half was not measured is
// not a pass.

import type { Bars, Ratio } from './define-bench.ts';
import type { Result } from './results.ts';

export function withPartners(
  selected: ReadonlySet<string>,
  ratios: readonly Ratio[],
): ReadonlySet<string> {
  const all = new Set(selected);
  // A Set also visits what is added while it is walked, so partners bring their own partners.
  for (const name of all) {
    for (const ratio of ratios) if (ratio.of === name) all.add(ratio.over);
  }
  return all;
}

/** Results with `extra.<as>` filled in for every ratio of which both sides are present. */
export function applyRatios(
  results: readonly Result[],
  ratios: readonly Ratio[],
): readonly Result[] {
  const byName = new Map(results.map((result) => [result.name, result]));
  return results.map((result) => {
    const related: Record<string, number> = {};
    for (const { of, over, metric, as } of ratios) {
      const partner = byName.get(over);
      if (of === result.name && partner !== undefined) {
        related[as] = result[metric] / partner[metric];
      }
    }
    return { ...result, extra: { ...result.extra, ...related } };
  });
}

export function ratioBars(name: string, ratios: readonly Ratio[]): Bars {
  const entries = ratios
    .filter((ratio) => ratio.of === name)
    .flatMap(({ as, bar }) => (bar === undefined ? [] : [[`extra.${as}`, bar] as const]));
  return Object.fromEntries(entries);
}
