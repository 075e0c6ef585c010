// Publishes hints after a cycle, one publication at a time. A cycle that ends while one is under way
// starts none: what changed goes out with the next, because hints compare with what was last sent.

import type { Clock } from '@bigfleet/base';
import type { ShardObserver } from '../core/observer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { HintPublisher } from '../hints/hint-publisher.ts';
import { readSupply } from './fleet-supply.ts';

export interface HintCycleOptions {
  readonly hints: HintPublisher;
  readonly fleet: () => Fleet;
  readonly clock: Clock;
  readonly supervise: (component: string, work: Promise<void>) => void;
  readonly published: (tookMs: number) => void;
}

export function createHintCycle(options: HintCycleOptions): Partial<ShardObserver> {
  const { hints, fleet, clock, supervise, published } = options;
  let isPublishing = false;
  const publish = async (): Promise<void> => {
    const startMs = clock.monotonicMs();
    isPublishing = true;
    try {
      await hints.publish(readSupply(fleet().inventory));
    } finally {
      isPublishing = false;
    }
    published(clock.monotonicMs() - startMs);
  };
  return {
    onCycle: () => {
      if (!isPublishing) supervise('hints', publish());
    },
  };
}
