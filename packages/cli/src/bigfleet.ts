// The front door `bigfleet <subcommand>` (coordinator §12.1).

import { nodeProblem } from '@bigfleet/process';
import { type Command, type CommandContext, EXIT } from './command.ts';
import { allInOneCommand } from './all-in-one/command.ts';
import { coordinatorCommand } from './coordinator/command.ts';
import { dashboardCommand } from './dashboard/command.ts';
import { diffCommand } from './records/diff/diff-command.ts';
import { explainCommand } from './records/explain-command.ts';
import { recordsCommand } from './records/records-command.ts';
import { replayCommand } from './records/replay-command.ts';
import { shardCommand } from './shard/command.ts';
import { whatIfCommand } from './what-if/what-if-command.ts';

export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['coordinator', coordinatorCommand],
  ['shard', shardCommand],
  ['all-in-one', allInOneCommand],
  ['dashboard', dashboardCommand],
  ['explain', explainCommand],
  ['records', recordsCommand],
  ['replay', replayCommand],
  ['diff', diffCommand],
  ['what-if', whatIfCommand],
]);

export async function runBigfleet(
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { port } = context;
  const [name = '', ...rest] = argv;
  const wrongNode = nodeProblem(port.nodeVersion);
  if (wrongNode !== undefined) {
    port.writeError(`bigfleet: ${wrongNode}\n`);
    return EXIT.usage;
  }
  if (['-h', '--help', 'help'].includes(name)) {
    port.writeOutput(usageText());
    return EXIT.ok;
  }
  const command = COMMANDS.get(name);
  if (command !== undefined) return command.run(rest, context);
  const problem = name === '' ? 'no subcommand' : `unknown subcommand ${JSON.stringify(name)}`;
  port.writeError(`bigfleet: ${problem}\n${usageText()}`);
  return EXIT.usage;
}

function usageText(): string {
  const lines = [...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(14)} ${summary}`);
  return `${['Usage: bigfleet <subcommand> [flags]', '', ...lines].join('\n')}\n`;
}
