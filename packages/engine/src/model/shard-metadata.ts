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
  const read = <T>(key: string, before: T, parse: (text: string) => T | Problem): T => {
    if (!Object.hasOwn(metadata, key)) return before;
    const value = metadata[key] ?? '';
    const parsed = parse(value);
    if (!(parsed instanceof Problem)) return parsed;
    problems.push({ key, value: value.slice(0, MAX_SHOWN_LENGTH), problem: parsed.problem });
    return before;
  };
  const keys = shardMetadataKeys;
  const assigned: Assignment = {
    priority: read(keys.priority, known.priority, parsePriority),
    interruptionBucket: read(keys.interruptionPenalty, known.interruptionBucket, parseBucket),
    reclamationBucket: read(keys.reclamationPenalty, known.reclamationBucket, parseBucket),
    needFingerprint: read(keys.needFingerprint, known.needFingerprint, (text) =>
      text.length > MAX_FINGERPRINT_LENGTH ? tooLong : text,
    ),
    group: read(keys.group, known.group, (text) =>
      text.length > MAX_GROUP_LENGTH ? tooLong : text,
    ),
  };
  return { assigned, problems };
}

/** Tells a refusal from a text. */
class Problem {
  readonly problem: MetadataProblem['problem'];

  constructor(problem: MetadataProblem['problem']) {
    this.problem = problem;
  }
}

const tooLong = new Problem('too_long');
const notAnInt32 = new Problem('not_an_int32');
const notDollars = new Problem('not_dollars');

function printDollars(bucket: PenaltyBucket): string {
  const dollars = bucketUpperBoundDollars(bucket);
  return dollars === Number.POSITIVE_INFINITY ? '+Inf' : String(dollars);
}

function parsePriority(text: string): number | Problem {
  if (text.length > MAX_NUMBER_LENGTH || !/^[+-]?\d+$/.test(text)) return notAnInt32;
  // Adding zero turns -0 into 0.
  const priority = Number(text) + 0;
  return priority >= INT32_MIN && priority <= INT32_MAX ? priority : notAnInt32;
}

/** Any spelling of a float; a negative amount is no penalty, as everywhere. */
function parseBucket(text: string): PenaltyBucket | Problem {
  if (text.length > MAX_NUMBER_LENGTH) return notDollars;
  if (/^\+?inf(inity)?$/i.test(text)) return bucketOfDollars(Number.POSITIVE_INFINITY);
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return notDollars;
  return bucketOfDollars(Number(text));
}
