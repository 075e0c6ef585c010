// A value that must never be shown: bootstrap blobs, tokens, key material. Redaction is by type, not
// by the name of a key, so it holds wherever the value travels: string, JSON, template, inspection,
// log field, error field. The value has no property that an enumeration could find, and leaves only
// through `reveal`, which is easy to search for in review. A heap snapshot still contains it.

import { inspect } from 'node:util';

export const REDACTED = '[redacted]';

export class Secret<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  reveal(): T {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  static {
    Object.defineProperty(Secret.prototype, inspect.custom, { value: () => REDACTED });
  }
}
