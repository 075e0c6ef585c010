// A process that says what it was started as, and starts itself again as `bigfleet shard` does.

import { writeSync } from 'node:fs';
import { startAgain } from '../memory-settings.ts';

const facts = {
  pid: process.pid,
  command: process.argv.slice(2),
  flags: process.execArgv,
  arenas: process.env['MALLOC_ARENA_MAX'],
};
writeSync(1, `${JSON.stringify(facts)}\n`);
startAgain(process);
