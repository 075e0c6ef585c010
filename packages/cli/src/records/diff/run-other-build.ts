// Runs another build of bigfleet over a directory, as a process of its own: its code never mixes with
// this one's. What it prints goes into a file, what it complains about into the error.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { BigFleetError, type Runtime, runWithDeadline } from '@bigfleet/base';
import { unusable } from './decision-file.ts';

const MAX_COMPLAINT_LENGTH = 2_000;
const MAIN_OF_CHECKOUT = 'packages/cli/src/main.ts';

export interface OtherBuildRun {
  readonly runtime: Runtime;
  /** A main file, or a checkout. */
  readonly build: string;
  readonly argv: readonly string[];
  readonly outputFile: string;
  readonly timeoutMs: number;
}

export async function runOtherBuild(run: OtherBuildRun): Promise<void> {
  const { runtime, timeoutMs } = run;
  const main = mainOf(run.build);
  const output = openSync(run.outputFile, 'w', 0o600);
  try {
    const child = spawn(process.execPath, [main, ...run.argv], {
      stdio: ['ignore', output, 'pipe'],
    });
    let complaint = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-MAX_COMPLAINT_LENGTH);
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', ({ message }) => resolve(message));
      child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
    });
    const how = await runWithDeadline(runtime, { ms: timeoutMs }, () => ended).catch(
      async (timedOut: unknown) => {
        child.kill('SIGKILL');
        await ended;
        throw timedOut;
      },
    );
    if (how !== 'exit code 0') throw unusable(`${how} ${complaint}`.trim());
  } finally {
    closeSync(output);
  }
}

function mainOf(build: string): string {
  const main = path.join(build, MAIN_OF_CHECKOUT);
  if (existsSync(main)) return main;
  if (statSync(build, { throwIfNoEntry: false })?.isFile() === true) return path.resolve(build);
  const problem = `--against=${build} is neither a main file nor a checkout of bigfleet`;
  throw new BigFleetError('other_build_unusable', problem);
}
