// A running digest of everything that was put into the engine, in order. Two engines with the
// same history have the same digest, so a record says which inputs it was decided from. Strings
// enter by their hash, never by an interned number, which depends on the process.

export class InputDigest {
  #high = 0x243f_6a88;
  #low = 0x85a3_08d3;

  get high(): number {
    return this.#high >>> 0;
  }

  get low(): number {
    return this.#low >>> 0;
  }

  add(value: number): void {
    this.#low = Math.imul(this.#low ^ value, 0x9e37_79b1);
    this.#high = Math.imul(this.#high ^ this.#low, 0x85eb_ca6b) ^ (this.#low >>> 15);
  }
}

/** 32 bits of a text. */
export function hashText(text: string): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at++)
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  return hash >>> 0;
}
