// The command bfconformance: flags in, verdict out. Everything of the process that it touches
// (arguments, environment, output, signals) comes as an argument, so that main.ts holds no logic.

import { describeThrown, type Runtime } from '@bigfleet/base';
import { behaviours } from '../catalogue/catalogue.ts';
import type { Check } from '../harness/check.ts';
import { type FinishedSuite, runSuite, type SuiteOptions } from '../lanes/suite.ts';
import { renderConsole } from '../report/console.ts';
import { Progress, type ProgressSink } from '../report/progress.ts';
import { writeReports } from '../report/write.ts';
import { resultsOf, type SuiteRun } from '../run/result.ts';
import { judge, type Judgement } from '../verdict/judge.ts';
import { parseFlags } from './flags.ts';
import { helpText, listText } from './help.ts';
import { type Environment, readOptions } from './options.ts';

export interface CommandContext {
  readonly argv: readonly string[];
  readonly env: Environment;
  readonly cwd: string;
  readonly runtime: Runtime;
  readonly checks: readonly Check[];
  readonly stdout: ProgressSink;
  /** One message, without its prefix. */
  complain(message: string): void;
  readonly signal: AbortSignal;
}

export type ExitCode = 0 | 1 | 2;

export async function runCommand(context: CommandContext): Promise<ExitCode> {
  const { argv, env, cwd, checks, stdout } = context;
  const flags = parseFlags(argv);
  if (!flags.ok) return usage(context, flags.error);
  const values = flags.value;
  if (values.get('help') === 'true') {
    stdout.write(helpText());
    return 0;
  }
  if (values.get('list') === 'true') {
    stdout.write(listText(behaviours));
    return 0;
  }
  const options = readOptions({ values, env, cwd, checks });
  if (!options.ok) return usage(context, options.error);
  try {
    return await judgeAndReport(context, options.value, values.get('out'));
  } catch (error) {
    context.complain(describeThrown(context.signal.aborted ? context.signal.reason : error));
    return 2;
  }
}

function usage(context: CommandContext, problem: string): ExitCode {
  context.complain(`${problem} (-help lists the flags)`);
  return 2;
}

async function judgeAndReport(
  context: CommandContext,
  options: SuiteOptions,
  out: string | undefined,
): Promise<ExitCode> {
  const { runtime, signal, stdout } = context;
  const { provider, profiles, seed } = options;
  stdout.write(`judging ${provider} for ${profiles.join(',')}, seed ${seed}\n`);
  const observer = new Progress(stdout);
  const finished = await runSuite(options, { runtime, signal, observer }).finally(() =>
    observer.end(),
  );
  const judgement = judge(finished.run);
  const lines = [...logLines(finished), ...renderConsole(finished.run, judgement)];
  stdout.write(`${lines.join('\n')}\n`);
  if (out !== undefined) await writeReports(out, finished.run, judgement);
  return exitCodeOf(context, finished.run, judgement);
}

function logLines({ logFolder }: FinishedSuite): string[] {
  return logFolder === undefined ? [] : [`logs of the booted processes: ${logFolder}`];
}

/** A run in which no lane produced anything is no statement about the provider. */
function exitCodeOf(context: CommandContext, run: SuiteRun, judgement: Judgement): ExitCode {
  if (judgement.verdict === 'CERTIFIED') return 0;
  if (run.lanes.some((report) => resultsOf(report).length > 0)) return 1;
  context.complain(`nothing could be judged: ${judgement.gaps.join('; ')}`);
  return 2;
}
