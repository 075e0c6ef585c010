// The words that every answer of the API uses: machines' states, decisions, sources, and the frame that
// says which moment an answer shows and what it is missing. Frozen and additive, as all of /api/v1.

import { z } from 'zod';
import { CAPACITY_NAMES, KIND_NAMES, STATE_NAMES, TIER_NAMES } from '../words.ts';

export const state = z.enum(STATE_NAMES);
export const capacityType = z.enum(CAPACITY_NAMES);
export const actionKind = z.enum(KIND_NAMES);
export const tier = z.enum(TIER_NAMES);

export const count = z.int().min(0);
export const unixMs = z.number().describe('milliseconds since 1970');
export const ms = z.number().describe('milliseconds');
export const dollars = z.number().describe('dollars');
export const dollarsPerHour = z.number().describe('dollars per hour');
/** Infinity is no JSON: what is excluded by a pinned need has no cost. */
export const dollarsOrExcluded = z.number().nullable().describe('dollars; null is infinite');

/** Where data comes from, and what supplies it when it is not there. */
export const source = z.object({
  kind: z.enum(['shard', 'coordinator', 'records', 'provider-metrics', 'kubernetes', 'prometheus']),
  name: z.string(),
  state: z.enum(['live', 'stale', 'connecting', 'absent']),
  /** Since when it is in that state. */
  sinceMs: unixMs,
  /** Newest data; null when none has ever come. */
  dataMs: unixMs.nullable(),
  /** What is wrong, in a sentence; empty when nothing is. */
  problem: z.string(),
  /** The flag that supplies it. */
  flag: z.string(),
});
export type Source = z.infer<typeof source>;

/** The moment that an answer shows, and how far it can be believed. */
export const frame = z.object({
  atMs: unixMs,
  /** A recorded moment; false is now. */
  isPast: z.boolean(),
  /** Supply that somebody simulates. */
  isSimulated: z.boolean(),
  /** Oldest moment that can be shown. */
  oldestMs: unixMs,
  sources: z.array(source).describe('those that this answer stands on'),
});
export type Frame = z.infer<typeof frame>;

/** One line of money: how many, and what they cost. */
export const share = z.object({ name: z.string(), count, dollarsPerHour });
export type Share = z.infer<typeof share>;

export const percentiles = z
  .object({ count, p50Ms: ms, p90Ms: ms, p99Ms: ms, maxMs: ms })
  .describe('over what was observed; all 0 when count is 0');
export type Percentiles = z.infer<typeof percentiles>;

export const needRef = z.object({
  cluster: z.string(),
  fingerprint: z.string(),
  group: z.string(),
});
export type NeedRef = z.infer<typeof needRef>;

/** One recorded action, as the engine wrote it down. */
export const decision = z.object({
  /** `shard/epoch/cycle/place in the record`: stable, and unique in the fleet. */
  id: z.string(),
  shard: z.string(),
  epoch: z.string(),
  cycle: z.int(),
  atMs: unixMs,
  kind: actionKind,
  reason: z.string().describe('reason code (engine §15.1)'),
  reasonText: z.string(),
  machine: z.string(),
  /** Destination or source; empty for a Delete. */
  cluster: z.string(),
  provider: z.string(),
  instanceType: z.string(),
  zone: z.string(),
  capacityType,
  dollarsPerHour,
  /** The need that is served or that preempts; null for none. */
  need: needRef.nullable(),
  /** Same domain of a gang; empty without one. */
  domain: z.string(),
  /** Held back between decision and execution (engine §15.4); empty when handed over. */
  heldBack: z.string(),
});
export type Decision = z.infer<typeof decision>;

export const machineRow = z.object({
  machine: z.string(),
  shard: z.string(),
  state,
  cluster: z.string(),
  provider: z.string(),
  instanceType: z.string(),
  region: z.string(),
  zone: z.string(),
  rack: z.string(),
  capacityType,
  dollarsPerHour,
  interruptionProbability: z.number(),
  priority: z.int(),
  interruptionPenalty: z.string().describe('penalty bucket: 0, 0.5, 1, … 8388608, pinned'),
  node: z.string(),
  sinceMs: unixMs.describe('when it entered its state'),
  pendingAction: z.string(),
  lastError: z.string(),
  need: z.string().describe('fingerprint of the need that it serves; empty for none'),
  group: z.string().describe('gang of that need; empty for plain needs'),
});
export type MachineRow = z.infer<typeof machineRow>;

export const needRow = z.object({
  ...needRef.shape,
  shard: z.string(),
  priority: z.int(),
  tier,
  interruptionPenalty: z.string(),
  reclamationPenalty: z.string(),
  requirements: z.array(z.string()).describe('as a person writes them: `zone In [a, b]`'),
  resources: z.record(z.string(), z.string()),
  isSatisfied: z.boolean(),
  deficit: z.record(z.string(), z.string()),
  reason: z.string().describe('unmet code (engine §15.2); empty when satisfied'),
  reasonText: z.string(),
  claimed: count,
  /** Null while other machines serve it than those that were bound for it, or some are on their way. */
  claimedDollarsPerHour: dollarsPerHour.nullable(),
  ageCyclesUnmet: count,
  /** Since when this dashboard has seen it unmet; null when satisfied. */
  unmetSinceMs: unixMs.nullable(),
  isEscalated: z.boolean(),
  domain: z.string(),
});
export type NeedRow = z.infer<typeof needRow>;

export const brake = z.object({
  shard: z.string(),
  subject: z.string(),
  failures: count,
  pauseEndsMs: unixMs,
  lastError: z.string(),
});
