// Prints reports: the answer to stdout in the asked form, what is missing from it to stderr. With
// --watch the same report again and again: on a terminal one picture is redrawn in place; to a file or
// pipe each report is a block of its own. A server that is gone for a moment does not end a watch: what
// is wrong stands where the answer would. Ctrl-C ends it with 0.

import { errorCatalogue, isErrorCode, sleep } from '@bigfleet/base';
import { describeFailure } from '../connect/failure.ts';
import type { CtlContext, CtlPort, TerminalSize } from '../context.ts';
import { documentText } from '../output/document.ts';
import { CTL_EXIT, type Report } from '../output/report.ts';
import { cutStyled, type Style, styleFor } from '../output/style.ts';
import { utcTime } from '../output/text.ts';
import type { OutputForm } from './flags.ts';

export function printReport(report: Report, port: CtlPort, output: OutputForm): number {
  port.writeOutput(reportText(report, output, styleFor(port)));
  writeProblems(port, report.problems);
  return report.exitCode ?? (report.problems.length === 0 ? CTL_EXIT.ok : CTL_EXIT.partial);
}

function reportText(report: Report, output: OutputForm, style: Style): string {
  if (output === 'json' || output === 'yaml') return documentText(report.document, output);
  const lines = report.lines(output, style);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/**
 * A line for each problem, then once for every kind of problem what to do about it: many shards fail
 * for one reason, and its remedy is read once.
 */
export function writeProblems(port: CtlPort, problems: readonly string[]): void {
  for (const problem of problems) port.writeError(`bigfleetctl: ${problem}\n`);
  const codes = problems.map((problem) => problem.split(':', 1)[0] ?? '').filter(isErrorCode);
  const actions = new Set(codes.map((code) => errorCatalogue[code].action));
  for (const action of actions) port.writeError(`  next: ${action}\n`);
}

export interface WatchOptions {
  readonly ask: () => Promise<Report>;
  readonly context: CtlContext;
  readonly output: OutputForm;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
}

const MIN_INTERVAL_MS = 100;
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const CLEAR_ALL = '\u001b[2J';

/** The first question must be answered: a wrong address is an error, not a picture. */
export async function watchReport(options: WatchOptions): Promise<number> {
  const { context, intervalMs, signal } = options;
  const { port, runtime } = context;
  try {
    show(options, await options.ask(), true);
    while (!signal.aborted) {
      await sleep(runtime, Math.max(MIN_INTERVAL_MS, intervalMs), signal);
      const next = await answerOrFailure(options);
      if (typeof next !== 'string') show(options, next, false);
      else if (port.isTerminal) port.writeOutput(`${HOME}${next}${CLEAR_LINE}`);
      else port.writeError(`bigfleetctl: ${next}\n`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (port.isTerminal) port.writeOutput('\n');
  return CTL_EXIT.ok;
}

async function answerOrFailure({ ask, signal }: WatchOptions): Promise<Report | string> {
  try {
    return await ask();
  } catch (error) {
    if (signal.aborted) throw error;
    return describeFailure(error).line;
  }
}

function show({ context, output }: WatchOptions, report: Report, isFirst: boolean): void {
  const { port, runtime } = context;
  const text = reportText(report, output, styleFor(port));
  const time = utcTime(runtime.clock.unixNanos()) ?? '';
  if (port.isTerminal) {
    const lines = [time, ...text.trimEnd().split('\n'), ...report.problems];
    port.writeOutput(`${isFirst ? CLEAR_ALL : ''}${picture(lines, port.terminalSize())}`);
    return;
  }
  port.writeOutput(`${separator(output, time, isFirst)}${text}`);
  writeProblems(port, report.problems);
}

/**
 * Drawn over the last one without clearing first: a cleared screen flickers. Cut to the window: a
 * wrapped line would shift everything below it.
 */
function picture(lines: readonly string[], { rows, columns }: TerminalSize): string {
  const room = Math.max(2, rows - 1);
  const hidden = lines.length - room;
  const shown = hidden <= 0 ? lines : [...lines.slice(0, room - 1), `… ${hidden + 1} more lines`];
  const drawn = shown.map((line) => `${cutStyled(line, columns)}${CLEAR_LINE}`);
  return `${HOME}${drawn.join('\n')}${CLEAR_BELOW}`;
}

/** Documents of a stream are told apart by their own syntax, tables by a line with the time. */
function separator(output: OutputForm, time: string, isFirst: boolean): string {
  if (output === 'yaml') return '---\n';
  if (output === 'json') return '';
  return `${isFirst ? '' : '\n'}# ${time}\n`;
}
