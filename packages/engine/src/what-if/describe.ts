// The answer of a what-if in words, for a terminal: what was asked, how far the model can be trusted, both
// sides beside each other, and where the changed one breaks.

import type { Break, CycleDecisions, SideAnswer, WhatIfAnswer } from './answer.ts';
import { formatMs } from './change.ts';
import { rounded } from './meter.ts';
import { TIERS } from './unmet.ts';

const SHOWN_CYCLES = 5;

export function describeWhatIf(answer: WhatIfAnswer): string {
  const { changes, seed, traces, durationMs, cycleCount } = answer;
  return [
    `what if: ${changes.length === 0 ? 'nothing changed' : changes.join(', ')} (seed ${seed})`,
    `recorded: ${formatMs(durationMs)}, ${counted(cycleCount, 'cycle')} in ${counted(traces.length, 'trace')}`,
    ...describeTraces(answer),
    ...describeModel(answer),
    '',
    ...describeSides(answer),
    '',
    ...describeBreaks(answer),
    ...describeDifferences(answer),
  ].join('\n');
}

/** A trace that its writer did not finish: a reader must know how much of it counts. */
function describeTraces({ traces }: WhatIfAnswer): string[] {
  let readCount = 0;
  return traces.flatMap(({ name, cycleCount, end, isWhole }) => {
    readCount += cycleCount;
    if (isWhole) return [];
    return [
      `  ${name}: ${end}; its ${counted(cycleCount, 'cycle')} count, up to cycle ${readCount}`,
    ];
  });
}

function describeModel({ model, fidelity }: WhatIfAnswer): string[] {
  const { recorded, baseline, boundDistance, dollarsPerHourDistance } = fidelity;
  const dwells = model.dwells.map(({ provider, transition, ms, observedCount }) => {
    const source = observedCount === 0 ? 'assumed' : `median of ${observedCount}`;
    return `  ${transition} at ${provider}: ${formatMs(ms)} (${source})`;
  });
  return [
    'model: operations take',
    ...dwells,
    'the baseline against the recording, on average:',
    `  bound machines ${baseline.boundCount} against ${recorded.boundCount}, apart by ${boundDistance}`,
    `  $/h ${baseline.dollarsPerHour} against ${recorded.dollarsPerHour}, apart by ${dollarsPerHourDistance}`,
    ...(fidelity.skippedEventCount === 0
      ? []
      : [`  ${counted(fidelity.skippedEventCount, 'recorded event')} did not fit the model`]),
  ];
}

function describeSides({ baseline, changed }: WhatIfAnswer): string[] {
  const rows: [string, number, number][] = [];
  const row = (name: string, of: (side: SideAnswer) => number): void => {
    rows.push([name, of(baseline), of(changed)]);
  };
  row('dollars', ({ money }) => money.dollars);
  for (const type of Object.keys(baseline.money.dollarsByCapacityType)) {
    row(`  ${type}`, ({ money }) => money.dollarsByCapacityType[type] ?? 0);
  }
  row('$/h average', ({ money }) => money.averagePerHour);
  row('$/h median', ({ money }) => money.medianPerHour);
  row('$/h highest', ({ money }) => money.highestPerHour);
  for (const state of Object.keys(baseline.machineHoursByState)) {
    row(`machine-hours ${state}`, ({ machineHoursByState }) => machineHoursByState[state] ?? 0);
  }
  row('interruptions expected', ({ expectedInterruptions }) => expectedInterruptions);
  for (const tier of TIERS) {
    row(`unmet ${tier}: rows`, ({ shortfalls }) => shortfalls[tier].rowCount);
    row(`unmet ${tier}: row-seconds`, ({ shortfalls }) => shortfalls[tier].unmetSeconds);
    row(`unmet ${tier}: longest, s`, ({ shortfalls }) => shortfalls[tier].longestMs / 1_000);
  }
  for (const kind of Object.keys(baseline.churn.actionsByKind)) {
    row(`actions ${kind}`, ({ churn }) => churn.actionsByKind[kind] ?? 0);
  }
  row('actions deferred by rails', ({ churn }) => churn.deferredCount);
  row('machines to another cluster', ({ churn }) => churn.clusterChangeCount);
  row('machines taken away', ({ churn }) => churn.removedCount);
  // Lines that are zero on both sides say nothing.
  const told = rows.filter(([, a, b]) => a !== 0 || b !== 0);
  return table(
    ['', 'baseline', 'changed', 'difference'],
    told.map(([name, a, b]) => [name, String(a), String(b), signed(b - a)]),
  );
}

function describeBreaks({ breaks, model }: WhatIfAnswer): string[] {
  const after = formatMs(model.breakAfterMs);
  if (breaks.length === 0) {
    return [`breaks: no tier above batch is unmet for ${after} where the baseline is not`];
  }
  return breaks.map((each) => `breaks: ${describeBreak(each, after)}`);
}

function describeBreak(
  { tier, atMs, unmetSinceMs, cluster, fingerprint, reasonCode }: Break,
  after: string,
): string {
  const when = `+${formatMs(atMs)} (unmet since +${formatMs(unmetSinceMs)})`;
  return `${tier} at ${when}: cluster ${JSON.stringify(cluster)}, ${reasonCode} for ${after}, need ${fingerprint}`;
}

function describeDifferences({
  differences,
  differingCycleCount,
  cycleCount,
}: WhatIfAnswer): string[] {
  return [
    `decisions: ${differingCycleCount} of ${counted(cycleCount, 'cycle')} differ`,
    ...differences.slice(0, SHOWN_CYCLES).flatMap(describeCycle),
  ];
}

function describeCycle(each: CycleDecisions): string[] {
  const { cycle, atMs, onlyBaseline, onlyChanged, onlyBaselineCount, onlyChangedCount } = each;
  return [
    `  cycle ${cycle} at +${formatMs(atMs)}`,
    ...shown('baseline', onlyBaseline, onlyBaselineCount),
    ...shown('changed', onlyChanged, onlyChangedCount),
  ];
}

function shown(side: string, actions: readonly string[], count: number): string[] {
  const lines = actions.map((action) => `    only ${side}: ${action}`);
  const more = count - actions.length;
  return more > 0 ? [...lines, `    only ${side}: … and ${more} more`] : lines;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function signed(value: number): string {
  const text = String(
    Math.abs(rounded(value)) < 0.001 ? Number(value.toPrecision(6)) : rounded(value),
  );
  return value > 0 ? `+${text}` : text;
}

/** Names to the left, numbers to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, ...rows];
  const widths = head.map((_, at) => Math.max(...lines.map((line) => (line[at] ?? '').length)));
  return lines.map((line) =>
    line
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}
