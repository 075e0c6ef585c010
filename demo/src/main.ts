// `make up`: options, ports, the run, the summary as the last line, the exit code. 0: everything was
// shown, or a person stopped it; 1: something was missing or broke; 2: bad options.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { runningDemos } from './control/running-demo.ts';
import { runDemo, type RunResult } from './demo.ts';
import { type DemoOptions, parseOptions, usage } from './options.ts';
import { HOST } from './places.ts';
import { portProblems } from './ports/port-problems.ts';
import { deeperCommands } from './view/deeper.ts';
import { kubectlCommands } from './view/kubectl.ts';
import type { Output, View } from './view/scene.ts';
import { PlainView } from './view/plain-view.ts';
import { TerminalView } from './view/terminal-view.ts';
import { castText, tryCommands, tryLine } from './view/try.ts';
import { createWorkDir, type WorkDir } from './work-dir.ts';

const OK = 0;
const FAILED = 1;
const USAGE = 2;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const stdout: Output = {
  isTerminal: process.stdout.isTTY === true,
  // A terminal that does not know its size says 0.
  get columns() {
    return process.stdout.columns || 80;
  },
  get rows() {
    return process.stdout.rows || 24;
  },
  write: (text) => {
    process.stdout.write(text);
  },
};

export async function main(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const parsed = parseOptions(args, env);
  if (!parsed.ok) return failed(`${parsed.problem}\n${usage}`, USAGE);
  const problems = await portProblems(parsed.options.ports, parsed.options.usedPorts);
  if (problems.length > 0) return failed([...problems, ...otherDemos()].join('\n'), FAILED);
  return run(parsed.options);
}

async function run(options: DemoOptions): Promise<number> {
  const dir = createWorkDir();
  const { profile, ports, etcd, seed } = options;
  const tries = ['Five things to try, in a second terminal:', ...tryCommands()];
  const kubectl = ['With kubectl:', ...kubectlCommands(dir.path, profile)];
  const deeper = ['Look deeper:', ...deeperCommands(dir.path, ports)];
  const view = stdout.isTerminal
    ? new TerminalView(stdout, { short: tryLine(), groups: [tries, kubectl, deeper] })
    : new PlainView(stdout);
  view.line(`BigFleet: ${castText(profile, etcd !== undefined)}; seed ${seed}`);
  // On a terminal too: a small window has no room for them later.
  for (const lines of [deeper, kubectl]) view.line(lines.join('\n'));
  const dashboardUrl = `http://${HOST}:${ports.dashboard}`;
  const welcome = ['', `Dashboard: ${dashboardUrl}`, '', ...tries, ''];
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new BigFleetError('cancelled', 'stopped by a signal'));
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  try {
    const runtime = realRuntime();
    const result = await runDemo({
      ...options,
      runtime,
      view,
      dir: dir.path,
      dashboardUrl,
      welcome,
      stop: stop.signal,
    });
    const code = conclude(view, result);
    if (code === OK) dir.remove();
    else process.stderr.write(`logs and records are kept in ${dir.path}\n`);
    return code;
  } catch (error) {
    view.close();
    if (stop.signal.aborted) return stoppedEarly(dir);
    if (!(error instanceof BigFleetError)) throw error;
    const kept = dir.removeEmpty() ? '' : `\nlogs and records are kept in ${dir.path}`;
    return failed(`${error.message}${kept}`, FAILED);
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
  }
}

/** The likeliest holders of our ports. */
function otherDemos(): readonly string[] {
  return runningDemos().map(
    ({ pid, dashboardUrl }) =>
      `a demo runs already: process ${pid}, ${dashboardUrl}; kill -INT ${pid} stops it`,
  );
}

/** Before there was anything to sum up. */
function stoppedEarly(dir: WorkDir): number {
  dir.remove();
  return OK;
}

function conclude(view: View, { summary, isWhole }: RunResult): number {
  view.close();
  const isJudged = isWhole && summary.problems.length > 0;
  if (isJudged) for (const problem of summary.problems) process.stderr.write(`${problem}\n`);
  view.line(JSON.stringify(summary));
  return isJudged ? FAILED : OK;
}

function failed(text: string, code: number): number {
  process.stderr.write(`${text}\n`);
  return code;
}
