// One AvailableCapacity hint: how many machines could serve a profile, how surely, for how much
// (shard §11). A profile that pins instance types with In is summed over those types; any other
// uses the totals. Cost: one count per named type.

import { INSTANCE_TYPE_KEY, Operator, type Requirement } from '@bigfleet/engine';
import { Confidence } from '@bigfleet/wire';
import { wireRequirements } from '../engine-host/wire-values.ts';
import { type FrameInit, type ShardFrame, preparedFrame } from '../session/frame.ts';
import {
  type DemandedProfile,
  type FleetSupply,
  NO_SUPPLY,
  sumSupply,
  type SupplyCount,
} from './supply.ts';

export interface Hint {
  readonly count: number;
  readonly confidence: Confidence;
  readonly costPerHour: number;
}

const INT32_MAX = 2 ** 31 - 1;

/** The catch-all: everything that could be had, so that an empty fleet is visible too. */
export const CATCH_ALL: DemandedProfile = {
  fingerprint: 'any',
  requirements: [{ key: INSTANCE_TYPE_KEY, operator: Operator.Exists, values: [] }],
  isPinned: false,
};

function hintKey({ fingerprint }: DemandedProfile): string {
  return `available:${fingerprint}`;
}

/** `types` are the profile's pinned ones. */
export function hintOf(
  { isPinned }: DemandedProfile,
  types: readonly string[] | undefined,
  supply: FleetSupply,
): Hint {
  const total =
    types === undefined
      ? supply.count(undefined, isPinned)
      : types.map((type) => supply.count(type, isPinned)).reduce(sumSupply, NO_SUPPLY);
  return {
    count: Math.min(total.idleCount + total.speculativeCount, INT32_MAX),
    confidence: confidenceOf(total),
    costPerHour: total.cheapestIdlePrice,
  };
}

export function isSameHint(a: Hint, b: Hint): boolean {
  return a.count === b.count && a.confidence === b.confidence && a.costPerHour === b.costPerHour;
}

function hintFrame(profile: DemandedProfile, hint: Hint): FrameInit {
  return {
    payload: {
      case: 'availableCapacity',
      value: {
        supersedesKey: hintKey(profile),
        requirements: wireRequirements(profile.requirements),
        availableCount: hint.count,
        confidence: hint.confidence,
        costPerHour: hint.costPerHour,
      },
    },
  };
}

/** The types that every In on the instance type allows, each once; undefined without such an In. */
export function pinnedTypes(requirements: readonly Requirement[]): readonly string[] | undefined {
  let types: readonly string[] | undefined;
  for (const { key, operator, values } of requirements) {
    if (key !== INSTANCE_TYPE_KEY || operator !== Operator.In) continue;
    types = types === undefined ? [...new Set(values)] : types.filter((t) => values.includes(t));
  }
  return types;
}

function confidenceOf({ idleCount, speculativeCount }: SupplyCount): Confidence {
  if (idleCount > 0) return Confidence.HIGH;
  return speculativeCount > 0 ? Confidence.MEDIUM : Confidence.NONE;
}

/**
 * The hint of each demanded profile, worked out once per publication however many clusters demand
 * it, and its frame, encoded once however many sessions it goes to. As long as a hint says the same
 * it stays the same object, so that comparing it with the one that was sent compares two pointers.
 *
 * Bound: one per profile that some cluster demands; a profile that is gone takes its hint along.
 */
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
