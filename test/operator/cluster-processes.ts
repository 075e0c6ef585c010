// Starts the two processes of a cluster, and reads their probes.

import path from 'node:path';
import { http, type RunningProcess, startProcess } from '../toolkit/index.ts';

const SOURCES = path.join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src');
/** Run as processes, never imported. */
const MAINS = {
  operator: 'operator-main.ts',
  'pod-controller': 'pod-controller-main.ts',
} as const;
export type ProgramName = keyof typeof MAINS;
const SERVING = / msg="metrics serving" .* addr=(\S+)/;

export interface ClusterProcess extends AsyncDisposable {
  readonly process: RunningProcess;
  /** Of a probe or of the metrics. */
  get(path: string): Promise<{ readonly status: number; readonly body: string }>;
  /** The value of one series, labels as a scrape writes them; undefined while it is not there. */
  metric(series: string): Promise<number | undefined>;
}

/** As soon as the process exists. */
export function launch(
  program: ProgramName,
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  return startProcess({
    name: program,
    env,
    command: process.execPath,
    args: [
      path.join(SOURCES, MAINS[program]),
      ...(argv.some((each) => each.startsWith('--metrics-addr='))
        ? []
        : ['--metrics-addr=127.0.0.1:0']),
      ...argv,
    ],
  });
}

/** Waits until its probes answer, and for nothing else. */
export async function start(
  program: ProgramName,
  argv: readonly string[],
): Promise<ClusterProcess> {
  const child = await launch(program, argv);
  const [, address = ''] = await child.waitForLine(SERVING);
  const get = async (target: string) => {
    const { status, body } = await http({ url: `http://${address}${target}` });
    return { status, body };
  };
  return {
    process: child,
    get,
    metric: async (series) => {
      const { body } = await get('/metrics');
      const line = body.split('\n').find((each) => each.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length));
    },
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
