// A what-if's answer as the API tells it: times become moments, names become those of the pages.

import { reasonEntry } from '@bigfleet/base';
import type { SideAnswer, WhatIfAnswer } from '@bigfleet/engine';
import type { Answer } from '../../api/index.ts';
import { KIND_NAMES, TIER_NAMES } from '../../words.ts';

type Result = NonNullable<Answer<'whatif'>['result']>;
type Side = Result['baseline'];

/**
 * `endMs` is when the recording ended, as far as its files say: a trace counts time from its own beginning.
 */
export function whatIfResult(answer: WhatIfAnswer, endMs: number): Result {
  const { durationMs, baseline, changed, fidelity } = answer;
  const fromMs = Math.round(endMs - durationMs);
  const [broken] = answer.breaks;
  return {
    fromMs,
    toMs: Math.round(endMs),
    cycles: answer.cycleCount,
    baseline: sideOf(baseline),
    changed: sideOf(changed),
    series: {
      atMs: baseline.series.dollarsPerHour.map((_, at) => fromMs + at * baseline.series.widthMs),
      dollarsPerHour: pairs(baseline.series.dollarsPerHour, changed.series.dollarsPerHour),
      bound: pairs(baseline.series.boundCount, changed.series.boundCount),
      unmet: pairs(unmetRows(baseline), unmetRows(changed)),
    },
    breaks:
      broken === undefined
        ? null
        : {
            atMs: fromMs + broken.atMs,
            need: { cluster: broken.cluster, fingerprint: broken.fingerprint, group: '' },
            tier: broken.tier,
            reason: broken.reasonCode,
            reasonText: reasonEntry('unmet', broken.reasonCode)?.meaning ?? '',
          },
    modelError: {
      bound: share(fidelity.boundDistance, fidelity.recorded.boundCount),
      dollarsPerHour: share(fidelity.dollarsPerHourDistance, fidelity.recorded.dollarsPerHour),
    },
    differences: answer.differences.map(({ cycle, atMs, ...only }) => ({
      atMs: fromMs + atMs,
      text: differenceText(cycle, only),
    })),
  };
}

function sideOf({ money, machineHoursByCapacityType, shortfalls, churn }: SideAnswer): Side {
  const types = new Set([
    ...Object.keys(money.dollarsByCapacityType),
    ...Object.keys(machineHoursByCapacityType),
  ]);
  return {
    dollars: money.dollars,
    dollarsPerHour: {
      mean: money.averagePerHour,
      p50: money.medianPerHour,
      max: money.highestPerHour,
    },
    byCapacityType: [...types].map((name) => ({
      name,
      machineHours: machineHoursByCapacityType[name] ?? 0,
      dollars: money.dollarsByCapacityType[name] ?? 0,
    })),
    unmet: TIER_NAMES.map((tier) => ({
      tier,
      needSeconds: shortfalls[tier].unmetSeconds,
      rows: shortfalls[tier].rowCount,
      worstMs: shortfalls[tier].longestMs,
    })),
    churn: KIND_NAMES.map((kind) => ({ kind, count: churn.actionsByKind[kind] ?? 0 })),
    movedMachines: churn.clusterChangeCount,
  };
}

/** All tiers together, at each point. */
function unmetRows({ series }: SideAnswer): readonly number[] {
  return series.dollarsPerHour.map((_, at) =>
    TIER_NAMES.reduce((sum, tier) => sum + (series.unmetRows[tier][at] ?? 0), 0),
  );
}

function pairs(baseline: readonly number[], changed: readonly number[]): [number, number][] {
  return baseline.map((value, at) => [value, changed[at] ?? 0]);
}

function share(distance: number, whole: number): number {
  return whole === 0 ? 0 : distance / whole;
}

function differenceText(
  cycle: number,
  only: Pick<
    WhatIfAnswer['differences'][number],
    'onlyBaseline' | 'onlyBaselineCount' | 'onlyChanged' | 'onlyChangedCount'
  >,
): string {
  const { onlyBaseline, onlyBaselineCount, onlyChanged, onlyChangedCount } = only;
  const part = (name: string, shown: readonly string[], count: number): string[] => {
    if (count === 0) return [];
    const more = count > shown.length ? ` and ${count - shown.length} more` : '';
    return [`${name}: ${shown.join('; ')}${more}`];
  };
  const parts = [
    ...part('no longer', onlyBaseline, onlyBaselineCount),
    ...part('instead', onlyChanged, onlyChangedCount),
  ];
  return `cycle ${cycle}: ${parts.join(' · ')}`;
}
