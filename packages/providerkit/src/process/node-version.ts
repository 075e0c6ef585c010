// Another major of Node has another V8, another TLS and another SQLite: refused, not hoped for.

const REQUIRED_MAJOR = 24;

/** Undefined when `version` (`24.1.0`) will do. */
export function nodeProblem(version: string): string | undefined {
  if (Number(version.split('.')[0]) === REQUIRED_MAJOR) return undefined;
  return `needs Node.js ${REQUIRED_MAJOR}, this is ${version}`;
}
