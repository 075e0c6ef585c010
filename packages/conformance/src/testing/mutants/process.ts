// Binds the mutants' command to the real process.

import { describeThrown } from '@bigfleet/base';
import { allChecks } from '../../behaviours/index.ts';
import { complain, endedBySignals, standardOutput } from '../../cli/process.ts';
import { helpText, parseCommand } from './options.ts';
import { markdown } from './report/markdown.ts';
import { runMutants } from './run.ts';
import { allMutants, mutantGroups } from './set/index.ts';

export async function mutantsFromProcess(): Promise<0 | 1 | 2> {
  const command = parseCommand(process.argv.slice(2), allMutants);
  const stdout = standardOutput();
  switch (command.kind) {
    case 'wrong':
      complain(`${command.problem}; see --help`);
      return 2;
    case 'help':
      stdout.write(helpText);
      return 0;
    case 'markdown':
      stdout.write(markdown(mutantGroups));
      return 0;
    case 'run':
      break;
  }
  const { signal, stop } = endedBySignals();
  try {
    return await runMutants(command.options, { checks: allChecks, stdout, signal });
  } catch (error) {
    complain(describeThrown(signal.aborted ? signal.reason : error));
    return 2;
  } finally {
    stop();
  }
}
