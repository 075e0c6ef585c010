// The smallest ids of a tier's classes as a binary heap, for tiers of many classes: fleets with
// rack labels have thousands of equal cost. Keys are brought up to date when they reach the top,
// because others may have taken from a class meanwhile; a class only ever gets larger keys.

export class TierHeads {
  /** Which tier the heap holds; −1 for none. */
  tier = -1;
  #keys: Float64Array = new Float64Array(0);
  #classes: Int32Array = new Int32Array(0);
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get topClass(): number {
    return this.#classes[0]!;
  }

  get topKey(): number {
    return this.#keys[0]!;
  }

  /** Starts again for a tier of at most `capacity` classes. */
  begin(tier: number, capacity: number): void {
    this.tier = tier;
    this.#size = 0;
    if (this.#keys.length >= capacity) return;
    this.#keys = new Float64Array(capacity);
    this.#classes = new Int32Array(capacity);
  }

  push(klass: number, key: number): void {
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#keys[parent]! <= key) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#keys[at] = key;
    this.#classes[at] = klass;
  }

  pop(): void {
    this.#size -= 1;
    if (this.#size > 0) this.#sink(this.#classes[this.#size]!, this.#keys[this.#size]!);
  }

  /** The class on top has another head now. */
  replaceTop(key: number): void {
    this.#sink(this.#classes[0]!, key);
  }

  #sink(klass: number, key: number): void {
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#keys[child + 1]! < this.#keys[child]!) {
        child += 1;
      }
      if (this.#keys[child]! >= key) break;
      this.#move(child, at);
      at = child;
    }
    this.#keys[at] = key;
    this.#classes[at] = klass;
  }

  #move(from: number, to: number): void {
    this.#keys[to] = this.#keys[from]!;
    this.#classes[to] = this.#classes[from]!;
  }
}
