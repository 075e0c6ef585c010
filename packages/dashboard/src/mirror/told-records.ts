// Which records of one shard were told already. A shard counts its cycles up within an epoch, and its epochs
// up with every start, so what is forgotten is the oldest by that count: never by time, because a clock that
// ran ahead once would silence everything behind it, and never by when it came, because a back-fill
// comes after what is newer than it.

/** Several hours of records with their fates; beyond it the older half is forgotten. */
const MAX_TOLD = 16_384;

interface Floor {
  readonly epoch: bigint;
  readonly place: number;
}

export class ToldRecords {
  /** By epoch, two places a cycle: its record, and what became of its actions. */
  readonly #places = new Map<bigint, Set<number>>();
  #size = 0;
  /** Everything up to it counts as told. */
  #floor: Floor = { epoch: -1n, place: 0 };

  /** False when it was told before, or is older than what is remembered. */
  add(epoch: bigint, cycle: number, isFates: boolean): boolean {
    const place = 2 * cycle + (isFates ? 1 : 0);
    const floor = this.#floor;
    if (epoch < floor.epoch || (epoch === floor.epoch && place <= floor.place)) return false;
    let places = this.#places.get(epoch);
    if (places === undefined) this.#places.set(epoch, (places = new Set()));
    if (places.has(place)) return false;
    places.add(place);
    this.#size += 1;
    if (this.#size > MAX_TOLD) this.#forget();
    return true;
  }

  #forget(): void {
    const epochs = [...this.#places].sort(([a], [b]) => (a < b ? -1 : 1));
    let surplus = this.#size - MAX_TOLD / 2;
    for (const [epoch, places] of epochs) {
      const oldest = [...places].sort((a, b) => a - b).slice(0, surplus);
      for (const place of oldest) places.delete(place);
      if (places.size === 0) this.#places.delete(epoch);
      this.#size -= oldest.length;
      surplus -= oldest.length;
      this.#floor = { epoch, place: oldest.at(-1) ?? 0 };
      if (surplus === 0) return;
    }
  }
}
