// 64 bits over whole numbers and bytes, in two lanes that share no constant: equal content has an
// equal digest in every List, and different content that shares one is not going to happen. Not a
// defence against a search for collisions: a provider could only deceive itself.

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca6b;
const THIRD = 0xc2b2ae35;
const FOURTH = 0x27d4eb2f;

export class Digest {
  #low = 0;
  #high = 0;

  begin(): void {
    this.#low = FIRST | 0;
    this.#high = THIRD | 0;
  }

  word(value: number): void {
    this.#low = Math.imul((this.#low ^ value) + ((this.#low << 13) | (this.#low >>> 19)), SECOND);
    this.#high = Math.imul(
      (this.#high ^ value) + ((this.#high << 7) | (this.#high >>> 25)),
      FOURTH,
    );
  }

  bytes(bytes: Uint8Array, start: number, end: number): void {
    this.word(end - start);
    for (let at = start; at < end; at++) this.word(bytes[at]!);
  }

  get low(): number {
    return finish(this.#low, SECOND);
  }

  get high(): number {
    return finish(this.#high, FOURTH);
  }
}

function finish(lane: number, factor: number): number {
  const mixed = Math.imul(lane ^ (lane >>> 16), factor);
  return mixed ^ (mixed >>> 15);
}
