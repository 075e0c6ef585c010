// The wall clock of an invocation, for ages.

import type { CtlContext } from '../context.ts';

export function nowOf({ runtime }: CtlContext): bigint {
  return runtime.clock.unixNanos();
}
