// Sweeps rows that died with their shard (coordinator §2.1, §3.4), in small batches while no command
// waits. A key is judged again right before it is deleted: it may have been written anew since it
// died. A failed batch is dropped; the rows stay dead, and the next leadership finds them again.

import { AssertionError, describeThrown } from '@bigfleet/base';
import type { FleetState } from '../state/fleet-state.ts';
import type { RowKey } from '../state/rows.ts';
import type { ApplyQueueOptions } from './apply-queue.ts';

const BATCH = 100;

interface SweeperOptions extends ApplyQueueOptions {
  readonly state: FleetState;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  /** Bounded by the rows of the state: only keys that exist in it are added. */
  readonly #keys = new Set<RowKey>();

  constructor(options: SweeperOptions) {
    this.#options = options;
  }

  add(keys: readonly RowKey[]): void {
    for (const key of keys) this.#keys.add(key);
  }

  /** False when there is nothing to sweep. */
  async sweepOnce(): Promise<boolean> {
    if (this.#keys.size === 0) return false;
    const { store, leadership, state, log } = this.#options;
    const dead = this.#takeBatch().filter((key) => state.isDangling(key));
    if (dead.length === 0) return true;
    try {
      await store.gc(leadership, dead);
      state.forget(dead);
    } catch (error) {
      if (error instanceof AssertionError) throw error;
      log.warn('sweeping dead rows failed', { count: dead.length, error: describeThrown(error) });
    }
    return true;
  }

  #takeBatch(): RowKey[] {
    const batch: RowKey[] = [];
    for (const key of this.#keys) {
      if (batch.length === BATCH) break;
      batch.push(key);
      this.#keys.delete(key);
    }
    return batch;
  }
}
