// Stores that lose something over a kill: the kit above them is right, and trusts them.

import { type Runtime, sleep } from '@bigfleet/base';
import type { MachineRecord, Store, StoreChange, StoreImage } from '@bigfleet/providerkit';

export type KeptRecord = MachineRecord;

/** Only these changes reach the disk, each as `keep` makes it. */
export function keeping(
  keep: (change: StoreChange) => StoreChange | undefined,
): (right: Store) => Store {
  return (right) => ({
    ...passing(right),
    commit: (changes) => right.commit(changes.map(keep).filter((change) => change !== undefined)),
  });
}

/** Records reach the disk changed. */
export function keepingRecords(
  change: (record: MachineRecord) => MachineRecord,
): (right: Store) => Store {
  return keeping((entry) =>
    entry.kind === 'machine' ? { kind: 'machine', record: change(entry.record) } : entry,
  );
}

/** What the disk holds is read wrongly by the next process. */
export function loading(change: (image: StoreImage) => StoreImage): (right: Store) => Store {
  return (right) => ({
    ...passing(right),
    load: async () => {
      const image = await right.load();
      return image && change(image);
    },
  });
}

/** Acknowledged at once, written later: what a write-back cache does. */
export function writingBehind(delayMs: number): (right: Store, runtime: Runtime) => Store {
  return (right, runtime) => ({
    ...passing(right),
    commit: async (changes) => {
      // Nobody waits for it, and in these tests the store behind refuses nothing.
      sleep(runtime, delayMs)
        .then(() => right.commit(changes))
        .catch(() => {});
    },
  });
}

/** Written when so many commits have come together; the rest waits in memory. */
export function writingInBatches(batchSize: number): (right: Store) => Store {
  return (right) => {
    let waiting: StoreChange[][] = [];
    return {
      ...passing(right),
      commit: async (changes) => {
        waiting.push([...changes]);
        if (waiting.length < batchSize) return;
        const batch = waiting.flat();
        waiting = [];
        await right.commit(batch);
      },
    };
  };
}

function passing(right: Store): Store {
  return {
    load: () => right.load(),
    initialise: (incarnation) => right.initialise(incarnation),
    commit: (changes) => right.commit(changes),
    close: () => right.close(),
  };
}
