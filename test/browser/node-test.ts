// Stands in for node:test in the browser worker, for test files only: `test` and `describe`
// collect, `runCollected` runs one after the other. Refuses options (skip, only, todo) and
// contexts: a test that needs them would silently run as something else.

export interface TestOutcome {
  /** With the names of its suites. */
  readonly name: string;
  /** Absent when it passed. */
  readonly problem?: string;
}

type Body = () => void | Promise<void>;

const collected: Array<{ readonly name: string; readonly body: Body }> = [];
const suites: string[] = [];

export function test(name: string, body: Body): void {
  if (typeof body !== 'function' || body.length > 0) {
    throw new Error(`${name}: options and contexts of node:test are not available in the worker`);
  }
  collected.push({ name: [...suites, name].join(' › '), body });
}

export function describe(name: string, body: () => void): void {
  if (typeof body !== 'function') {
    throw new Error(`${name}: options of node:test are not available in the worker`);
  }
  suites.push(name);
  body();
  suites.pop();
}

/** Every collected test, once. */
export async function runCollected(): Promise<TestOutcome[]> {
  const outcomes: TestOutcome[] = [];
  for (const { name, body } of collected.splice(0)) {
    try {
      await body();
      outcomes.push({ name });
    } catch (error) {
      outcomes.push({ name, problem: problemOf(error) });
    }
  }
  return outcomes;
}

function problemOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
