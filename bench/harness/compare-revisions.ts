// Which of two revisions is faster: A B, B A, A B, … each run a fresh process of that revision's
// own bench/run.ts, then the median of the paired ratios with its 95 % interval. A difference
// whose interval contains 1 is called what it is: inside the noise.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type MedianInterval, medianInterval } from './median-interval.ts';
import { type Results, parseResults } from './results.ts';
import { prepareTree } from './revision-tree.ts';
import { withTempFolder } from './temp-folder.ts';

export interface CompareOptions {
  readonly root: string;
  readonly revisions: readonly [string, string];
  readonly pattern: string;
  readonly rounds: number;
  readonly iterations?: number;
  readonly progress: (line: string) => void;
}

export type Verdict = 'faster' | 'slower' | 'inside the noise' | 'too few rounds';

export interface Comparison {
  readonly name: string;
  readonly aP50Ms: number;
  readonly bP50Ms: number;
  /** B's p50 ÷ A's: below 1, B is faster. */
  readonly ratio: MedianInterval;
  readonly verdict: Verdict;
}

const MAX_OUTPUT_BYTES = 64 * 2 ** 20;
const RUN_TIMEOUT_MS = 3_600_000;

export function compareRevisions(options: CompareOptions): Promise<readonly Comparison[]> {
  return withTempFolder('compare', (folder) => compareInside(folder, options));
}

async function compareInside(
  folder: string,
  options: CompareOptions,
): Promise<readonly Comparison[]> {
  const { root, revisions, rounds, progress } = options;
  const [a, b] = revisions;
  const trees = [
    prepareTree({ root, revision: a, folder: join(folder, 'tree-a'), progress }),
    prepareTree({ root, revision: b, folder: join(folder, 'tree-b'), progress }),
  ] as const;
  const runs: readonly [Results[], Results[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    progress(`round ${round + 1}/${rounds}`);
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      runs[side].push(await runTree(trees[side], join(folder, 'results'), options));
    }
  }
  return compareRuns(...runs);
}

async function runTree(
  tree: string,
  resultsFolder: string,
  { pattern, iterations }: CompareOptions,
): Promise<Results> {
  const args = [join(tree, 'bench', 'run.ts'), '--bench', pattern, '-o', 'json', '--no-alloc'];
  args.push('--results', resultsFolder);
  if (iterations !== undefined) args.push('--iterations', String(iterations));
  const { stdout, stderr } = await runNode(args, tree);
  try {
    return parseResults(stdout);
  } catch (cause) {
    throw new Error(`bench run of ${tree} failed:\n${stderr}`, { cause });
  }
}

interface Output {
  readonly stdout: string;
  readonly stderr: string;
}

/** Resolves whatever the exit code: a broken bar of an old revision must not stop a comparison. */
function runNode(args: readonly string[], cwd: string): Promise<Output> {
  const options = { cwd, maxBuffer: MAX_OUTPUT_BYTES, timeout: RUN_TIMEOUT_MS };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) => {
      process.removeListener('exit', stop);
      resolve({ stdout, stderr });
    });
    const stop = (): void => {
      child.kill('SIGTERM');
    };
    process.once('exit', stop);
  });
}

/** Pairs runs by round; only shapes that both revisions measured in every round. */
export function compareRuns(
  aRuns: readonly Results[],
  bRuns: readonly Results[],
): readonly Comparison[] {
  const names = aRuns[0]?.results.map((result) => result.name) ?? [];
  return names.flatMap((name) => {
    const aTimes = aRuns.flatMap((run) => p50Of(run, name));
    const bTimes = bRuns.flatMap((run) => p50Of(run, name));
    if (aTimes.length !== aRuns.length || bTimes.length !== aRuns.length) return [];
    const ratio = medianInterval(aTimes.map((aMs, round) => (bTimes[round] ?? 0) / aMs));
    return [
      {
        name,
        aP50Ms: medianInterval(aTimes).median,
        bP50Ms: medianInterval(bTimes).median,
        ratio,
        verdict: judge(ratio),
      },
    ];
  });
}

function p50Of(run: Results, name: string): readonly number[] {
  return run.results.flatMap((result) => (result.name === name ? [result.p50Ms] : []));
}

function judge({ low, high, confident }: MedianInterval): Verdict {
  if (!confident) return 'too few rounds';
  if (high < 1) return 'faster';
  return low > 1 ? 'slower' : 'inside the noise';
}

export function renderComparison(
  comparisons: readonly Comparison[],
  [a, b]: readonly [string, string],
): string {
  const lines = comparisons.map(({ name, aP50Ms, bP50Ms, ratio, verdict }) => {
    const interval = `×${ratio.median.toFixed(3)} [${ratio.low.toFixed(3)}, ${ratio.high.toFixed(3)}]`;
    const words = verdict === 'faster' || verdict === 'slower' ? `${b} is ${verdict}` : verdict;
    return `${name}  ${a} ${aP50Ms.toPrecision(4)} ms  ${b} ${bP50Ms.toPrecision(4)} ms  ${interval}  ${words}`;
  });
  return `${lines.join('\n')}\n`;
}
