// Quantiles of one histogram, as queries of a panel.

import type { Query } from '../panel.ts';

const RANKS = { p50: 0.5, p95: 0.95, p99: 0.99 } as const;

export function quantiles(
  histogram: string,
  ranks: readonly (keyof typeof RANKS)[] = ['p50', 'p95', 'p99'],
): readonly Query[] {
  return ranks.map((rank) => ({ expr: quantile(histogram, rank), legend: rank }));
}

/** One line per value of the label. */
export function quantileBy(histogram: string, label: string): Query {
  return { expr: quantile(histogram, 'p99', [label]), legend: `{{${label}}}` };
}

export function heat(histogram: string): Query {
  return {
    expr: `sum by (le) (increase(${histogram}_bucket{@}[$__rate_interval]))`,
    legend: '{{le}}',
  };
}

function quantile(
  histogram: string,
  rank: keyof typeof RANKS,
  labels: readonly string[] = [],
): string {
  const by = ['le', ...labels].join(', ');
  return `histogram_quantile(${RANKS[rank]}, sum by (${by}) (rate(${histogram}_bucket{@}[$__rate_interval])))`;
}
