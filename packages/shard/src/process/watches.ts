// Conditions that nobody may miss and no event tells: they are looked for, and logged.

import type { Runtime, Timer } from '@bigfleet/base';
import { RECLAIM_GRACE_SECONDS, State, stateName } from '@bigfleet/engine';
import { type Logger, stableMessages } from '@bigfleet/telemetry';
import type { ShardObserver } from '../core/observer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import {
  TRANSITIONAL,
  type TransitionalState,
  type TransitionClock,
} from '../ledgers/transition-clock.ts';
import type { ProviderSet } from '../provider/provider-set.ts';

const EVERY_MS = 60_000;
const FULL_LIST_MACHINES = 10_000;

/** Once a minute while no provider is configured. */
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

/** Full Lists of a fleet that is too large for them. */
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

// Says when a machine is stuck in a transitional state (shard §9.6): 30 minutes, or the longest
// grace and ten minutes for a drain, counted from the provider's call. Observability only: the
// deadline of a transition is its provider's.

const STUCK_MS = 30 * 60_000;
const DRAIN_STUCK_MS: number = RECLAIM_GRACE_SECONDS * 1_000 + 10 * 60_000;

export function createTransitionWatch(
  logger: Logger,
  clock: TransitionClock,
  nowMs: () => number,
): Partial<ShardObserver> {
  /** Each machine once, while it stays the oldest. */
  const told = new Map<TransitionalState, string>();
  return {
    onCycle: () => {
      for (const state of TRANSITIONAL) {
        const oldest = clock.oldest(state);
        const ageMs = oldest === undefined ? 0 : nowMs() - oldest.sinceMs;
        const limitMs = state === State.Draining ? DRAIN_STUCK_MS : STUCK_MS;
        if (oldest === undefined || ageMs <= limitMs) continue;
        if (told.get(state) === oldest.machineId) continue;
        told.set(state, oldest.machineId);
        logger.warn('machine is stuck in a transition', {
          machine: oldest.machineId,
          state: stateName(state),
          age_s: Math.round(ageMs / 1_000),
        });
      }
    },
  };
}
