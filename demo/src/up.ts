// What `make up` starts: wiring only. Refuses another Node before anything that needs this one
// is loaded, hence the imports inside.

import { nodeVersionProblem } from './node-version.ts';

const problem = nodeVersionProblem(process.version);
if (problem === undefined) {
  const { main } = await import('./main.ts');
  process.exitCode = await main(process.argv.slice(2), process.env);
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 2;
}
