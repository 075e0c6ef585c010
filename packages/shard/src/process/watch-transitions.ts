// Says when a machine is stuck in a transitional state (shard §9.6): 30 minutes, or the longest
// grace and ten minutes for a drain, counted from the provider's call. Observability only: the
// deadline of a transition is its provider's.

import { RECLAIM_GRACE_SECONDS, State, stateName } from '@bigfleet/engine';
import type { Logger } from '@bigfleet/telemetry';
import type { ShardObserver } from '../core/observer.ts';
import {
  TRANSITIONAL,
  type TransitionalState,
  type TransitionClock,
} from '../ledgers/transition-clock.ts';

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
