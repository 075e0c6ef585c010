// Another major of Node has another V8 and no type stripping: the suite would fail half way.

const REQUIRED_MAJOR = 24;

/** The one line to print when `version` is another major, else nothing. */
export function nodeVersionProblem(version: string): string | undefined {
  const major = Number(version.replace(/^v/, '').split('.')[0]);
  return major === REQUIRED_MAJOR ? undefined : `needs Node ${REQUIRED_MAJOR}, this is ${version}`;
}
