// Tells who wants to know which machines were written: every write of the fleet passes through the
// host's feed, also those that change no state. Nothing is kept here; a listener must be cheap.

import type { MachineFeed } from './engine-host.ts';

export type WriteListener = (machineId: string) => void;

export class MachineWrites {
  #listener: WriteListener | undefined;

  /** One listener; the last one that asked. */
  listen(listener: WriteListener): void {
    this.#listener = listener;
  }

  /** The same feed, told about. */
  through(feed: MachineFeed): MachineFeed {
    const told = (id: string): void => this.#listener?.(id);
    return {
      put: (machine, nowMs) => {
        feed.put(machine, nowMs);
        told(machine.id);
      },
      remove: (id) => {
        feed.remove(id);
        told(id);
      },
      move: (id, to, changes, nowMs) => {
        feed.move(id, to, changes, nowMs);
        told(id);
      },
      withhold: (id, reason) => {
        feed.withhold(id, reason);
        told(id);
      },
    };
  }
}
