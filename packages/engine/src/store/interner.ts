// Strings to dense integers, so that the hot path compares and indexes numbers. Group names
// and fingerprints come and go with workloads, so entries are counted and their numbers are
// reused: an append-only table would grow for as long as the shard lives. 0 is the empty string.

import { assert } from '@bigfleet/base';
import { hashText } from './input-digest.ts';

export class Interner {
  readonly #ids = new Map<string, number>([['', 0]]);
  readonly #texts: string[] = [''];
  readonly #uses: number[] = [1];
  readonly #hashes: number[] = [hashText('')];
  readonly #free: number[] = [];

  /** Live entries, the empty string included. */
  get size(): number {
    return this.#ids.size;
  }

  /** The number of `text`, which stays its own until every `retain` was released. */
  retain(text: string): number {
    const known = this.#ids.get(text);
    if (known !== undefined) {
      this.#uses[known] = (this.#uses[known] ?? 0) + 1;
      return known;
    }
    const id = this.#free.pop() ?? this.#texts.length;
    this.#ids.set(text, id);
    this.#texts[id] = text;
    this.#uses[id] = 1;
    this.#hashes[id] = hashText(text);
    return id;
  }

  release(id: number): void {
    if (id === 0) return;
    const uses = (this.#uses[id] ?? 0) - 1;
    assert(uses >= 0, 'released more often than retained', { id });
    this.#uses[id] = uses;
    if (uses > 0) return;
    this.#ids.delete(this.text(id));
    this.#texts[id] = '';
    this.#free.push(id);
  }

  /** −1 when nobody retains it. */
  find(text: string): number {
    return this.#ids.get(text) ?? -1;
  }

  /** Of the text: the same in every process, unlike the number. */
  hashOf(id: number): number {
    return this.#hashes[id] ?? 0;
  }

  text(id: number): string {
    return this.#texts[id] ?? '';
  }
}
