// Assertions guard invariants of our own code. A failed one is a bug: the process logs it, dumps
// its record and exits; nothing inside catches it. Input from outside is never asserted on, or a
// peer could stop us with one bad message.

import type { Fields } from './errors/bigfleet-error.ts';

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
  readonly fields: Fields;

  constructor(message: string, fields: Fields = {}) {
    super(message);
    this.fields = fields;
  }
}

/** Pass constant text and values in `fields`: building a message per call would cost hot paths. */
export function assert(condition: boolean, message: string, fields?: Fields): asserts condition {
  if (!condition) throw new AssertionError(message, fields);
}

/** Closes an exhaustive switch: a new union member fails to compile, a forged one fails to run. */
export function unreachable(value: never): never {
  throw new AssertionError('unreachable value', { value: String(value) });
}
