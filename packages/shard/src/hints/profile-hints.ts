// The hint of each demanded profile, worked out once per publication however many clusters demand
// it, and its frame, encoded once however many sessions it goes to. As long as a hint says the same
// it stays the same object: whoever compares it with what was sent compares two pointers.
//
// Bound: one per profile that some cluster demands; a profile that is gone takes its hint along.

import { preparedFrame, type ShardFrame } from '../session/frame.ts';
import { type Hint, hintFrame, hintKey, hintOf, isSameHint, pinnedTypes } from './hint.ts';
import type { DemandedProfile, FleetSupply } from './supply.ts';

export class ProfileHint {
  readonly profile: DemandedProfile;
  readonly key: string;
  /** When it was last told to whoever had heard of it before; kept by the publisher. */
  repeatedMs: number = Number.NEGATIVE_INFINITY;
  /** Sessions that are to know of it; kept by their memories. */
  sessionCount = 0;
  readonly #types: readonly string[] | undefined;
  #hint: Hint | undefined;
  #frame: ShardFrame | undefined;
  #publication = 0;

  constructor(profile: DemandedProfile) {
    this.profile = profile;
    this.key = hintKey(profile);
    this.#types = pinnedTypes(profile.requirements);
  }

  /** As of a publication, whose supply does not change. */
  at(publication: number, supply: FleetSupply): Hint {
    if (this.#hint !== undefined && this.#publication === publication) return this.#hint;
    this.#publication = publication;
    const hint = hintOf(this.profile, this.#types, supply);
    if (this.#hint === undefined || !isSameHint(this.#hint, hint)) {
      this.#hint = hint;
      this.#frame = undefined;
    }
    return this.#hint;
  }

  /** Of the hint that `at` gave last. */
  frameOf(hint: Hint): ShardFrame {
    this.#frame ??= preparedFrame(hintFrame(this.profile, hint));
    return this.#frame;
  }
}

export class ProfileHints {
  readonly #hints = new WeakMap<DemandedProfile, ProfileHint>();

  of(profile: DemandedProfile): ProfileHint {
    let hint = this.#hints.get(profile);
    if (hint === undefined) {
      hint = new ProfileHint(profile);
      this.#hints.set(profile, hint);
    }
    return hint;
  }
}
