// Every entry point of the repository calls requireNode24() first. The pinned Node comes from
// node_modules/.bin; a script started by the machine's own Node would run with another V8,
// another node:test and no type stripping, and differ from CI without saying so.

const REQUIRED_NODE_MAJOR = 24;

/** The one line to print when `version` is another major, else nothing. */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  if (major === REQUIRED_NODE_MAJOR) return undefined;
  return (
    `BigFleet needs Node ${REQUIRED_NODE_MAJOR}, this is ${version}: start it through make ` +
    `(\`make help\`), or put node_modules/.bin first in PATH after \`npm ci\`.`
  );
}

/** Ends the process with one line on stderr and exit code 2 when Node is another major. */
export function requireNode24(): void {
  const problem = nodeVersionProblem(process.version);
  if (problem === undefined) return;
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}
