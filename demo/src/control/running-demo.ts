// How a command in a second terminal finds the demo that runs: each run leaves a file in its own directory,
// which lies where every run's lies, and takes it away at its end. A file whose process is gone, or that
// another user has put there, counts as no demo.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BigFleetError } from '@bigfleet/base';
import type { ClusterName, ShardName } from '../places.ts';
import { RUNS_FOLDER, RUN_PREFIX } from '../work-dir.ts';

export interface RunningDemo {
  readonly pid: number;
  /** Data, logs, sockets and kubeconfig of the run. */
  readonly dir: string;
  readonly dashboardUrl: string;
  readonly shards: readonly ShardName[];
  readonly clusters: readonly ClusterName[];
  /** Zones with the shard that owns each. */
  readonly zones: Readonly<Record<string, ShardName>>;
}

const FILE = 'demo.json';

/** Where it takes commands. */
export function demoSocket(dir: string): string {
  return path.join(dir, 'control.sock');
}

/** From here on it is found. Takes the file away when disposed. */
export function announce(demo: RunningDemo): Disposable {
  const file = path.join(demo.dir, FILE);
  writeFileSync(file, JSON.stringify(demo));
  return { [Symbol.dispose]: () => rmSync(file, { force: true }) };
}

/** All of this user's. */
export function runningDemos(folder: string = RUNS_FOLDER): readonly RunningDemo[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith(RUN_PREFIX))
    .flatMap((name) => {
      const demo = demoIn(path.join(folder, name));
      return demo === undefined ? [] : [demo];
    });
}

/** Throws `unavailable` and says what to do when there is none, or more than one to choose from. */
export function chooseDemo(demos: readonly RunningDemo[], dir: string | undefined): RunningDemo {
  if (dir !== undefined && dir !== '') {
    const named = demos.find((demo) => demo.dir === path.resolve(dir));
    if (named !== undefined) return named;
    throw new BigFleetError('unavailable', `DEMO=${dir}: no demo runs there${listOf(demos)}`);
  }
  const [only, second] = demos;
  if (only === undefined) {
    const message =
      'no demo runs: start one with `make up` in another terminal, until it says ready';
    throw new BigFleetError('unavailable', message);
  }
  if (second === undefined) return only;
  throw new BigFleetError('unavailable', `several demos run: say which one${listOf(demos)}`);
}

function listOf(demos: readonly RunningDemo[]): string {
  return demos
    .map(({ pid, dir, dashboardUrl }) => `\n  DEMO=${dir}  # process ${pid}, ${dashboardUrl}`)
    .join('');
}

function demoIn(dir: string): RunningDemo | undefined {
  try {
    // The folder of all runs may be everybody's: a file of another user is no word of ours.
    if (statSync(dir).uid !== process.getuid?.()) return undefined;
    const demo = JSON.parse(readFileSync(path.join(dir, FILE), 'utf8')) as RunningDemo;
    return demo.dir === dir && isAlive(demo.pid) ? demo : undefined;
  } catch (error) {
    // A run that starts, ends or failed has no file, or half of one.
    const isRead =
      error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (isRead) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
