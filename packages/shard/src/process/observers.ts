// Several observers behind the one that the core knows. Each gets every call, in order.

import { ActionKind } from '@bigfleet/engine';
import type { ShardObserver } from '../core/observer.ts';
import type { ActionOrder } from '../execute/order.ts';
import type { Fleet } from '../fleet/fleet.ts';

export function combineObservers(observers: readonly Partial<ShardObserver>[]): ShardObserver {
  return {
    onCycle: (...told) => observers.forEach((each) => each.onCycle?.(...told)),
    onRejectedRecord: (...told) => observers.forEach((each) => each.onRejectedRecord?.(...told)),
    onSkippedMetadata: (...told) => observers.forEach((each) => each.onSkippedMetadata?.(...told)),
    onExecuted: (...told) => observers.forEach((each) => each.onExecuted?.(...told)),
    onWithheld: (...told) => observers.forEach((each) => each.onWithheld?.(...told)),
    onFenced: (...told) => observers.forEach((each) => each.onFenced?.(...told)),
    onProblem: (...told) => observers.forEach((each) => each.onProblem?.(...told)),
    onCycleError: (...told) => observers.forEach((each) => each.onCycleError?.(...told)),
  };
}

/**
 * A drain that was only handed to its operator has not ended: its outcome is told when the
 * provider's part is over, or one drain would count twice.
 */
export function withoutHandOvers(observer: ShardObserver, fleet: () => Fleet): ShardObserver {
  return {
    ...observer,
    onExecuted: (order, outcome, tookMs) => {
      if (!isHandOver(order, fleet())) observer.onExecuted(order, outcome, tookMs);
    },
  };
}

function isHandOver({ kind, handle, isDrainDue }: ActionOrder, fleet: Fleet): boolean {
  const isDrain = kind === ActionKind.Reclaim || kind === ActionKind.Preempt;
  if (!isDrain || isDrainDue === true || !fleet.isSame(handle)) return false;
  return fleet.pendingOf(handle.slot) === 'drain_wait';
}
