// Copies of the ledger's disk that a seed may go back to: the last few, and the one from before
// anybody reported, which knows no home and no epoch. What was removed or registered since a copy was
// taken, the copy does not know; that is what recovery is for.

import type { Random } from '@bigfleet/base';
import { firstTermOf, nextGeneration } from '@bigfleet/coordinator';
import { MemoryDisk } from '@bigfleet/coordinator/testing';

const KEPT = 4;
const FIRST_ONE_IN = 6;

export class Snapshots {
  #first: MemoryDisk | undefined;
  #last: readonly MemoryDisk[] = [];

  keepFirst(disk: MemoryDisk): void {
    this.#first = copyOf(disk);
  }

  keep(disk: MemoryDisk): void {
    this.#last = [...this.#last, copyOf(disk)].slice(-KEPT);
  }

  pick(random: Random): MemoryDisk | undefined {
    const isFirst = this.#first !== undefined && random.below(FIRST_ONE_IN) === 0;
    const at = random.below(Math.max(1, this.#last.length));
    return isFirst ? this.#first : this.#last[at];
  }

  /** The last one that does not know the shard. */
  without(shardId: string): MemoryDisk | undefined {
    const all = [this.#first, ...this.#last].filter((disk) => disk !== undefined);
    return all.findLast((disk) => !registrationsIn(disk).has(shardId));
  }
}

/** Leaves it as a restore does: of the next generation, and with room for lost elections. */
export function markRestored(disk: MemoryDisk, generation: number): boolean {
  const { meta } = disk;
  if (meta === undefined) return false;
  disk.meta = { ...nextGeneration(meta, generation), term: firstTermOf(meta, generation) };
  return true;
}

/** The registration of each shard: another of the same name has another. */
export function registrationsIn(disk: MemoryDisk): ReadonlyMap<string, number> {
  const rows = disk.rows().filter(({ table }) => table === 'shards');
  return new Map(
    rows.map(({ value }) => {
      const { id, uid } = JSON.parse(value) as { id: string; uid: number };
      return [id, uid];
    }),
  );
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  for (const row of disk.rows()) copy.put(row);
  if (disk.meta !== undefined) copy.meta = disk.meta;
  return copy;
}
