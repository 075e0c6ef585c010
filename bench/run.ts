// Command line of the benchmarks: wiring only. Results and tables on stdout, progress on stderr.

import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeProblem } from '@bigfleet/process/node-version';
import { readBaseline, updatedBaseline, writeBaseline } from './harness/baseline.ts';
import { type CompareArgs, type RunArgs, HELP, parseCli } from './harness/cli-args.ts';
import { compareRevisions, renderComparison } from './harness/compare-revisions.ts';
import { discover } from './harness/discover.ts';
import { writeResults } from './harness/results.ts';
import { runBenches, selectNames } from './harness/run-benches.ts';
import { renderTable } from './harness/table.ts';

const BENCH_FOLDER = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(BENCH_FOLDER);

async function main(): Promise<number> {
  const wrongNode = nodeProblem(process.version);
  if (wrongNode !== undefined) return usage(`${wrongNode}: use make bench`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // Exiting, rather than dying, is what ends the measuring child.
    process.once(signal, () => process.exit(130));
  }
  const args = parseCli(process.argv.slice(2));
  switch (args.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'usage':
      return usage(args.message);
    case 'list':
      return list(args.pattern, folderOf(args));
    case 'compare':
      return compare(args);
    case 'run':
      return run(args);
  }
}

async function run(args: RunArgs): Promise<number> {
  const discovered = await discover(folderOf(args), [args.pattern]);
  if (selectNames(discovered, args.pattern).length === 0) return noMatch(args.pattern);
  const resultsFolder = resolve(args.resultsFolder ?? join(BENCH_FOLDER, 'results'));
  const baselinePath = resolve(args.baselinePath ?? join(BENCH_FOLDER, 'baseline.json'));
  const baseline = readBaseline(baselinePath);
  const options = { ...args, discovered, resultsFolder, baseline, root: ROOT, progress };
  const { run: results, failures } = await runBenches(options);

  const path = writeResults(resultsFolder, results);
  process.stdout.write(
    args.output === 'json'
      ? `${JSON.stringify(results, null, 2)}\n`
      : renderTable(results, baseline, { colour: process.stdout.isTTY === true }),
  );
  progress(`results: ${path}`);
  for (const failure of failures) process.stderr.write(`FAILED ${failure}\n`);
  if (args.updateBaseline) {
    writeBaseline(baselinePath, updatedBaseline(baseline, results));
    progress(`baseline: ${baselinePath}`);
  }
  return failures.length === 0 ? 0 : 1;
}

async function list(pattern: string, folder: string): Promise<number> {
  const names = selectNames(await discover(folder, [pattern]), pattern);
  if (names.length === 0) return noMatch(pattern);
  process.stdout.write(`${names.join('\n')}\n`);
  return 0;
}

async function compare(args: CompareArgs): Promise<number> {
  const comparisons = await compareRevisions({ ...args, root: ROOT, progress });
  if (comparisons.length === 0) return noMatch(args.pattern);
  process.stdout.write(
    args.output === 'json'
      ? `${JSON.stringify(comparisons, null, 2)}\n`
      : renderComparison(comparisons, args.revisions),
  );
  return 0;
}

function folderOf({ folder }: { readonly folder?: string }): string {
  return resolve(folder ?? BENCH_FOLDER);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

function noMatch(pattern: string): number {
  process.stderr.write(`no bench matches '${pattern}'; node bench/run.ts --list names them all\n`);
  return 2;
}

function usage(message: string): number {
  process.stderr.write(`${message}\n\n${HELP}`);
  return 2;
}

process.exitCode = await main();
