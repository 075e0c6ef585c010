// `node test/ownership/replay-main.ts <model|real> <seed> [planted fault]`: one seed again, with the log of every
// leader. Exits 1 when a law is broken.

import type { PlantedFault } from './world/planted-fault.ts';
import { runSeed } from './world/run-seed.ts';

const [kind = 'model', seed = 'ownership-0', fault] = process.argv.slice(2);
const logLine = (line: string): boolean => process.stdout.write(line);
try {
  const planted = fault === undefined ? {} : { fault: fault as PlantedFault };
  const tally = await runSeed({
    kind: kind === 'real' ? 'real' : 'model',
    seed,
    logLine,
    ...planted,
  });
  process.stdout.write(`${JSON.stringify(tally)}\n`);
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
