// The front door of a program that is one command: `bigfleet-operator` and its like. Its errors begin with
// a short name and every refusal exits 1 (kubernetes §6.1); the stable code stands behind the words, which
// are the ones that the documents quote.

import { describeThrown } from '@bigfleet/base';
import { nodeProblem, type ProcessPort } from '@bigfleet/process';
import { BUILD_VERSION, type Command, type CommandContext, EXIT, type Wording } from './command.ts';

export function programWording(command: string, prefix: string): Wording {
  return {
    command,
    prefix,
    usageCode: EXIT.failed,
    refusal: ({ code, message }) => `${message} (${code})`,
  };
}

export interface Program {
  readonly wording: Wording;
  readonly command: Command;
}

export async function runProgram(
  { wording, command }: Program,
  argv: readonly string[],
  context: CommandContext,
): Promise<number> {
  const { port } = context;
  const wrongNode = nodeProblem(port.nodeVersion);
  if (wrongNode !== undefined) {
    port.writeError(`${wording.prefix}: ${wrongNode}\n`);
    return EXIT.failed;
  }
  if (argv.includes('--version')) {
    port.writeOutput(`${wording.command} ${BUILD_VERSION}\n`);
    return EXIT.ok;
  }
  return command.run(argv, context);
}

/** A bug that no component took. */
export function unhandledBug(port: ProcessPort): Promise<Error> {
  return new Promise((resolve) =>
    port.onUnhandled((bug) => resolve(bug instanceof Error ? bug : new Error(describeThrown(bug)))),
  );
}
