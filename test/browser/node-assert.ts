// Stands in for node:assert/strict in the browser worker, for test files only: the few functions
// that the engine's core tests call. A test that calls another one fails in the worker with
// "assert.x is not a function"; add it here, with the semantics of Node.

import { canonicalText } from './canonical.ts';
import { isDeepEqual } from './deep-equal.ts';

const SHOWN_CHARACTERS = 2_000;

export class AssertionError extends Error {
  override readonly name: string = 'AssertionError';
}

interface Assert {
  (value: unknown, message?: string): asserts value;
  ok(value: unknown, message?: string): asserts value;
  equal(actual: unknown, expected: unknown, message?: string): void;
  notEqual(actual: unknown, expected: unknown, message?: string): void;
  deepEqual(actual: unknown, expected: unknown, message?: string): void;
  fail(message?: string): never;
}

function ok(value: unknown, message?: string): asserts value {
  if (!value) throw new AssertionError(message ?? `${show(value)} is not truthy`);
}

function compare(holds: boolean, what: string, values: readonly unknown[], message = ''): void {
  if (holds) return;
  throw new AssertionError([message, what, ...values.map(show)].join('\n'));
}

function show(value: unknown): string {
  return canonicalText(value).slice(0, SHOWN_CHARACTERS);
}

const assert: Assert = Object.assign(ok, {
  ok,
  equal(actual: unknown, expected: unknown, message?: string): void {
    compare(Object.is(actual, expected), 'not equal:', [actual, expected], message);
  },
  notEqual(actual: unknown, expected: unknown, message?: string): void {
    compare(!Object.is(actual, expected), 'equal:', [actual], message);
  },
  deepEqual(actual: unknown, expected: unknown, message?: string): void {
    compare(isDeepEqual(actual, expected), 'not deeply equal:', [actual, expected], message);
  },
  fail(message?: string): never {
    throw new AssertionError(message ?? 'failed');
  },
});

export default assert;
