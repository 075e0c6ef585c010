// The table a person reads after a run. Colour only when asked for; widths by code point, since
// every header here is one column per code point.

import { type Baseline, againstBaseline } from './baseline.ts';
import type { Results, Result } from './results.ts';

export interface TableOptions {
  readonly colour: boolean;
}

type Row = readonly string[];

const HEADER: Row = [
  'name',
  'p50 ms',
  'p99 ms',
  'max ms',
  'p50 K',
  'p99 K',
  'vs base',
  'B/op',
  'RSS MiB',
  '',
];
/** Where a changed p50 deserves a look; below that it is weather. */
const NOTABLE = 1.1;

export function renderTable(run: Results, baseline: Baseline, { colour }: TableOptions): string {
  const rows = run.results.map((result) => toRow(result, baseline));
  const widths = HEADER.map((_, column) =>
    Math.max(...[HEADER, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const lines = [HEADER, ...rows].map((row) => renderRow(row, widths));
  const painted = lines.map((line, index) =>
    colour ? paint(line, run.results[index - 1], baseline) : line,
  );
  const { machine } = run;
  const footer = `K = ${run.calibrationMs.toFixed(3)} ms · ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, node ${machine.node} · ${run.revision}`;
  return `${[...painted, footer].join('\n')}\n`;
}

function toRow(result: Result, baseline: Baseline): Row {
  const against = againstBaseline(result, baseline);
  return [
    result.name,
    digits(result.p50Ms),
    digits(result.p99Ms),
    digits(result.maxMs),
    digits(result.perK.p50),
    digits(result.perK.p99),
    against === undefined ? 'new' : `×${against.p50.toFixed(2)}`,
    result.allocBytesPerOp === null ? '–' : String(Math.round(result.allocBytesPerOp)),
    String(Math.round(result.rssBytes / 2 ** 20)),
    result.extra['noisy'] === true ? 'noisy' : '',
  ];
}

function renderRow(row: Row, widths: readonly number[]): string {
  const cells = row.map((cell, column) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
  );
  return cells.join('  ').trimEnd();
}

function paint(line: string, result: Result | undefined, baseline: Baseline): string {
  if (result === undefined) return `\u001b[1m${line}\u001b[0m`;
  const against = againstBaseline(result, baseline);
  if (result.extra['noisy'] === true) return `\u001b[33m${line}\u001b[0m`;
  if (against !== undefined && against.p50 > NOTABLE) return `\u001b[31m${line}\u001b[0m`;
  if (against !== undefined && against.p50 < 1 / NOTABLE) return `\u001b[32m${line}\u001b[0m`;
  return line;
}

function digits(value: number): string {
  if (value >= 1_000) return value.toFixed(0);
  return value.toPrecision(3);
}
