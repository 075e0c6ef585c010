// Another major of Node has another V8, another TLS, another SQLite and another type stripping:
// refused, not hoped for. In the repository the pinned Node comes from node_modules/.bin; a script
// that the machine's own Node started would differ from CI without saying so. This module imports
// nothing, so that a main file can call it before it loads what only the required Node can load.

const REQUIRED_NODE_MAJOR = 24;

/** Undefined when `version` (`24.1.0`, `v24.1.0`) will do. */
export function nodeProblem(version: string): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  if (major === REQUIRED_NODE_MAJOR) return undefined;
  return `needs Node.js ${REQUIRED_NODE_MAJOR}, this is ${version}`;
}

const ADVICE =
  ': start it through make (`make help`), or put node_modules/.bin first in PATH after `npm ci`.';

/** Ends the process with one line on stderr and exit code 2 when Node is another major. */
export function requireNode24(command: string = 'BigFleet', advice: string = ADVICE): void {
  const problem = nodeProblem(process.version);
  if (problem === undefined) return;
  process.stderr.write(`${command} ${problem}${advice}\n`);
  process.exit(2);
}
