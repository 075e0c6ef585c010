// A node:test reporter that writes one JSON line per event, synchronously, to the file named by
// BIGFLEET_TEST_EVENTS. Synchronously, because a test that crashes or hangs its process must
// not take the record of what ran before with it. It prints nothing: what reaches stdout and
// stderr is the tests' own output.

import { appendFileSync, writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { inspect } from 'node:util';
import type { TestEventRecord } from './events.ts';

interface NodeTestEvent {
  readonly type: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

// oxlint-disable-next-line require-yield -- node:test takes a generator; ours writes a file
export default async function* report(source: AsyncIterable<NodeTestEvent>): AsyncGenerator<never> {
  const file = process.env['BIGFLEET_TEST_EVENTS'];
  if (file === undefined) throw new Error('BIGFLEET_TEST_EVENTS is not set: use tools/test/run.ts');
  for await (const event of source) {
    const record = toRecord(event);
    if (record !== undefined) appendFileSync(file, `${JSON.stringify(record)}\n`);
    if (record?.event !== 'summary') continue;
    process.on('exit', leave);
    // Node prints what nobody caught only after the listeners of `exit`, which `leave` does not return from.
    process.on('uncaughtExceptionMonitor', tell);
  }
}

/**
 * Ends the process without Node's teardown of its handles, which can spin for ever although every test has
 * passed and the event loop is empty. By then all other listeners of `exit` have run.
 */
function leave(): void {
  flushCompileCache();
  process.exit();
}

function tell(error: unknown): void {
  writeSync(process.stderr.fd, `uncaught after the tests: ${inspect(error)}\n`);
}

function toRecord({ type, data = {} }: NodeTestEvent): TestEventRecord | undefined {
  const details = (data['details'] ?? {}) as Readonly<Record<string, unknown>>;
  const common = {
    name: text(data['name']),
    id: Number(data['testId'] ?? 0),
    parent: Number(data['parentId'] ?? 0),
    file: text(data['file']),
    line: Number(data['line'] ?? 0),
    column: Number(data['column'] ?? 0),
  };
  switch (type) {
    case 'test:dequeue':
      return { event: 'start', ...common };
    case 'test:pass':
    case 'test:fail':
      return {
        event: 'end',
        ...common,
        passed: type === 'test:pass',
        suite: details['type'] === 'suite',
        ms: Number(details['duration_ms'] ?? 0),
        ...flag('skip', data['skip']),
        ...flag('todo', data['todo']),
        ...(type === 'test:fail' ? { error: describeError(details['error']) } : {}),
      };
    case 'test:diagnostic':
      // A test's own line stands at the test; Node's about the whole run at 1:1 or nowhere.
      return { event: common.line > 1 ? 'note' : 'remark', message: text(data['message']) };
    case 'test:summary':
      // With several files Node sends one summary each and a last one without a file.
      return {
        event: 'summary',
        success: data['success'] === true,
        counts: counts(data['counts']),
      };
    default:
      return undefined;
  }
}

/** `skip: true` has no reason, `skip: 'why'` has one, an absent flag is absent. */
function flag(key: 'skip' | 'todo', value: unknown): { skip?: string; todo?: string } {
  if (value === undefined || value === false) return {};
  return { [key]: typeof value === 'string' ? value : '' };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function counts(value: unknown): Readonly<Record<string, number>> {
  return value as Readonly<Record<string, number>>;
}

/** Node wraps what the test threw in ERR_TEST_FAILURE; the cause is what a reader needs. */
function describeError(error: unknown): { readonly failure: string; readonly text: string } {
  if (!(error instanceof Error)) return { failure: 'unknown', text: inspect(error) };
  const failure = 'failureType' in error ? text(error.failureType) : 'loadFailure';
  const cause = error.cause;
  const shown = cause instanceof Error ? cause : error;
  const chain = shown.cause instanceof Error ? `\n  caused by ${shown.cause.stack ?? ''}` : '';
  const thrown = cause !== undefined && !(cause instanceof Error) ? inspect(cause) : undefined;
  return { failure, text: thrown ?? `${shown.stack ?? shown.message}${chain}` };
}
