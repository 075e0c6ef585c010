// `node tools/test/run.ts`: the test command of the repository (`make test`, `make test-long`,
// `make e2e-kube`, `make e2e-browser`).
// Ends with the plain line `N passed, N failed[, N skipped]`; exits 0 only when nothing failed
// and something ran, 1 on a failure, 2 on a wrong command line.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { requireNode24 } from '@bigfleet/process/node-version';
import { killChildren } from './child.ts';
import { discover } from './discover.ts';
import { assignLanes, E2E_LANES, type Lane, LANES } from './lanes.ts';
import { rotate } from './long.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { filterFiles, printSkipped, type Runner, runLane, runLong } from './runner.ts';
import { addTotals, closingLine, NOTHING, type Totals } from './summary.ts';

requireNode24();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killChildren();
    process.exit(130);
  });
}
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = parseOptions(args, LANES, E2E_LANES);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return 2;
  }
  const root = path.resolve(options.root ?? path.join(import.meta.dirname, '../..'));
  const color = process.stdout.isTTY === true;
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const runner: Runner = { root, style: { color, root }, print };
  const run = options.long ? longTests : options.e2e ? endToEndTests : tests;
  const totals = await run(runner, options).catch((error: unknown) => {
    print(`FAIL ${error instanceof Error ? error.message : String(error)}`);
    return { ...NOTHING, failed: 1 };
  });
  printSkipped(runner, totals);
  print(closingLine(totals));
  return totals.failed === 0 ? 0 : 1;
}

async function tests(runner: Runner, options: Options): Promise<Totals> {
  const files = filterFiles(discover(runner.root, '.test.ts'), options.filter);
  if (files.length === 0) return nothingFound(runner);
  return await runLanes(runner, options, LANES, files);
}

async function runLanes(
  runner: Runner,
  options: Options,
  lanes: readonly Lane[],
  files: readonly string[],
): Promise<Totals> {
  const assigned = assignLanes(lanes, files);
  const floors = options.filter === undefined;
  let totals = NOTHING;
  for (const lane of lanes) {
    const chosen = options.lane === undefined || options.lane === lane.name;
    const laneFiles = assigned.get(lane.name) ?? [];
    if (!chosen || (laneFiles.length === 0 && !floors)) continue;
    totals = addTotals(totals, await runLane(runner, lane, laneFiles, floors));
  }
  return totals;
}

async function endToEndTests(runner: Runner, options: Options): Promise<Totals> {
  const files = filterFiles(discover(runner.root, '.e2e.ts'), options.filter);
  if (files.length === 0) return nothingFound(runner);
  return await runLanes(runner, options, E2E_LANES, files);
}

async function longTests(runner: Runner, options: Options): Promise<Totals> {
  const files = filterFiles(discover(runner.root, '.long.ts'), options.filter);
  if (files.length === 0) return nothingFound(runner);
  const key = `${new Date().toISOString().slice(0, 10)} ${commit(runner.root)}`;
  runner.print(`${files.length} long files, box ${options.boxMs / 60_000} min, order of ${key}`);
  return await runLong(runner, rotate(files, key), options.boxMs);
}

function nothingFound(runner: Runner): Totals {
  runner.print('FAIL no test file matches');
  return { ...NOTHING, failed: 1 };
}

/** The present commit; none before the first one or outside a repository. */
function commit(root: string): string {
  try {
    const args = ['rev-parse', '--verify', '--short', 'HEAD'];
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'no commit';
  }
}
