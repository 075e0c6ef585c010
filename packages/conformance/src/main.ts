// The entry point of bfconformance: wiring only. The first SIGINT or SIGTERM ends the run and kills
// what it booted; a second one does not wait for that (the exit hook of process/children.ts still
// kills). Refuses another Node before anything that needs this one is loaded, hence the import
// below.

import { requireNode24 } from '@bigfleet/process/node-version';

requireNode24('bfconformance:', '');
const { runFromProcess } = await import('./cli/process.ts');
process.exitCode = await runFromProcess();
