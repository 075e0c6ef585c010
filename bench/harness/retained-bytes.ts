// Memory that a value keeps alive: what remains after a full collection, heap and external, with
// the value built minus without it. For "bytes per machine" and "bytes per stream". Timing
// processes run with --expose-gc, so a bench may call this from setup().

import { setImmediate as turn } from 'node:timers/promises';

export interface Retained<Value> {
  readonly value: Value;
  readonly bytes: number;
}

export async function measureRetained<Value>(
  build: () => Value | Promise<Value>,
): Promise<Retained<Value>> {
  const before = await liveBytes();
  const value = await build();
  return { value, bytes: (await liveBytes()) - before };
}

async function liveBytes(): Promise<number> {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('measuring retained memory needs node --expose-gc');
  // The second collection frees what finalizers of the first let go.
  collect();
  await turn();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
