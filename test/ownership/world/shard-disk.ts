// What a shard keeps over its death (transfers.json, assignment.json, the term and the epoch), and
// the ownership function over it (coordinator §9.2). Written whole, as a rename is: a death is
// before or after.

export interface BookEntry {
  readonly role: 'donor' | 'recipient';
  readonly state: 'frozen' | 'released' | 'claimed';
  readonly peer: string;
  readonly machineIds: readonly string[];
}

export interface Given {
  readonly transferId: string;
  readonly peer: string;
}

export interface ShardDisk {
  readonly epoch: bigint;
  readonly term: bigint;
  readonly revision: bigint;
  readonly generation: bigint;
  readonly hasAssignment: boolean;
  readonly isHome: boolean;
  /** Other shards that the last whole assignment named. */
  readonly others: ReadonlySet<string>;
  readonly book: ReadonlyMap<string, BookEntry>;
  readonly adopted: ReadonlyMap<string, Given>;
  readonly released: ReadonlyMap<string, Given>;
  /** Adopted machines that are no more. */
  readonly gone: ReadonlyMap<string, Given>;
  /** Undefined: uncapped. */
  readonly slice: number | undefined;
}

export const EMPTY_DISK: ShardDisk = {
  epoch: 0n,
  term: 0n,
  revision: 0n,
  generation: 0n,
  hasAssignment: false,
  isHome: false,
  others: new Set(),
  book: new Map(),
  adopted: new Map(),
  released: new Map(),
  gone: new Map(),
  slice: undefined,
};

/** First match wins: frozen or released, then adopted, then home. */
export function mayAct(disk: ShardDisk, machineId: string): boolean {
  for (const { state, machineIds } of disk.book.values()) {
    if (state === 'frozen' && machineIds.includes(machineId)) return false;
  }
  if (disk.released.has(machineId) || disk.gone.has(machineId)) return false;
  if (disk.adopted.has(machineId)) return true;
  return disk.hasAssignment && disk.isHome;
}

export function withEntry(disk: ShardDisk, id: string, entry: BookEntry): ShardDisk {
  return { ...disk, book: new Map(disk.book).set(id, entry) };
}

export function withoutEntries(disk: ShardDisk, ids: readonly string[]): ShardDisk {
  const book = new Map(disk.book);
  for (const id of ids) book.delete(id);
  return { ...disk, book };
}

/** The donor gave them away: never taken back while they are listed. */
export function withReleased(disk: ShardDisk, id: string, entry: BookEntry): ShardDisk {
  const adopted = new Map(disk.adopted);
  const released = new Map(disk.released);
  for (const machineId of entry.machineIds) {
    adopted.delete(machineId);
    released.set(machineId, { transferId: id, peer: entry.peer });
  }
  return { ...withEntry(disk, id, { ...entry, state: 'released' }), adopted, released };
}

export function withClaimed(disk: ShardDisk, id: string, entry: BookEntry): ShardDisk {
  const adopted = new Map(disk.adopted);
  const released = new Map(disk.released);
  const gone = new Map(disk.gone);
  for (const machineId of entry.machineIds) {
    released.delete(machineId);
    gone.delete(machineId);
    adopted.set(machineId, { transferId: id, peer: entry.peer });
  }
  return { ...withEntry(disk, id, { ...entry, state: 'claimed' }), adopted, released, gone };
}
