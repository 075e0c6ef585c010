// What one session was last told, per profile. A hint goes out when it differs from the last one
// that went out and the interval has passed; comparing with the last *sent* one is what makes a
// change that came too early go out in a later cycle. Ends with its session.
//
// Bound: one entry per demanded profile; profiles that are demanded no more are dropped when the
// demand changes, and only then is the list made anew.

import { CATCH_ALL, type Hint, isSameHint } from './hint.ts';
import type { ProfileHint, ProfileHints } from './profile-hints.ts';
import type { DemandedProfile } from './supply.ts';

export interface Told {
  readonly subject: ProfileHint;
  /** Undefined: nothing yet. */
  hint: Hint | undefined;
  atMs: number;
}

const nothing: readonly DemandedProfile[] = [];

export class HintMemory {
  #profiles: readonly DemandedProfile[] = nothing;
  #hasCatchAll = false;
  #told: readonly Told[] = [];

  /** Everything that the session is to know of, the catch-all first. */
  about(
    profiles: readonly DemandedProfile[],
    hasCatchAll: boolean,
    hints: ProfileHints,
  ): readonly Told[] {
    if (profiles === this.#profiles && hasCatchAll === this.#hasCatchAll) return this.#told;
    const before = new Map(this.#told.map((told) => [told.subject.profile.fingerprint, told]));
    this.#profiles = profiles;
    this.#hasCatchAll = hasCatchAll;
    this.#told = (hasCatchAll ? [CATCH_ALL, ...profiles] : profiles).map((profile) => {
      const { hint, atMs } = before.get(profile.fingerprint) ?? { hint: undefined, atMs: 0 };
      return { subject: hints.of(profile), hint, atMs };
    });
    return this.#told;
  }
}

/** Whether it must be told again, the interval apart. */
export function isNews({ hint: told }: Told, hint: Hint): boolean {
  return told !== hint && (told === undefined || !isSameHint(told, hint));
}
