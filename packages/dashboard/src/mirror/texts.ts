// Texts by number: half a million machines name a few thousand clusters, needs and errors. Machine ids and
// node names come and go, so what nothing refers to any more is swept out when the table has doubled.

import { textDigest } from '@bigfleet/base';

/** Longer texts are cut: a label of a quarter of a megabyte must not stand in half a million rows. */
const MAX_TEXT = 4_096;

export class Texts {
  readonly #texts: string[] = [''];
  readonly #numbers = new Map<string, number>([['', 0]]);
  readonly #free: number[] = [];

  /** Numbers in use; one more than the highest. */
  get length(): number {
    return this.#texts.length;
  }

  get liveCount(): number {
    return this.#numbers.size;
  }

  intern(text: string): number {
    if (text === '') return 0;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const kept = bounded(text);
    const cut = kept === text ? undefined : this.#numbers.get(kept);
    if (cut !== undefined) return cut;
    const number = this.#free.pop() ?? this.#texts.length;
    this.#texts[number] = kept;
    this.#numbers.set(kept, number);
    return number;
  }

  /** −1 for a text that nothing has. */
  find(text: string): number {
    return this.#numbers.get(bounded(text)) ?? -1;
  }

  text(number: number): string {
    return this.#texts[number] ?? '';
  }

  /** Forgets every number that is not marked; 0 stays. */
  sweep(isUsed: Uint8Array): void {
    for (const [text, number] of this.#numbers) {
      if (number === 0 || isUsed[number] === 1) continue;
      this.#numbers.delete(text);
      this.#texts[number] = '';
      this.#free.push(number);
    }
  }
}

/** Cut texts stay distinct by their digest. */
export function bounded(text: string): string {
  if (text.length <= MAX_TEXT) return text;
  const { low, high } = textDigest(text);
  const digest = (high >>> 0).toString(16) + (low >>> 0).toString(16);
  return `${text.slice(0, MAX_TEXT - 32)}… (cut, ${digest})`;
}
