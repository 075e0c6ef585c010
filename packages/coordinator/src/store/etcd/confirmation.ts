// Looks at the leadership that many replies share (coordinator §3.3): at most one is in flight, and
// whoever asks meanwhile waits for the next one, because a look that began earlier says nothing
// about data taken later. Cost: one etcd round trip per batch, however many wait.

/** `look` settles by itself, in bounded time. Each call gets a look that begins after it. */
export function sharedLook<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const begun = look();
    running = begun;
    const forget = (): void => {
      if (running === begun) running = undefined;
    };
    begun.then(forget, forget);
    return begun;
  };
  return () => {
    if (next !== undefined) return next;
    if (running === undefined) return begin();
    next = running.then(begin, begin);
    return next;
  };
}
