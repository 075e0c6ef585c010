// The browser's clock, timers and frames: the one file of the web app that touches them, so that all logic
// runs under virtual time in tests.

import type { Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';

export const browserRuntime: Runtime = realRuntime();

/** Calls `run` once; the returned function takes it back. */
export function after(delayMs: number, run: () => void): () => void {
  const timer = browserRuntime.timers.after(delayMs, run);
  return () => timer.cancel();
}

/** Calls `run` again and again, the next one armed after the last has ended. */
export function every(periodMs: number, run: () => void): () => void {
  let cancel = after(periodMs, again);
  function again(): void {
    cancel = after(periodMs, again);
    run();
  }
  return () => cancel();
}

/** Before the next paint; in a hidden tab, when it is looked at again. */
export function nextFrame(draw: () => void): () => void {
  const handle = requestAnimationFrame(draw);
  return () => cancelAnimationFrame(handle);
}
