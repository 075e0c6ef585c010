// One run: select, measure one shape after the other, relate, judge, report. Never two shapes at
// once: on two cores they would measure each other.

import { applyRatios, ratioBars, withPartners } from './ratios.ts';
import { type Baseline, regressions } from './baseline.ts';
import { brokenBars } from './bars.ts';
import type { Discovered } from './discover.ts';
import { describeMachine, describeRevision } from './machine.ts';
import { compileNameGlob } from './name-glob.ts';
import type { Result, Results } from './results.ts';
import { type ShapeOutcome, runShape } from './run-shape.ts';

export interface RunOptions {
  readonly discovered: Discovered;
  readonly pattern: string;
  readonly root: string;
  readonly resultsFolder: string;
  readonly baseline: Baseline;
  readonly iterations?: number;
  readonly failOnRegression?: number;
  readonly measureAllocations: boolean;
  readonly progress: (line: string) => void;
}

export interface RunOutcome {
  readonly run: Results;
  /** Failed shapes, broken bars, and regressions when they were asked about. */
  readonly failures: readonly string[];
}

export function selectNames(
  { benches, ratios }: Pick<Discovered, 'benches' | 'ratios'>,
  pattern: string,
): readonly string[] {
  const matches = compileNameGlob(pattern);
  const selected = new Set([...benches.keys()].filter(matches));
  return [...withPartners(selected, ratios)].toSorted();
}

export async function runBenches(options: RunOptions): Promise<RunOutcome> {
  const names = selectNames(options.discovered, options.pattern);
  const outcomes: ShapeOutcome[] = [];
  for (const [index, name] of names.entries()) {
    options.progress(`[${index + 1}/${names.length}] ${name}`);
    outcomes.push(await measureNamed(name, options));
  }
  const measured = outcomes.filter((outcome) => outcome.kind === 'measured');
  const results = applyRatios(
    measured.map((outcome) => outcome.result),
    options.discovered.ratios,
  );
  const run: Results = {
    machine: describeMachine(),
    revision: describeRevision(options.root),
    calibrationMs: measured.length === 0 ? 0 : Math.min(...measured.map(({ kMs }) => kMs)),
    noisy: results.some((result) => result.extra['noisy'] === true),
    results,
  };
  return { run, failures: judge(outcomes, results, options) };
}

async function measureNamed(name: string, options: RunOptions): Promise<ShapeOutcome> {
  const found = options.discovered.benches.get(name);
  if (found === undefined) {
    return { kind: 'failed', name, message: 'named by a ratio but not defined' };
  }
  return runShape({
    bench: found.bench,
    file: found.file,
    resultsFolder: options.resultsFolder,
    measureAllocations: options.measureAllocations,
    ...(options.iterations === undefined ? {} : { iterations: options.iterations }),
  });
}

function judge(
  outcomes: readonly ShapeOutcome[],
  results: readonly Result[],
  { discovered, baseline, failOnRegression }: RunOptions,
): readonly string[] {
  const failed = outcomes.flatMap((outcome) =>
    outcome.kind === 'failed' ? [`${outcome.name}: ${outcome.message}`] : [],
  );
  const broken = results.flatMap((result) => {
    const own = discovered.benches.get(result.name)?.bench.bars ?? {};
    return brokenBars(result, { ...own, ...ratioBars(result.name, discovered.ratios) });
  });
  const slower =
    failOnRegression === undefined ? [] : regressions(results, baseline, failOnRegression);
  return [...failed, ...broken, ...slower];
}
