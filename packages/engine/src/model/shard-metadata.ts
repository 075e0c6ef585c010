// What a machine's binding means, as the five strings that the provider stores with it and echoes:
// the only copy that survives a restart of the shard. Without it every bound machine would come
// back with priority 0 and no penalty, free for anybody to preempt.
//
// The echo passes through somebody else's store, so decoding trusts nothing: an absent key leaves
// its field alone, an unknown key is ignored, a malformed value is skipped and reported while the
// others apply. Nothing here throws. Infinity is spelled out, because JSON turns it into null.

import { bucketOfDollars, bucketUpperBoundDollars, type PenaltyBucket } from '@bigfleet/base';
import { type Assignment, noAssignment } from './machine.ts';

export const shardMetadataKeys = {
  priority: 'bigfleet.lucy.sh/assigned-priority',
  interruptionPenalty: 'bigfleet.lucy.sh/assigned-interruption-penalty-dollars',
  reclamationPenalty: 'bigfleet.lucy.sh/assigned-reclamation-penalty-dollars',
  needFingerprint: 'bigfleet.lucy.sh/assigned-need-fingerprint',
  group: 'bigfleet.lucy.sh/assigned-group',
} as const;

/** A map field as the generated messages have it. */
export type ShardMetadata = Readonly<Record<string, string>>;

/** Longer than any fingerprint or group that a roll-up may bring in (needs/decode-rollup.ts). */
export const MAX_FINGERPRINT_LENGTH = 65_536;
export const MAX_GROUP_LENGTH = 4_096;

/** The shortest text of any double has 24 characters. */
const MAX_NUMBER_LENGTH = 64;
const MAX_SHOWN_LENGTH = 64;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

export interface MetadataProblem {
  readonly key: string;
  /** Cut: it may come from a hostile peer. */
  readonly value: string;
  readonly problem: 'not_an_int32' | 'not_dollars' | 'too_long';
}

export interface DecodedAssignment {
  readonly assigned: Assignment;
  /** One per skipped value, in a fixed order. */
  readonly problems: readonly MetadataProblem[];
}

/** All five keys, always: a key that is missing later was lost, not empty. */
export function encodeShardMetadata(assigned: Assignment): Record<string, string> {
  return {
    [shardMetadataKeys.priority]: String(assigned.priority),
    [shardMetadataKeys.interruptionPenalty]: printDollars(assigned.interruptionBucket),
    [shardMetadataKeys.reclamationPenalty]: printDollars(assigned.reclamationBucket),
    [shardMetadataKeys.needFingerprint]: assigned.needFingerprint,
    [shardMetadataKeys.group]: assigned.group,
  };
}

/** `known` is what stays where the echo says nothing usable. */
export function decodeShardMetadata(
  metadata: ShardMetadata,
  known: Assignment = noAssignment,
): DecodedAssignment {
  const problems: MetadataProblem[] = [];
  const read = <T>(
    key: string,
    before: T,
    parse: (text: string) => T | undefined,
    problem: MetadataProblem['problem'],
  ): T => {
    if (!Object.hasOwn(metadata, key)) return before;
    const value = metadata[key] ?? '';
    const parsed = parse(value);
    if (parsed !== undefined) return parsed;
    problems.push({ key, value: value.slice(0, MAX_SHOWN_LENGTH), problem });
    return before;
  };
  const dollars = (key: string, before: PenaltyBucket): PenaltyBucket =>
    read(key, before, parseBucket, 'not_dollars');
  const text = (key: string, before: string, most: number): string =>
    read(key, before, (value) => (value.length > most ? undefined : value), 'too_long');
  const keys = shardMetadataKeys;
  const assigned: Assignment = {
    priority: read(keys.priority, known.priority, parsePriority, 'not_an_int32'),
    interruptionBucket: dollars(keys.interruptionPenalty, known.interruptionBucket),
    reclamationBucket: dollars(keys.reclamationPenalty, known.reclamationBucket),
    needFingerprint: text(keys.needFingerprint, known.needFingerprint, MAX_FINGERPRINT_LENGTH),
    group: text(keys.group, known.group, MAX_GROUP_LENGTH),
  };
  return { assigned, problems };
}

function printDollars(bucket: PenaltyBucket): string {
  const dollars = bucketUpperBoundDollars(bucket);
  return dollars === Number.POSITIVE_INFINITY ? '+Inf' : String(dollars);
}

function parsePriority(text: string): number | undefined {
  if (text.length > MAX_NUMBER_LENGTH || !/^[+-]?\d+$/.test(text)) return undefined;
  // Adding zero turns -0 into 0.
  const priority = Number(text) + 0;
  return priority >= INT32_MIN && priority <= INT32_MAX ? priority : undefined;
}

/** Any spelling of a float; a negative amount is no penalty, as everywhere. */
function parseBucket(text: string): PenaltyBucket | undefined {
  if (text.length > MAX_NUMBER_LENGTH) return undefined;
  if (/^\+?inf(inity)?$/i.test(text)) return bucketOfDollars(Number.POSITIVE_INFINITY);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  return bucketOfDollars(Number(text));
}
