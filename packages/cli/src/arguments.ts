// Whether a program would take a command line, said without starting it: for those that write command lines, as
// charts do. A flag that only one side knew once crash-looped a published chart.

import type { Result } from '@bigfleet/base';
import { type FlagTable, type Parsed, parseFlags } from '@bigfleet/process/flags';
import type { Env } from './command.ts';
import { coordinatorFlags } from './coordinator/flags.ts';
import { coordinatorSettings } from './coordinator/settings.ts';
import { dashboardFlags } from './dashboard/flags.ts';
import { dashboardSettings } from './dashboard/settings.ts';
import { operatorFlags } from './operator/flags.ts';
import { operatorSettings } from './operator/settings.ts';
import { podControllerFlags } from './pod-controller/flags.ts';
import { podControllerSettings } from './pod-controller/settings.ts';
import { shardFlags } from './shard/flags.ts';
import { shardSettings } from './shard/settings.ts';

interface CommandLine {
  readonly flagNames: readonly string[];
  readonly problem: (args: readonly string[]) => string | undefined;
}

function commandLine<Table extends FlagTable>(
  flags: Table,
  settings: (parsed: Parsed<Table>, env: Env) => Result<unknown, string>,
): CommandLine {
  return {
    flagNames: Object.keys(flags),
    problem: (args) => {
      const parsed = parseFlags(flags, args);
      if (!parsed.ok) return parsed.error;
      const read = settings(parsed.value, {});
      return read.ok ? undefined : read.error;
    },
  };
}

const COMMAND_LINES = {
  coordinator: commandLine(coordinatorFlags, coordinatorSettings),
  shard: commandLine(shardFlags, shardSettings),
  operator: commandLine(operatorFlags, operatorSettings),
  'pod-controller': commandLine(podControllerFlags, podControllerSettings),
  dashboard: commandLine(dashboardFlags, dashboardSettings),
};

export type ProgramName = keyof typeof COMMAND_LINES;

/** What the program would refuse to start with; undefined when it would start. */
export function argumentsProblem(
  program: ProgramName,
  args: readonly string[],
): string | undefined {
  return COMMAND_LINES[program].problem(args);
}

export function flagNamesOf(program: ProgramName): readonly string[] {
  return COMMAND_LINES[program].flagNames;
}
