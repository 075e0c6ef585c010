// Byte strings to numbers from 1, by content: an open-addressed table over one arena, so that a
// look-up allocates nothing. Bytes come from peers in the end and the hash has no secret, so a
// search gives up after a bounded number of steps: the worst that collisions do is to define a
// value twice, which costs bytes and never correctness.

import { grown } from '../store/classes.ts';

const MAX_STEPS = 64;

export class ByteTable {
  #count = 0;
  #arena: Uint8Array = new Uint8Array(1024);
  #used = 0;
  /** By number: hash, and where its bytes end. */
  #hashes: Uint32Array = new Uint32Array(64);
  #ends: Uint32Array = new Uint32Array(64);
  /** Numbers; 0 is free. A power of two, at most half full. */
  #slots: Uint32Array = new Uint32Array(128);

  get size(): number {
    return this.#count;
  }

  /** 0 when it is not found. */
  find(bytes: Uint8Array): number {
    const hash = hashOf(bytes);
    const mask = this.#slots.length - 1;
    for (let step = 0; step < MAX_STEPS; step++) {
      const number = this.#slots[(hash + step) & mask]!;
      if (number === 0) return 0;
      if (this.#hashes[number] === hash && this.#holds(number, bytes)) return number;
    }
    return 0;
  }

  add(bytes: Uint8Array): number {
    const number = ++this.#count;
    this.#reserve(bytes.length);
    this.#arena.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#hashes[number] = hashOf(bytes);
    this.#ends[number] = this.#used;
    if (number * 2 > this.#slots.length) this.#rehash();
    else this.#place(number);
    return number;
  }

  clear(): void {
    this.#count = 0;
    this.#used = 0;
    this.#slots.fill(0);
  }

  #holds(number: number, bytes: Uint8Array): boolean {
    const start = this.#ends[number - 1]!;
    if (this.#ends[number]! - start !== bytes.length) return false;
    for (let at = 0; at < bytes.length; at++) {
      if (this.#arena[start + at] !== bytes[at]) return false;
    }
    return true;
  }

  #place(number: number): void {
    const mask = this.#slots.length - 1;
    const hash = this.#hashes[number]!;
    for (let step = 0; step < MAX_STEPS; step++) {
      const slot = (hash + step) & mask;
      if (this.#slots[slot] !== 0) continue;
      this.#slots[slot] = number;
      return;
    }
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2);
    for (let number = 1; number <= this.#count; number++) this.#place(number);
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes > this.#arena.length) {
      const room = Math.max(this.#used + bytes, this.#arena.length * 2);
      this.#arena = grown(this.#arena, new Uint8Array(room));
    }
    if (this.#count < this.#hashes.length) return;
    this.#hashes = grown(this.#hashes, new Uint32Array(this.#hashes.length * 2));
    this.#ends = grown(this.#ends, new Uint32Array(this.#ends.length * 2));
  }
}

/** FNV-1a and a final mix, because the low bits choose the slot. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < bytes.length; at++) {
    hash = Math.imul(hash ^ bytes[at]!, 0x0100_0193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
