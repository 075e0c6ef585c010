// `bigfleet replay`: decides everything again from the recorded inputs and compares. Exit 0 only
// when every cycle came out the same.

import { describeDirectoryReplay, replayDirectory } from '@bigfleet/shard';
import { type Command, EXIT } from '../command.ts';
import { oneOf } from '../flags/forms.ts';
import { directoryCommand } from './directory-command.ts';
import { directoryFlags, jsonLine } from './directory-flags.ts';

const flags = {
  ...directoryFlags,
  mode: oneOf(
    'recorded',
    ['recorded', 'incremental', 'full'],
    'Evaluate as it was recorded, never in full, or always in full; all three must agree.',
  ),
} as const;

export const replayCommand: Command = directoryCommand({
  name: 'replay',
  summary: 'decide again what a shard decided, from its recorded inputs, and compare',
  flags,
  run: async (files, { mode, output }, { port }) => {
    const result = await replayDirectory(files, { mode });
    port.writeOutput(output === 'json' ? jsonLine(result) : `${describeDirectoryReplay(result)}\n`);
    return result.outcome === 'identical' ? EXIT.ok : EXIT.failed;
  },
});
