// Entry point of `make conformance-mutants`: wiring only. Refuses another Node before anything that
// needs this one is loaded, hence the imports inside.

import { nodeVersionProblem } from '../cli/node-version.ts';

const problem = nodeVersionProblem(process.version);
if (problem === undefined) {
  const { mutantsFromProcess } = await import('./process.ts');
  process.exitCode = await mutantsFromProcess();
} else {
  process.stderr.write(`bfconformance: ${problem}\n`);
  process.exitCode = 2;
}
