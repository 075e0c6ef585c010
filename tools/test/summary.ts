// The text of a test run: compact while all is well, complete where something failed, and a
// last line that scripts can read.

import type { Failure, Outcome, Skipped } from './events.ts';

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly Skipped[];
}

export const NOTHING: Totals = { passed: 0, failed: 0, skipped: [] };

export function totalsOf({ passed, failures, failedParents, skipped }: Outcome): Totals {
  return { passed, failed: failures.length + failedParents, skipped };
}

export function addTotals(left: Totals, right: Totals): Totals {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: [...left.skipped, ...right.skipped],
  };
}

/** The last line of every run. */
export function closingLine({ passed, failed, skipped }: Totals): string {
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return `${passed} passed, ${failed} failed${tail}`;
}

export interface Style {
  readonly color: boolean;
  /** Stripped from the front of absolute paths. */
  readonly root: string;
}

export function fileLine(name: string, totals: Totals, ms: number, style: Style): string {
  const { passed, failed, skipped } = totals;
  const parts = [`${passed} passed`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped.length > 0) parts.push(`${skipped.length} skipped`);
  const mark = failed > 0 ? paint('FAIL', 31, style) : paint('ok  ', 32, style);
  return `${mark} ${name}  ${parts.join(', ')}  ${seconds(ms)}`;
}

export function failureBlock(failure: Failure, style: Style): string {
  const title = paint(`✖ ${failure.title}`, 31, style);
  return `${title}\n    at ${relative(failure.place, style)}\n${indent(relative(failure.text, style))}`;
}

export function outputBlock(output: string, style: Style): string {
  const text = relative(output.trimEnd(), style);
  return text === '' ? '' : `    output:\n${indent(text)}`;
}

export function skippedLine({ title, place, reason }: Skipped, style: Style): string {
  const why = reason === '' ? '(no reason given)' : reason;
  return `skipped: ${relative(place, style)} ${title}: ${why}`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}

function relative(text: string, style: Style): string {
  return text.replaceAll(`file://${style.root}/`, '').replaceAll(`${style.root}/`, '');
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}

function paint(text: string, code: number, style: Style): string {
  return style.color ? `\u001B[${code}m${text}\u001B[0m` : text;
}
