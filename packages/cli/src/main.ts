// The entry point of `bigfleet`. Before anything is allocated: V8 must not move short-lived objects
// of a hot site to the old generation for good, or decisions over large fleets get slower the
// longer a process lives (measured with the engine's benches). What cannot be said to a process that
// runs, a shard says by starting itself again.

import { setFlagsFromString } from 'node:v8';
import { startAgain } from './shard/memory-settings.ts';

startAgain(process);
setFlagsFromString('--no-allocation-site-pretenuring');

const { realRuntime } = await import('@bigfleet/base/real');
const { runBigfleet } = await import('./bigfleet.ts');
const { nodeProcess } = await import('@bigfleet/process');

const context = { runtime: realRuntime(), port: nodeProcess };
process.exit(await runBigfleet(process.argv.slice(2), context));
