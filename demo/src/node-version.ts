// A script that runs on the machine's own Node instead of the pinned one would behave
// differently from CI without saying so.

const REQUIRED_MAJOR = 24;

/** The one line to print when `version` is another major, else nothing. */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  if (major === REQUIRED_MAJOR) return undefined;
  return `make up needs Node ${REQUIRED_MAJOR}, this is ${version}: start it with \`make up\`.`;
}
