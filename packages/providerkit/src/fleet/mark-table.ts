// Fence marks per (shard, machine) (provider-contract §6). Per machine, because a live shard's numbers
// arrive out of order across machines and a mark per shard fenced it against itself. Marks of
// machines that do not exist are kept too, so the table has a bound: a caller that invents ids is
// refused before it fills the memory, and no mark is ever dropped to make room.

import type { FenceMark as WireMark } from '@bigfleet/wire';
import type { FenceMark } from '../store/store.ts';

const BASE_MARKS = 100_000;
const MARKS_PER_MACHINE = 64;

export class MarkTable {
  readonly #byMachine = new Map<string, Map<string, WireMark>>();
  #count = 0;

  get(shardId: string, machineId: string): WireMark | undefined {
    return this.#byMachine.get(machineId)?.get(shardId);
  }

  /** Whether one more pair may be held beside this many machines. */
  hasRoom(machineCount: number): boolean {
    return this.#count < BASE_MARKS + MARKS_PER_MACHINE * machineCount;
  }

  set(mark: FenceMark): void {
    const shards = this.#byMachine.get(mark.machineId) ?? new Map<string, WireMark>();
    if (shards.size === 0) this.#byMachine.set(mark.machineId, shards);
    if (!shards.has(mark.shardId)) this.#count++;
    shards.set(mark.shardId, { shardEpoch: mark.epoch, sequenceNumber: mark.sequence });
  }
}
