// Two lines about the provider set that an operator of the fleet must not miss: none is configured
// (once a minute while that lasts), and full Lists of a fleet that is too large for them.

import type { Runtime, Timer } from '@bigfleet/base';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import type { ShardObserver } from '../core/observer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ProviderSet } from '../provider/provider-set.ts';

const EVERY_MS = 60_000;
const FULL_LIST_MACHINES = 10_000;

export function warnWithoutProvider(
  runtime: Runtime,
  logger: Logger,
  providers: ProviderSet,
): { stop(): void } {
  let timer: Timer;
  const look = (): void => {
    if (providers.size === 0) logger.event(stableMessages.noProviderConfigured, {});
    timer = runtime.timers.after(EVERY_MS, look);
  };
  look();
  return { stop: () => timer.cancel() };
}

export function createListSizeWatch(
  logger: Logger,
  fleet: () => Fleet,
  isIncremental: boolean,
): Partial<ShardObserver> {
  let isTold = isIncremental;
  return {
    onCycle: () => {
      const { size } = fleet().inventory;
      if (isTold || size <= FULL_LIST_MACHINES) return;
      isTold = true;
      logger.warn('full Lists of a large fleet slow every cycle: use --incremental-reconcile', {
        machines: size,
      });
    },
  };
}
