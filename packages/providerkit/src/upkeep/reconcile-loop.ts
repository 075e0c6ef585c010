// Ticks of reconcile. The next tick is armed when the last one ended, so that a slow substrate
// never has two at once.

import { type Runtime, sleep } from '@bigfleet/base';
import type { Background } from '../work/background.ts';
import type { Reconciler } from './reconcile.ts';

export interface ReconcileLoopOptions {
  readonly runtime: Runtime;
  readonly background: Background;
  readonly reconciler: Reconciler;
  /** 0: no loop. */
  readonly intervalMs: number;
  readonly lifetime: AbortSignal;
}

export function startReconcileLoop(options: ReconcileLoopOptions): void {
  const { runtime, background, reconciler, intervalMs, lifetime } = options;
  if (intervalMs === 0) return;
  background.spawn(async () => {
    while (await slept(runtime, intervalMs, lifetime)) await reconciler.run();
  });
}

/** False when the provider ends first. */
async function slept(runtime: Runtime, ms: number, lifetime: AbortSignal): Promise<boolean> {
  try {
    await sleep(runtime, ms, lifetime);
    return true;
  } catch (error) {
    if (lifetime.aborted) return false;
    throw error;
  }
}
