// `make conformance-mutants`: every mutant in turn, a line for each as soon as it is judged, then
// what is not as the registry says, and one closing line.

import type { Check } from '../../harness/check.ts';
import type { ProgressSink } from '../../report/progress.ts';
import { judgeMutant, type MutantJudgement } from './judge/judge-mutant.ts';
import type { Mutant } from './mutant.ts';
import type { RunOptions } from './options.ts';
import { header, judgementRow, summarise } from './report/matrix.ts';

const ERASE_LINE = '\r\u001B[2K';

export interface RunContext {
  readonly checks: readonly Check[];
  readonly stdout: ProgressSink;
  readonly signal: AbortSignal;
}

export async function runMutants(options: RunOptions, context: RunContext): Promise<0 | 1> {
  const { stdout, signal } = context;
  const { mutants } = options;
  const print = (line: string): void => {
    stdout.write(`${stdout.isTerminal ? ERASE_LINE : ''}${line}\n`);
  };
  print(header);
  const judgements: MutantJudgement[] = [];
  for (const [at, mutant] of mutants.entries()) {
    signal.throwIfAborted();
    showProgress(stdout, `${at + 1}/${mutants.length} ${mutant.name} …`);
    const judgement = await judgeMutant(mutant, chosenChecks(mutant, options, context.checks));
    judgements.push(judgement);
    print(judgementRow(judgement));
  }
  const { problems, closing } = summarise(judgements, options.isWhole);
  for (const problem of problems) print(problem);
  print(closing);
  return problems.length === 0 ? 0 : 1;
}

function chosenChecks(
  { caughtBy }: Mutant,
  { isAgainstAll }: RunOptions,
  checks: readonly Check[],
): readonly Check[] {
  return isAgainstAll ? checks : checks.filter(({ id }) => caughtBy.includes(id));
}

function showProgress(stdout: ProgressSink, line: string): void {
  if (!stdout.isTerminal) return;
  stdout.write(ERASE_LINE + line.slice(0, Math.max(0, stdout.columns - 1)));
}
