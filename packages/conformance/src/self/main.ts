// Entry point of `make conformance-self`: wiring only. Refuses another Node before anything that
// needs this one is loaded, hence the imports inside.

import { nodeVersionProblem } from '../cli/node-version.ts';

const problem = nodeVersionProblem(process.version);
if (problem === undefined) {
  const { selfFromProcess } = await import('./process.ts');
  process.exitCode = await selfFromProcess();
} else {
  process.stderr.write(`bfconformance: ${problem}\n`);
  process.exitCode = 2;
}
