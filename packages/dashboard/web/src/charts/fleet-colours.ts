// What the colours of the fleet map mean. Steps are fixed, not fitted to what is in sight: the same machine
// has the same colour at every moment and in every tab.

import { STATE_NAMES } from '../../../src/words.ts';
import { lookOf } from '../parts/palette.ts';
import type { FleetCells } from './fleet-cells.ts';

export type ColourBy = 'state' | 'cluster' | 'cost' | 'risk' | 'age';

const RAMP = ['--ramp-0', '--ramp-1', '--ramp-2', '--ramp-3', '--ramp-4', '--ramp-5'] as const;
const MINUTE_MS = 60_000;

interface Steps {
  /** Upper bounds, one less than there are colours. */
  readonly bounds: readonly number[];
  readonly labels: readonly string[];
}

export const STEPS: Readonly<Record<'cost' | 'risk' | 'age', Steps>> = {
  cost: {
    bounds: [0.1, 0.5, 1, 5, 20],
    labels: ['< $0.10/h', '< $0.50/h', '< $1/h', '< $5/h', '< $20/h', '≥ $20/h'],
  },
  risk: {
    bounds: [0.000_001, 0.01, 0.03, 0.1, 0.25],
    labels: ['none', '< 1%', '< 3%', '< 10%', '< 25%', '≥ 25%'],
  },
  age: {
    bounds: [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 360 * MINUTE_MS, 1_440 * MINUTE_MS],
    labels: ['< 1 min', '< 10 min', '< 1 h', '< 6 h', '< 1 d', '≥ 1 d'],
  },
};

export function stepOf(by: keyof typeof STEPS, value: number): number {
  const { bounds } = STEPS[by];
  const found = bounds.findIndex((bound) => value < bound);
  return found < 0 ? bounds.length : found;
}

export function rampToken(step: number): string {
  return RAMP[step] ?? '--ramp-5';
}

export function legendOf(
  by: ColourBy,
): readonly { readonly name: string; readonly token?: string }[] {
  if (by === 'state') return STATE_NAMES.map((name) => ({ name }));
  if (by === 'cluster') return [];
  return STEPS[by].labels.map((name, step) => ({ name, token: rampToken(step) }));
}

/** A small number for the look of one cell: equal numbers, equal paint. */
export function lookKey(cells: FleetCells, index: number, by: ColourBy, atMs: number): number {
  switch (by) {
    case 'state':
      return cells.state[index] ?? 0;
    case 'cluster':
      return cells.cluster[index] ?? 0;
    case 'cost':
      return stepOf('cost', cells.dollarsPerHour[index] ?? 0);
    case 'risk':
      return stepOf('risk', cells.risk[index] ?? 0);
    case 'age':
      return stepOf('age', atMs - (cells.sinceMs[index] ?? 0));
    default:
      return by satisfies never;
  }
}

export function paintOf(key: number, by: ColourBy, colour: (token: string) => string): string {
  if (by === 'state') return colour(lookOf(STATE_NAMES[key] ?? '').token);
  if (by === 'cluster') return clusterPaint(key, colour);
  return colour(rampToken(key));
}

/** Hues a golden angle apart: neighbours in the list never look alike. The name is in the tooltip. */
function clusterPaint(cluster: number, colour: (token: string) => string): string {
  if (cluster === 0) return colour('--line-strong');
  const hue = Math.round((cluster * 137.508) % 360);
  const lightness = 46 + ((cluster * 7) % 3) * 9;
  return `hsl(${hue} 48% ${lightness}%)`;
}
