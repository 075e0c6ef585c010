// `node test/system/replay-main.ts system-17 [shard@120]`: one seed again, with its whole history on
// standard output and what it breaks at the end. With a crash point it is one step of the sweep.

import { runSeed } from './world/run-seed.ts';
import { parseStrike } from './world/seed-range.ts';

const [seed, point] = process.argv.slice(2);
if (seed === undefined) throw new Error('which seed? For example system-17');
const summary = await runSeed({
  seed,
  sink: (line) => process.stdout.write(`${line}\n`),
  ...(point === undefined ? {} : { isPlain: true, strikes: [parseStrike(point)] }),
});
process.stdout.write(`${JSON.stringify(summary)}\n`);
