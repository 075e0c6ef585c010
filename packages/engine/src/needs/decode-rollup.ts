// A roll-up off the wire, checked and turned into needs: all of it or nothing. A value that does
// not parse would be zero on the hot path, and the demand behind it would silently disappear; so
// one bad row refuses the whole roll-up, names itself, and the last good demand stays.
//
// The input type has the field names of the generated messages and no more: the engine does not
// know the wire package. Every list and text has a bound, because the sender is only as
// trustworthy as its cluster.

import {
  assert,
  decodePenaltyBucket,
  err,
  ok,
  type PenaltyBucket,
  parseClusterId,
  type Result,
  type RollupRefusal,
  toQuanta,
} from '@bigfleet/base';
import type { Need } from '../model/need.ts';
import { createProfile, type Profile, type Spread } from '../model/profile.ts';
import { isOperatorCode, Operator, type Requirement } from '../model/requirement.ts';
import type { Resources } from '../model/resources.ts';
import { MAX_FINGERPRINT_LENGTH, MAX_GROUP_LENGTH } from '../model/shard-metadata.ts';

export interface WireRollup {
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  readonly needs: readonly WireNeed[];
}

export interface WireNeed {
  readonly requirements: readonly WireRequirement[];
  readonly aggregateResources: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly spread: readonly WireSpread[];
  readonly interruptionPenaltyBucket: number;
  readonly reclamationPenaltyBucket: number;
  readonly minUnit: Readonly<Record<string, string>>;
  readonly group: string;
}

export interface WireRequirement {
  readonly key: string;
  readonly operator: number;
  readonly values: readonly string[];
}

export interface WireSpread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly whenUnsatisfiable: number;
}

/** More than any cluster asks for by far; a whole shard expects 50 000 rows. */
export const MAX_ROLLUP_ROWS = 250_000;
export const MAX_REQUIREMENTS = 64;
export const MAX_REQUIREMENT_VALUES = 4_096;
export const MAX_SPREAD = 16;
/** Every new name widens every vector of the shard, so a row must not bring hundreds. */
export const MAX_RESOURCES = 64;
/** Label keys have at most 317 characters, values 63. */
export const MAX_NAME_LENGTH = 512;

const MAX_SHOWN_LENGTH = 64;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

export interface RollupProblem {
  readonly code: Exclude<RollupRefusal, 'rollup_quarantined'>;
  /** Index in `needs`; −1 for the envelope. */
  readonly row: number;
  /** As in the message, such as `minUnit[cpu]` or `requirements[2].operator`. */
  readonly field: string;
  /** What was found there, cut short. */
  readonly detail: string;
}

/** `cluster` is whom the session speaks for: nobody may store demand of another. */
export function decodeRollup(
  rollup: WireRollup,
  cluster: string,
): Result<readonly Need[], RollupProblem> {
  const problem = envelopeProblem(rollup, cluster);
  if (problem !== undefined) return err(problem);
  const needs: Need[] = [];
  for (const [row, wire] of rollup.needs.entries()) {
    const decoder = new RowDecoder(row);
    const need = decoder.need(wire, cluster, rollup.timestampUnixNanos);
    if (need === undefined) return err(decoder.problem);
    needs.push(need);
  }
  return ok(needs);
}

function envelopeProblem(rollup: WireRollup, cluster: string): RollupProblem | undefined {
  const refuse = (code: RollupProblem['code'], field: string, found: unknown): RollupProblem => ({
    code,
    row: -1,
    field,
    detail: shown(found),
  });
  const { clusterId, timestampUnixNanos, needs } = rollup;
  if (!parseClusterId(cluster).ok) return refuse('malformed', 'clusterId', cluster);
  // Empty means the session's own: old operators do not repeat it.
  if (clusterId !== '' && clusterId !== cluster) {
    return refuse('cluster_mismatch', 'clusterId', clusterId);
  }
  if (timestampUnixNanos < 0n) {
    return refuse('malformed', 'timestampUnixNanos', timestampUnixNanos);
  }
  if (needs.length > MAX_ROLLUP_ROWS) return refuse('too_large', 'needs', needs.length);
  return undefined;
}

/** Decodes one row; undefined from any step means that `problem` says why. */
class RowDecoder {
  readonly #row: number;
  #problem: RollupProblem | undefined;

  constructor(row: number) {
    this.#row = row;
  }

  get problem(): RollupProblem {
    assert(this.#problem !== undefined, 'a row was refused without a reason', { row: this.#row });
    return this.#problem;
  }

  need(wire: WireNeed, cluster: string, arrivalUnixNanos: bigint): Need | undefined {
    const { group } = wire;
    if (group.length > MAX_GROUP_LENGTH) return this.#refuse('too_large', 'group', group.length);
    const profile = this.#profile(wire);
    if (profile === undefined) return undefined;
    const aggregate = this.#resources(wire.aggregateResources, 'aggregateResources');
    if (aggregate === undefined) return undefined;
    const minUnit = this.#resources(wire.minUnit, 'minUnit');
    if (minUnit === undefined) return undefined;
    return { cluster, profile, aggregate, minUnit, group, arrivalUnixNanos };
  }

  #profile(wire: WireNeed): Profile | undefined {
    const { priority } = wire;
    if (!isInt32(priority)) return this.#refuse('malformed', 'priority', priority);
    const interruptionBucket = this.#bucket(wire, 'interruptionPenaltyBucket');
    if (interruptionBucket === undefined) return undefined;
    const reclamationBucket = this.#bucket(wire, 'reclamationPenaltyBucket');
    if (reclamationBucket === undefined) return undefined;
    const requirements = this.#requirements(wire.requirements);
    if (requirements === undefined) return undefined;
    const spread = this.#spread(wire.spread);
    if (spread === undefined) return undefined;
    return this.#checked(
      createProfile({ requirements, spread, priority, interruptionBucket, reclamationBucket }),
    );
  }

  /** What can only be judged once exact duplicates are gone. */
  #checked(profile: Profile): Profile | undefined {
    const same = profile.requirements.filter(({ operator }) => operator === Operator.Same);
    if (same.length > 1) return this.#refuse('malformed', 'requirements', 'a second Same');
    const { length } = profile.fingerprint;
    if (length > MAX_FINGERPRINT_LENGTH) return this.#refuse('too_large', 'requirements', length);
    return profile;
  }

  #bucket(
    wire: WireNeed,
    field: 'interruptionPenaltyBucket' | 'reclamationPenaltyBucket',
  ): PenaltyBucket | undefined {
    return decodePenaltyBucket(wire[field]) ?? this.#refuse('bad_bucket', field, wire[field]);
  }

  #requirements(list: readonly WireRequirement[]): readonly Requirement[] | undefined {
    if (list.length > MAX_REQUIREMENTS) {
      return this.#refuse('too_large', 'requirements', list.length);
    }
    const requirements: Requirement[] = [];
    for (const [at, { key, operator, values }] of list.entries()) {
      const field = `requirements[${at}]`;
      if (!isOperatorCode(operator)) {
        return this.#refuse('bad_operator', `${field}.operator`, operator);
      }
      if (values.length > MAX_REQUIREMENT_VALUES) {
        return this.#refuse('too_large', `${field}.values`, values.length);
      }
      const long = [key, ...values].find(isTooLong);
      if (long !== undefined) return this.#refuse('too_large', field, long);
      requirements.push({ key, operator, values });
    }
    return requirements;
  }

  #spread(list: readonly WireSpread[]): readonly Spread[] | undefined {
    if (list.length > MAX_SPREAD) return this.#refuse('too_large', 'spread', list.length);
    const spread: Spread[] = [];
    for (const [at, { topologyKey, maxSkew, whenUnsatisfiable }] of list.entries()) {
      const field = `spread[${at}]`;
      if (isTooLong(topologyKey)) return this.#refuse('too_large', field, topologyKey);
      if (!isInt32(maxSkew)) return this.#refuse('malformed', `${field}.maxSkew`, maxSkew);
      spread.push({ topologyKey, maxSkew, whenUnsatisfiable: knownWhen(whenUnsatisfiable) });
    }
    return spread;
  }

  #resources(quantities: Readonly<Record<string, string>>, field: string): Resources | undefined {
    const entries = Object.entries(quantities);
    if (entries.length > MAX_RESOURCES) return this.#refuse('too_large', field, entries.length);
    const resources = new Map<string, number>();
    for (const [name, text] of entries) {
      if (isTooLong(name)) return this.#refuse('too_large', field, name);
      const quanta = toQuanta(text, name, 'demand');
      if (!quanta.ok) return this.#refuse('bad_quantity', `${field}[${shown(name)}]`, text);
      if (quanta.value > 0) resources.set(name, quanta.value);
    }
    return resources;
  }

  #refuse(code: RollupProblem['code'], field: string, found: unknown): undefined {
    this.#problem = { code, row: this.#row, field, detail: shown(found) };
    return undefined;
  }
}

/** An unknown value is what a newer operator sends: the spread is then not enforced. */
function knownWhen(whenUnsatisfiable: number): number {
  return whenUnsatisfiable === 1 || whenUnsatisfiable === 2 ? whenUnsatisfiable : 0;
}

function isInt32(value: number): boolean {
  return Number.isInteger(value) && value >= INT32_MIN && value <= INT32_MAX;
}

function isTooLong(text: string): boolean {
  return text.length > MAX_NAME_LENGTH;
}

function shown(found: unknown): string {
  return String(found).slice(0, MAX_SHOWN_LENGTH);
}
