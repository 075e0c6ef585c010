// `make conformance-self`: the two self-test checks of the baseline, both subjects through every lane
// that they can take, and one closing line for each subject. It fails on any failure, and on
// any skip: of our own subjects everything must be shown. Each subject is certified with negative
// tokens taken, its default, and is asked B211 once more with `--strict-tokens`.

import type { Runtime } from '@bigfleet/base';
import { type BaselineCheck, wireChecks } from '../../baseline/index.ts';
import { nodeReadiness } from '../../baseline/node-readiness.ts';
import type { Check } from '../../harness/check.ts';
import { runSuite, type SuiteOptions } from '../../lanes/suite.ts';
import type { Launch } from '../../process/launch.ts';
import { closingLine, renderConsole } from '../../report/console.ts';
import { Progress, type ProgressSink } from '../../report/progress.ts';
import { countStatus, resultsOfLane } from '../../report/totals.ts';
import type { SuiteRun } from '../../run/result.ts';
import { judge } from '../../verdict/judge.ts';
import { fakeLaunch, type SelfSubject, selfSubjects } from './subjects.ts';

export interface SelfContext {
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  readonly checks: readonly Check[];
  readonly stdout: ProgressSink;
}

export async function runSelf(context: SelfContext): Promise<0 | 1> {
  const closing: string[] = [];
  let isGreen = true;
  for (const selfTest of selfTests) isGreen = (await runSelfTest(context, selfTest)) && isGreen;
  for (const subject of selfSubjects) {
    isGreen = (await refusesNegativeTokens(context, subject)) && isGreen;
    const judged = await judgeSubject(context, subject);
    closing.push(judged.closing);
    isGreen &&= judged.isGreen;
  }
  context.stdout.write(`${closing.join('\n')}\n`);
  return isGreen ? 0 : 1;
}

async function judgeSubject(
  context: SelfContext,
  subject: SelfSubject,
): Promise<{ readonly closing: string; readonly isGreen: boolean }> {
  context.stdout.write(`== ${subject.name}: ${subject.profiles.join(',')}\n`);
  const { launch, isKitProvider, profiles, name } = subject;
  const run = await runOn(context, {
    provider: name,
    subject: { launch, isKitProvider },
    profiles,
  });
  const judgement = judge(run);
  const isComplete = countStatus(judgement, 'passed') === subject.expectedPassedCount;
  const isLenient = tokenNote(run) === 'lenient';
  const isGreen = judgement.verdict === 'CERTIFIED' && isComplete && isLenient;
  // The whole table only where it is needed: a reader of a green run wants the closing lines.
  const lines = renderConsole(run, judgement);
  context.stdout.write(`${(isGreen ? lines.slice(-1) : lines).join('\n')}\n`);
  return { closing: closingLine(name, judgement), isGreen };
}

async function refusesNegativeTokens(
  context: SelfContext,
  { name, strictLaunch }: SelfSubject,
): Promise<boolean> {
  const run = await runOn(context, {
    provider: name,
    subject: { launch: strictLaunch, isKitProvider: false },
    profiles: ['core'],
    only: new Set(['B211']),
  });
  const note = tokenNote(run);
  context.stdout.write(`${name} --strict-tokens: ${note}\n`);
  return note === 'strict';
}

/** What B211 recorded: `strict` or `lenient`; or what else became of it. */
function tokenNote(run: SuiteRun): string {
  const [result] = resultsOfLane(run, 'extension').filter(
    ({ behaviourId }) => behaviourId === 'B211',
  );
  if (result === undefined) return 'B211 was not judged';
  return result.outcome.kind === 'passed' ? result.notes.join(', ') : `B211 ${result.outcome.kind}`;
}

interface SelfTest {
  readonly name: string;
  readonly launch: Launch;
  readonly seedCount: number;
  readonly baseline: readonly BaselineCheck[];
}

/** The two checks of conformance §3 that need a fake of our own, each in a process of its own. */
const selfTests: readonly SelfTest[] = [
  { name: 'SelfTest', launch: fakeLaunch(), seedCount: 32, baseline: wireChecks },
  {
    name: nodeReadiness.name,
    // Every transition takes longer than the window in which nothing may be CONFIGURED.
    launch: fakeLaunch(['--latency=2s']),
    seedCount: 4,
    baseline: [nodeReadiness],
  },
];

async function runSelfTest(context: SelfContext, selfTest: SelfTest): Promise<boolean> {
  const { name, launch, seedCount, baseline } = selfTest;
  const run = await runOn(context, {
    provider: 'fake',
    subject: { launch, isKitProvider: false },
    profiles: ['core'],
    seedCount,
    baseline,
    baselineOnly: true,
  });
  const results = resultsOfLane(run, 'baseline');
  const isGreen =
    results.length === baseline.length && results.every(({ outcome }) => outcome.kind === 'passed');
  const lines = isGreen ? [] : renderConsole(run, judge(run));
  context.stdout.write(`${[...lines, `${name}: ${isGreen ? 'passed' : 'FAILED'}`].join('\n')}\n`);
  return isGreen;
}

type SelfOptions = Pick<SuiteOptions, 'provider' | 'subject' | 'profiles'> & Partial<SuiteOptions>;

async function runOn(context: SelfContext, options: SelfOptions): Promise<SuiteRun> {
  const { runtime, signal, checks, stdout } = context;
  const observer = new Progress(stdout);
  const defaults = {
    checks,
    skipBaseline: false,
    seed: '1',
    timeScale: 1,
    seedCount: 256,
    basePort: 0,
    scale: { seedCount: 8_000, soakMs: 10_000 },
  };
  const finished = await runSuite(
    { ...defaults, ...options },
    { runtime, signal, observer },
  ).finally(() => observer.end());
  if (finished.logFolder !== undefined) stdout.write(`logs: ${finished.logFolder}\n`);
  return finished.run;
}
