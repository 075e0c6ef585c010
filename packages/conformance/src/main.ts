// The entry point of bfconformance: wiring only. The first SIGINT or SIGTERM ends the run and kills
// what it booted; a second one does not wait for that (the exit hook of process/children.ts still
// kills). Refuses another Node before anything that needs this one is loaded, hence the imports
// inside.

import { nodeVersionProblem } from './cli/node-version.ts';

const problem = nodeVersionProblem(process.version);
if (problem === undefined) {
  const { runFromProcess } = await import('./cli/process.ts');
  process.exitCode = await runFromProcess();
} else {
  process.stderr.write(`bfconformance: ${problem}\n`);
  process.exitCode = 2;
}
