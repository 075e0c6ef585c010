// What the cluster or the shard did wrong, told apart from what we did wrong: an assertion is a bug
// and goes up, everything else is an outcome that the caller handles.

import { AssertionError } from '@bigfleet/base';

/** Call it first in a catch block around foreign work. */
export function rethrowBug(thrown: unknown): void {
  if (thrown instanceof AssertionError) throw thrown;
}

/** For log fields, which take errors and text. */
export function asLogValue(thrown: unknown): Error | string {
  return thrown instanceof Error ? thrown : String(thrown);
}
