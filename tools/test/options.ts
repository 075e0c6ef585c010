// The command line of the test runner. An unknown option, lane or duration is an error: a
// mistyped filter must not pass for "everything is green".

import { parseArgs } from 'node:util';
import { parseDuration } from '@bigfleet/process/flags';
import type { Lane } from './lanes.ts';

export interface Options {
  readonly filter: string | undefined;
  readonly lane: string | undefined;
  readonly long: boolean;
  /** End-to-end tests, and nothing else. */
  readonly e2e: boolean;
  readonly boxMs: number;
  /** Another tree than this repository, for the runner's own tests. */
  readonly root: string | undefined;
}

export const USAGE =
  'usage: node tools/test/run.ts [--e2e | --long [--time 30m]] [--filter <glob>] [--lane <name>]';
const MAX_BOX_MS = 24 * 3_600_000;

/** Throws an Error whose message is for the reader. */
export function parseOptions(
  args: readonly string[],
  testLanes: readonly Lane[],
  e2eLanes: readonly Lane[],
): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      filter: { type: 'string' },
      lane: { type: 'string' },
      long: { type: 'boolean' },
      e2e: { type: 'boolean' },
      time: { type: 'string' },
      root: { type: 'string' },
    },
  });
  const { filter, lane, long = false, e2e = false, time, root } = values;
  const names = (e2e ? e2eLanes : testLanes).map(({ name }) => name);
  if (lane !== undefined && !names.includes(lane)) {
    throw new Error(`no lane "${lane}": ${names.join(', ')}`);
  }
  if (e2e && long) throw new Error('--e2e and --long are apart');
  if (time !== undefined && !long) throw new Error('--time needs --long');
  const box = parseDuration(time ?? '30m');
  if (!box.ok || box.value === 0 || box.value > MAX_BOX_MS) {
    throw new Error(`bad --time "${time}": say 90s, 30m or 1h`);
  }
  return { filter, lane, long, e2e, boxMs: box.value, root };
}
