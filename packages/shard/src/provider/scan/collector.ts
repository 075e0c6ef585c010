// Lets go of what a large List leaves behind: its bytes in the pieces that they came in, and its
// tables, a few hundred megabytes that live outside of V8's heap. A thread that then rests allocates
// nothing, so V8 sees no reason to collect for minutes. Only for a thread that serves nobody: the
// collection is synchronous. Guarded by shard/recover/500k.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { assert } from '@bigfleet/base';

/** A delta is far below, a full List of some ten thousand machines above. */
export const LARGE_LIST_BYTES: number = 1 << 23;

/** Node has no other way to ask for a collection, short of a flag that the user would have to set. */
export function createCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert(isProcedure(collect), 'V8 exposes its collector');
  return collect;
}

function isProcedure(value: unknown): value is () => void {
  return typeof value === 'function';
}
