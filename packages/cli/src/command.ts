// What a subcommand of `bigfleet` is to the front door, its exit codes, and the version of this build.

import type { Runtime } from '@bigfleet/base';
import type { FlagTable } from '@bigfleet/process/flags';
import type { ProcessPort } from '@bigfleet/process';

/** As processes report it and as clients compare it. */
export const BUILD_VERSION = '0.1.0';

/** 0 as asked, 1 it failed or refused to start, 2 the command line is wrong. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

export interface CommandContext {
  readonly runtime: Runtime;
  readonly port: ProcessPort;
}

export interface Command {
  readonly summary: string;
  readonly flags: FlagTable;
  /** Returns the exit code. */
  run(argv: readonly string[], context: CommandContext): Promise<number>;
}
