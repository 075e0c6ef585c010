// Bounded parallelism over many machines: enough to share a group commit, never one promise per
// machine of the fleet.

export interface ParallelOptions {
  readonly limit: number;
  /** Once aborted, no further item is begun. */
  readonly signal: AbortSignal;
}

export async function inParallel<T>(
  items: Iterable<T>,
  { limit, signal }: ParallelOptions,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let isExhausted = false;
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = iterator.next();
      if (next.done === true) {
        isExhausted = true;
        return;
      }
      await work(next.value);
    }
  };
  const lanes: Promise<void>[] = [];
  while (lanes.length < limit && !isExhausted && !signal.aborted) lanes.push(lane());
  await Promise.all(lanes);
}
