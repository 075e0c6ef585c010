// A reporter of node:test that says one thing: what failed first. A mutant is caught by the
// first failing test, and everything after it would only cost time.

import { reportLine } from './child-report.ts';

/** The part of node:test's events that is looked at. */
interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly details?: { readonly error?: { readonly message: string } };
  };
}

export default async function* firstFailure(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  let passedCount = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass') passedCount += 1;
    if (type !== 'test:fail') continue;
    const { name = '', file = '', details } = data;
    const error = details?.error?.message ?? '';
    yield reportLine({ kind: 'failed', test: name, file, error });
    return;
  }
  yield reportLine({ kind: 'passed', count: passedCount });
}
