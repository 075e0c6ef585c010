// The command line of the test runner. An unknown option, lane or duration is an error: a
// mistyped filter must not pass for "everything is green".

import { parseArgs } from 'node:util';
import type { Lane } from './lanes.ts';
import { parseDuration } from './long.ts';

export interface Options {
  readonly filter: string | undefined;
  readonly lane: string | undefined;
  readonly long: boolean;
  readonly boxMs: number;
  /** Another tree than this repository, for the runner's own tests. */
  readonly root: string | undefined;
}

export const USAGE =
  'usage: node tools/test/run.ts [--filter <glob>] [--lane <name>] [--long [--time 30m]]';

export type ParsedOptions =
  | { readonly ok: true; readonly options: Options }
  | { readonly ok: false; readonly problem: string };

export function parseOptions(args: readonly string[], lanes: readonly Lane[]): ParsedOptions {
  const parsed = readArgs(args);
  if (typeof parsed === 'string') return { ok: false, problem: parsed };
  const { filter, lane, long = false, time = '30m' } = parsed;
  const names = lanes.map(({ name }) => name);
  if (lane !== undefined && !names.includes(lane)) {
    return { ok: false, problem: `no lane "${lane}": ${names.join(', ')}` };
  }
  if (parsed.time !== undefined && !long) {
    return { ok: false, problem: '--time needs --long' };
  }
  const boxMs = parseDuration(time);
  if (boxMs === undefined)
    return { ok: false, problem: `bad --time "${time}": say 90s, 30m or 1h` };
  return { ok: true, options: { filter, lane, long, boxMs, root: parsed.root } };
}

interface Values {
  readonly filter?: string;
  readonly lane?: string;
  readonly long?: boolean;
  readonly time?: string;
  readonly root?: string;
}

function readArgs(args: readonly string[]): Values | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        filter: { type: 'string' },
        lane: { type: 'string' },
        long: { type: 'boolean' },
        time: { type: 'string' },
        root: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
