// Several observers behind the one that the core knows. Each gets every call, in order.

import type { ShardObserver } from '../core/observer.ts';

export function combineObservers(observers: readonly Partial<ShardObserver>[]): ShardObserver {
  return {
    onCycle: (...told) => observers.forEach((each) => each.onCycle?.(...told)),
    onRefused: (...told) => observers.forEach((each) => each.onRefused?.(...told)),
    onRejectedRecord: (...told) => observers.forEach((each) => each.onRejectedRecord?.(...told)),
    onSkippedMetadata: (...told) => observers.forEach((each) => each.onSkippedMetadata?.(...told)),
    onReleased: (...told) => observers.forEach((each) => each.onReleased?.(...told)),
    onExecuted: (...told) => observers.forEach((each) => each.onExecuted?.(...told)),
    onWithheld: (...told) => observers.forEach((each) => each.onWithheld?.(...told)),
    onFenced: (...told) => observers.forEach((each) => each.onFenced?.(...told)),
    onThrottled: (...told) => observers.forEach((each) => each.onThrottled?.(...told)),
    onProblem: (...told) => observers.forEach((each) => each.onProblem?.(...told)),
    onCycleError: (...told) => observers.forEach((each) => each.onCycleError?.(...told)),
  };
}
