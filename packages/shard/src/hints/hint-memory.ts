// What one session was last told, per profile. A hint goes out when it differs from the last one
// that went out and the interval has passed; comparing with the last *sent* one is what makes a
// change that came too early go out in a later cycle. Ends with its session.
//
// It also knows when there is nothing to look for: everything was told within the interval, or
// everything that was told is what would be told again (supply-watch.ts).
//
// Bound: one entry per demanded profile; profiles that are demanded no more are dropped when the
// demand changes, and only then is the list made anew.

import { CATCH_ALL, type Hint, type ProfileHint, type ProfileHints, isSameHint } from './hint.ts';
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
  #settledVersion: number | undefined;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** Pairs of this session and a profile. */
  get pairCount(): number {
    return this.#told.length;
  }

  /** The same demand as before, and nothing of it can be news: `about` need not be asked. */
  isAtRest(
    profiles: readonly DemandedProfile[],
    hasCatchAll: boolean,
    { version, nowMs }: { readonly version: number; readonly nowMs: number },
  ): boolean {
    if (profiles !== this.#profiles || hasCatchAll !== this.#hasCatchAll) return false;
    return this.#settledVersion === version || nowMs < this.#dueMs;
  }

  /**
   * All of it was looked at. `settledVersion`: of this supply everything is told. `dueMs`: before
   * it nothing may be told again.
   */
  rest(settledVersion: number | undefined, dueMs: number): void {
    this.#settledVersion = settledVersion;
    this.#dueMs = dueMs;
  }

  /** Everything that the session is to know of, the catch-all first. */
  about(
    profiles: readonly DemandedProfile[],
    hasCatchAll: boolean,
    hints: ProfileHints,
  ): readonly Told[] {
    if (profiles === this.#profiles && hasCatchAll === this.#hasCatchAll) return this.#told;
    const before = new Map(this.#told.map((told) => [told.subject.profile.fingerprint, told]));
    this.forget();
    this.#profiles = profiles;
    this.#hasCatchAll = hasCatchAll;
    this.#told = (hasCatchAll ? [CATCH_ALL, ...profiles] : profiles).map((profile) => {
      const { hint, atMs } = before.get(profile.fingerprint) ?? { hint: undefined, atMs: 0 };
      return { subject: hints.of(profile), hint, atMs };
    });
    for (const { subject } of this.#told) subject.sessionCount += 1;
    return this.#told;
  }

  /** The session is over. */
  forget(): void {
    for (const { subject } of this.#told) subject.sessionCount -= 1;
    this.#told = [];
    this.#profiles = nothing;
    this.#hasCatchAll = false;
    this.rest(undefined, Number.NEGATIVE_INFINITY);
  }
}

/** Whether it must be told again, the interval apart. */
export function isNews({ hint: told }: Told, hint: Hint): boolean {
  return told !== hint && (told === undefined || !isSameHint(told, hint));
}
