// The dashboard over a fleet at the product's ceiling, as a process of its own: its memory is its own, and a
// busy page does not slow it down. One shard after another has a cycle; a line `rounds N` on its input lets
// every shard have N at once.

import { createInterface } from 'node:readline';
import { realRuntime } from '@bigfleet/base/real';
import { CEILING } from '@bigfleet/dashboard/testing';
import { startSynthetic } from './synthetic-dashboard.ts';

/** Twenty shards a second: each of two hundred has a cycle every ten seconds. */
const EVERY_MS = 50;

const { timers } = realRuntime();
const dashboard = await startSynthetic({ port: Number(process.argv[2] ?? 0), size: CEILING });
const next = (): void => {
  dashboard.stepNext();
  timers.after(EVERY_MS, next);
};
timers.after(EVERY_MS, next);
createInterface(process.stdin).on('line', (line) => {
  let left = Number(/^rounds (\d+)$/.exec(line)?.[1] ?? 0);
  // Streams have their turn after every round.
  const round = (): void => {
    for (let shard = 0; shard < dashboard.shardCount; shard += 1) dashboard.stepNext();
    left -= 1;
    if (left > 0) timers.after(0, round);
    else process.stdout.write(`done ${line}\n`);
  };
  round();
});
process.stdout.write(`serving ${dashboard.url}\n`);
