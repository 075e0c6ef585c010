// `bigfleet what-if`: what would have been decided had something been otherwise, over the traces of
// a records directory. Each cycle starts from what really happened: it answers what would have been
// decided differently, not what the fleet would look like after a week of it.

import { createEngineLike, diffRuns } from '@bigfleet/engine';
import { type Command, EXIT } from '../command.ts';
import {
  directoryCommand,
  comparedText,
  directoryFlags,
  type ComparedTrace,
} from '../records/directory-command.ts';
import { assumedBuild, assumptions } from './assumption.ts';

const flags = { ...directoryFlags, set: assumptions } as const;

export const whatIfCommand: Command = directoryCommand({
  name: 'what-if',
  summary: 'what a shard would have decided under other facts, from its recorded inputs',
  flags,
  problem: ({ set }) => (set.length === 0 ? 'give --set at least once' : undefined),
  run: async (files, { set, output }, { port }) => {
    const compared: ComparedTrace[] = [];
    for (const { name, kind } of await files.list()) {
      if (kind !== 'trace') continue;
      const bytes = await files.read(name);
      compared.push({ trace: name, report: diffRuns(bytes, createEngineLike, assumedBuild(set)) });
    }
    if (compared.length === 0) {
      port.writeError('bigfleet what-if: the directory holds no trace\n');
      return EXIT.failed;
    }
    port.writeOutput(comparedText(output, compared));
    return compared.some(({ report }) => report.outcome === 'failed') ? EXIT.failed : EXIT.ok;
  },
});
