// A profile as the phases use it: interned fingerprint, resolved penalties, the classes that
// match. One per fingerprint, shared by every need that has it, dropped with the last.

import { bucketUpperBoundDollars, PINNED_BUCKET, type PenaltyBucket } from '@bigfleet/base';
import type { ClassSet } from '../match/match-set.ts';
import type { EligibleSets } from '../match/eligible-set.ts';
import { type Profile, withoutSame } from '../model/profile.ts';
import type { Interner } from '../store/interner.ts';

export interface CompiledProfile {
  readonly profile: Profile;
  readonly fingerprint: number;
  /** The same profile without Same: what a folded gang demands. */
  readonly strippedProfile: Profile;
  /** Fingerprint of the same profile without Same: what a folded gang is stamped with. */
  readonly strippedFingerprint: number;
  readonly strippedText: string;
  readonly requirementsKey: string;
  readonly match: ClassSet;
  readonly priority: number;
  /** Compares like (priority, interruption bucket, reclamation bucket). */
  readonly precedence: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly isPinned: boolean;
  readonly penaltyDollars: number;
  /** Key of the Same requirement, or undefined. */
  readonly sameKey: string | undefined;
}

export class CompiledProfiles {
  readonly #eligible: EligibleSets;
  readonly #fingerprints: Interner;
  readonly #entries = new Map<string, { readonly compiled: CompiledProfile; uses: number }>();

  constructor(eligible: EligibleSets, fingerprints: Interner) {
    this.#eligible = eligible;
    this.#fingerprints = fingerprints;
  }

  get size(): number {
    return this.#entries.size;
  }

  retain(profile: Profile): CompiledProfile {
    const known = this.#entries.get(profile.fingerprint);
    if (known !== undefined) {
      known.uses += 1;
      return known.compiled;
    }
    const compiled = this.#compile(profile);
    this.#entries.set(profile.fingerprint, { compiled, uses: 1 });
    return compiled;
  }

  release(compiled: CompiledProfile): void {
    const key = compiled.profile.fingerprint;
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.uses -= 1;
    if (entry.uses > 0) return;
    this.#entries.delete(key);
    this.#eligible.releaseMatch(compiled.requirementsKey);
    this.#fingerprints.release(compiled.fingerprint);
    this.#fingerprints.release(compiled.strippedFingerprint);
  }

  #compile(profile: Profile): CompiledProfile {
    const { fingerprint, requirements, interruptionBucket } = profile;
    const strippedProfile = withoutSame(profile);
    const strippedText = strippedProfile.fingerprint;
    const requirementsKey = fingerprint.slice(
      fingerprint.indexOf('|reqs='),
      fingerprint.indexOf('|spr='),
    );
    return {
      profile,
      fingerprint: this.#fingerprints.retain(fingerprint),
      strippedFingerprint: this.#fingerprints.retain(strippedText),
      strippedProfile,
      strippedText,
      requirementsKey,
      match: this.#eligible.retainMatch(requirements, requirementsKey),
      priority: profile.priority,
      precedence: profile.priority * 1024 + interruptionBucket * 32 + profile.reclamationBucket,
      interruptionBucket,
      isPinned: interruptionBucket === PINNED_BUCKET,
      penaltyDollars: bucketUpperBoundDollars(interruptionBucket),
      sameKey: profile.same?.key,
    };
  }
}
