// Which classes satisfy a set of requirements. Built when the requirements are first seen and
// caught up from the class log when classes appear, so matching a machine is one lookup.

import { type Requirement, satisfiesAll } from '../model/requirement.ts';
import { type Classes, grown } from '../store/classes.ts';

/** A set of classes that follows the definition of new ones. */
export class ClassSet {
  readonly #classes: Classes;
  readonly #accepts: (klass: number) => boolean;
  #seen = 0;
  #epoch = 0;
  /** 1 for members, by class. */
  #flags: Uint8Array = new Uint8Array(16);
  #members: number[] = [];
  /** Rises when the membership may have changed: caches over the members compare it. */
  #version = 0;

  constructor(classes: Classes, accepts: (klass: number) => boolean) {
    this.#classes = classes;
    this.#accepts = accepts;
  }

  /** Ascending class numbers; classes without machines may be among them. */
  get members(): readonly number[] {
    this.#catchUp();
    return this.#members;
  }

  get version(): number {
    this.#catchUp();
    return this.#version;
  }

  /** 1 for members, by class: for loops that ask often. Valid until a class is defined. */
  get flags(): Uint8Array {
    this.#catchUp();
    return this.#flags;
  }

  has(klass: number): boolean {
    this.#catchUp();
    return this.#flags[klass] === 1;
  }

  #catchUp(): void {
    const { log, length, logEpoch } = this.#classes;
    if (this.#epoch !== logEpoch) {
      this.#epoch = logEpoch;
      this.#seen = 0;
      this.#flags.fill(0);
    }
    if (this.#seen === log.length) return;
    if (this.#flags.length < length) {
      const room = Math.max(length, this.#flags.length * 2);
      this.#flags = grown(this.#flags, new Uint8Array(room));
    }
    let changed = false;
    for (; this.#seen < log.length; this.#seen++) {
      const klass = log[this.#seen]!;
      const accepted = this.#accepts(klass) ? 1 : 0;
      // A reused number may keep its flag and still be another class.
      if (accepted === 1 || this.#flags[klass] === 1) changed = true;
      this.#flags[klass] = accepted;
    }
    if (!changed) return;
    this.#version += 1;
    this.#members = [];
    for (let klass = 0; klass < length; klass++) {
      if (this.#flags[klass] === 1) this.#members.push(klass);
    }
  }
}

/** The classes whose shape satisfies all of the requirements. */
export function matchingClasses(classes: Classes, requirements: readonly Requirement[]): ClassSet {
  return new ClassSet(classes, (klass) => {
    const shape = classes.shape(klass);
    return shape !== undefined && satisfiesAll(shape, requirements);
  });
}
