// Options of a small, quick run.

import { fileURLToPath } from 'node:url';
import { realRuntime } from '@bigfleet/base/real';
import { startCommandLaunch } from '../../process/launch.ts';
import type { RunObserver, SuiteRun } from '../../run/result.ts';
import { runSuite, type SubjectLaunch, type SuiteOptions } from '../suite.ts';

const tinyMain: string = fileURLToPath(new URL('../../testing/tiny-main.ts', import.meta.url));

/** A start command of the tiny provider, with more flags of it. */
export function tinyCommand(...flags: readonly string[]): string {
  const command = `${process.execPath} ${tinyMain} --addr={addr} --seed-count={seed}`;
  return [command, ...flags].join(' ');
}

export function started(command: string): SubjectLaunch {
  return { launch: startCommandLaunch(command, process.cwd()), isKitProvider: false };
}

const quiet: RunObserver = {
  laneStarted: () => {},
  checkStarted: () => {},
  checkEnded: () => {},
};

export async function run(
  options: Partial<SuiteOptions>,
  signal: AbortSignal = new AbortController().signal,
): Promise<SuiteRun> {
  const defaults: SuiteOptions = {
    provider: 'test',
    profiles: ['core'],
    checks: [],
    skipBaseline: true,
    seed: '7',
    timeScale: 1,
    seedCount: 32,
    basePort: 0,
    scale: { seedCount: 40, soakMs: 200 },
  };
  const services = { runtime: realRuntime(), observer: quiet, signal };
  return (await runSuite({ ...defaults, ...options }, services)).run;
}
