// `bigfleet replay`: decides everything again from the recorded inputs and compares. Exit 0 only
// when every cycle came out the same.

import { describeDirectoryReplay, replayDirectory } from '@bigfleet/shard';
import { toggle } from '@bigfleet/process/flags';
import { type Command, EXIT } from '../command.ts';
import { printDecisions } from './diff/print-decisions.ts';
import {
  directoryCommand,
  directoryFlags,
  noTraceText,
  offlineText,
  replayModeFlag,
} from './directory-command.ts';

const flags = {
  ...directoryFlags,
  mode: replayModeFlag,
  decisions: toggle(false, 'Print what every cycle decides, for bigfleet diff; compare nothing.'),
} as const;

export const replayCommand: Command = directoryCommand({
  name: 'replay',
  summary: 'decide again what a shard decided, from its recorded inputs, and compare',
  flags,
  run: async (files, { mode, output, decisions }, { port }, place) => {
    if (decisions) {
      await printDecisions(files, mode, (text) => port.writeOutput(text));
      return EXIT.ok;
    }
    const result = await replayDirectory(files, { mode });
    if (result.traces.length === 0) port.writeError(noTraceText('replay', place));
    port.writeOutput(offlineText(output, result, () => describeDirectoryReplay(result)));
    return result.outcome === 'identical' ? EXIT.ok : EXIT.failed;
  },
});
