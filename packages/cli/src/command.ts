// What a subcommand is to the front door, and its exit codes.

import type { Runtime } from '@bigfleet/base';
import type { FlagTable } from '@bigfleet/process/flags';
import type { ProcessPort } from '@bigfleet/process';

/** 0 as asked, 1 it failed or refused to start, 2 the command line is wrong. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

export interface CommandContext {
  readonly runtime: Runtime;
  readonly port: ProcessPort;
}

export interface Command {
  readonly summary: string;
  /** For the reference page, where the front door does not know them. */
  readonly flags?: FlagTable;
  /** Returns the exit code. */
  run(argv: readonly string[], context: CommandContext): Promise<number>;
}
