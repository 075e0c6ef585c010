// Runs lanes of test files and prints them. Returns totals; run.ts turns them into an exit code.

import { availableParallelism } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { type ChildResult, type ChildRun, runChild } from './child.ts';
import type { Lane } from './lanes.ts';
import { killAfterMs, shareMs } from './long.ts';
import {
  addTotals,
  closingLine,
  failureBlock,
  fileLine,
  NOTHING,
  outputBlock,
  type Style,
  seconds,
  skippedLine,
  type Totals,
  totalsOf,
} from './summary.ts';

export interface Runner {
  readonly root: string;
  readonly style: Style;
  readonly print: (line: string) => void;
}

/** Whether the floors of the lane apply: not when a filter chose the files. */
export async function runLane(
  runner: Runner,
  lane: Lane,
  files: readonly string[],
  floors: boolean,
): Promise<Totals> {
  const started = performance.now();
  let totals =
    lane.isolation === 'shared'
      ? await runShared(runner, lane, files)
      : await runEach(runner, lane, files);
  if (floors) totals = addTotals(totals, checkFloors(runner, lane, files.length, totals));
  const time = seconds(performance.now() - started);
  runner.print(`lane ${lane.name}: ${files.length} files, ${closingLine(totals)}, ${time}`);
  return totals;
}

function widthOf({ processes, perCore }: Lane): number {
  return Math.min(processes, Math.ceil(perCore * availableParallelism()));
}

/** Files are dealt out so that neighbours part. */
async function runShared(runner: Runner, lane: Lane, files: readonly string[]): Promise<Totals> {
  const width = Math.min(widthOf(lane), files.length);
  const hands = Array.from({ length: width }, (_, hand) =>
    files.filter((_file, at) => at % width === hand),
  );
  const totals = await Promise.all(hands.map((hand) => runHand(runner, lane, hand)));
  return totals.reduce(addTotals, NOTHING);
}

async function runHand(runner: Runner, lane: Lane, files: readonly string[]): Promise<Totals> {
  const { name: subject, isolation, boundMs } = lane;
  const result = await runChild({ root: runner.root, subject, files, isolation, boundMs });
  return printResult(runner, `${subject} (${files.length} files in one process)`, result);
}

async function runEach(runner: Runner, lane: Lane, files: readonly string[]): Promise<Totals> {
  let totals = NOTHING;
  await pool(files, widthOf(lane), async (file) => {
    const result = await runChild(ownProcess(runner, file, lane.boundMs));
    totals = addTotals(totals, printResult(runner, file, result));
    if (lane.printsNotes) printNotes(runner, result.outcome.notes);
  });
  return totals;
}

function ownProcess(runner: Runner, file: string, boundMs: number): ChildRun {
  return { root: runner.root, subject: file, files: [file], isolation: 'own', boundMs };
}

function printResult(runner: Runner, name: string, result: ChildResult): Totals {
  const { outcome, ms, output } = result;
  const totals = totalsOf(outcome);
  runner.print(fileLine(name, totals, ms, runner.style));
  for (const failure of outcome.failures) runner.print(failureBlock(failure, runner.style));
  const block = outcome.failures.length > 0 ? outputBlock(output, runner.style) : '';
  if (block !== '') runner.print(block);
  return totals;
}

/** A lane that found less than its floor has lost tests: one failure each. */
function checkFloors(runner: Runner, lane: Lane, fileCount: number, totals: Totals): Totals {
  const tests = totals.passed + totals.failed + totals.skipped.length;
  const short = [
    fileCount < lane.minFiles ? `${fileCount} test files, expected ${lane.minFiles} or more` : '',
    tests < lane.minTests ? `${tests} tests, expected ${lane.minTests} or more` : '',
  ].filter((text) => text !== '');
  for (const text of short) runner.print(`FAIL lane ${lane.name} found only ${text} (lanes.ts)`);
  return { ...NOTHING, failed: short.length };
}

export async function runLong(
  runner: Runner,
  files: readonly string[],
  boxMs: number,
): Promise<Totals> {
  const deadline = performance.now() + boxMs;
  const processes = Math.min(availableParallelism(), 2);
  let totals = NOTHING;
  let filesLeft = files.length;
  const unreached: string[] = [];
  await pool(files, processes, async (file) => {
    const leftMs = deadline - performance.now();
    const share = shareMs({ leftMs, filesLeft, processes });
    filesLeft--;
    if (share === 0) {
      unreached.push(file);
      return;
    }
    const result = await runChild({
      ...ownProcess(runner, file, killAfterMs(share)),
      env: { BIGFLEET_LONG_MS: String(share) },
    });
    totals = addTotals(totals, printResult(runner, `${file} (share ${seconds(share)})`, result));
    printProgress(runner, result);
  });
  for (const file of unreached) runner.print(`not reached within the time box: ${file}`);
  return totals;
}

/** How far a long file got: what it gave to t.diagnostic(), else its last lines of output. */
function printProgress(runner: Runner, { outcome, output }: ChildResult): void {
  if (outcome.failures.length > 0) return;
  const printed = output.trimEnd().split('\n').slice(-5);
  printNotes(runner, outcome.notes.length > 0 ? outcome.notes : printed);
}

function printNotes(runner: Runner, lines: readonly string[]): void {
  for (const line of lines) if (line !== '') runner.print(`     ${line}`);
}

export function printSkipped(runner: Runner, totals: Totals): void {
  for (const skipped of totals.skipped) runner.print(skippedLine(skipped, runner.style));
}

/** Files whose path matches the glob, or whose path contains it when it has no wildcard. */
export function filterFiles(files: readonly string[], filter: string | undefined): string[] {
  if (filter === undefined) return [...files];
  const plain = !/[*?[{]/.test(filter);
  return files.filter((file) => (plain ? file.includes(filter) : path.matchesGlob(file, filter)));
}

/** At most `width` at once; the first rejection stops the start of further work. */
async function pool(
  items: readonly string[],
  width: number,
  work: (item: string) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.max(1, width) }, worker));
}
