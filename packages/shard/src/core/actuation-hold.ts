// Whether this process may act, and what follows at once when that changes (shard §8.3, §9.4): a
// switch that only stopped what is decided next would not stop a mass drain.
//
// Held by a pause or a dry run: orders that wait are dropped and derived again later, a bootstrap
// between two steps goes back, and a drain that an operator has stands still, with its machine
// Draining and marked, until the resume. Fenced, for ever: such drains are forgotten too, and what
// their machines are is the provider's to say. Calls on the wire end by themselves in every case.

import type { ActuationRails } from '../cycle/dispose.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { Executor } from '../execute/executor.ts';
import type { OpenExecutions } from '../execute/open-executions.ts';
import type { ExecutePool } from '../execute/pool.ts';
import type { DrainDesk } from '../execute/ports.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { ShardObserver } from './observer.ts';

export interface ActuationHoldParts {
  readonly rails: () => ActuationRails;
  readonly fleet: Fleet;
  readonly executor: Executor;
  readonly pool: ExecutePool;
  readonly open: OpenExecutions;
  readonly drains: DrainDesk;
  readonly observer: Pick<ShardObserver, 'onReleased' | 'onWithheld'>;
  readonly onResumed: () => void;
}

export class ActuationHold {
  readonly #parts: ActuationHoldParts;
  #isHeld = false;
  #isFenced = false;

  constructor(parts: ActuationHoldParts) {
    this.#parts = parts;
  }

  get isFenced(): boolean {
    return this.#isFenced;
  }

  /** The rails may have changed. */
  look(): void {
    const by = this.#heldBy();
    if (by === undefined) this.#resume();
    else if (!this.#isHeld) this.#hold(by);
  }

  /** A newer process acts for this id: whatever this one still does is harm. */
  fence(): void {
    if (this.#isFenced) return;
    this.#isFenced = true;
    this.look();
    const { pool, drains, fleet, open } = this.#parts;
    // Drains whose turn had come: they are among those below.
    pool.hold(() => false);
    drains.abandon();
    for (const slot of fleet.pendingSlots()) {
      if (fleet.pendingOf(slot) !== 'drain_wait') continue;
      fleet.setPending(slot, 'none');
      fleet.doubt(slot);
      const order = open.takeDrain(fleet.inventory.ids[slot] ?? '');
      if (order !== undefined) this.#tellWithheld(order, 'suppressed');
    }
  }

  #heldBy(): 'suppressed' | 'dryrun' | undefined {
    const { isPaused, isDryRun } = this.#parts.rails();
    if (isPaused || this.#isFenced) return 'suppressed';
    return isDryRun ? 'dryrun' : undefined;
  }

  #hold(by: 'suppressed' | 'dryrun'): void {
    const { executor, drains, pool, fleet } = this.#parts;
    this.#isHeld = true;
    executor.hold();
    drains.hold();
    const dropped = pool.hold((order) => order.isDrainDue === true);
    for (const order of dropped) {
      if (fleet.isSame(order.handle)) fleet.setPending(order.handle.slot, 'none');
      this.#tellWithheld(order, by);
    }
  }

  #resume(): void {
    if (!this.#isHeld) return;
    const { executor, drains, pool, onResumed } = this.#parts;
    this.#isHeld = false;
    executor.release();
    pool.release();
    drains.resume();
    onResumed();
  }

  #tellWithheld(order: ActionOrder, by: 'suppressed' | 'dryrun'): void {
    const { observer } = this.#parts;
    observer.onReleased(order);
    observer.onWithheld(order, by);
  }
}
