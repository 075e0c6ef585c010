// What a worker hands to the broker: machines that it would like to claim for one need, what it
// had seen when it chose them, and how often the need may still be turned away. Proposals are
// values; only the broker acts on them.

import type { Need } from '../model/need.ts';
import type { Precedence } from '../model/profile.ts';
import { covers } from '../model/resources.ts';

/** Turned away or displaced this often, a need is a shortfall for this cycle. */
export const RETRY_BUDGET = 10;

/**
 * incremental: commits what it can get. all-or-nothing: commits nothing if one machine cannot be
 * had, so that a gang is not left half in one domain. It is about conflicts, not about coverage.
 */
export type CommitMode = 'incremental' | 'all-or-nothing';

/** The grain of conflicts: proposals of one bucket that overlap in time exclude each other. */
export interface Bucket {
  readonly state: number;
  readonly fingerprint: string;
  /** Key of Same or of the enforced spread; empty for plain needs. */
  readonly topologyKey: string;
  /** Value of the Same domain; empty for spread and plain needs. */
  readonly topologyValue: string;
}

export interface Proposal {
  /** Whatever number the caller knows the need by. */
  readonly need: number;
  readonly precedence: Precedence;
  readonly mode: CommitMode;
  readonly bucket: Bucket;
  /** Of the bucket, as it was when the machines were chosen. */
  readonly observedSequence: number;
  readonly machines: readonly number[];
  /** Retries left to the need. */
  readonly budget: number;
}

export interface Displaced {
  readonly need: number;
  /** Retries left; 0 means that the need is not queued again. */
  readonly budget: number;
}

export type CommitResult =
  | {
      readonly kind: 'committed';
      readonly machines: readonly number[];
      /** Needs that lost machines, each once. */
      readonly displaced: readonly Displaced[];
    }
  | {
      readonly kind: 'conflict';
      readonly reason: 'stale_sequence' | 'immovable' | 'nothing_to_claim';
      /** Retries left to the proposing need. */
      readonly budget: number;
    };

/** A gang that spreads over machines is taken whole; one that any single machine hosts is not. */
export function commitModeOf({ profile, minUnit, aggregate }: Need): CommitMode {
  const isSpreadGang = profile.same !== undefined && !covers(minUnit, aggregate);
  return isSpreadGang ? 'all-or-nothing' : 'incremental';
}

/** JSON, because fingerprints and values may hold any separator. */
export function bucketName({ state, fingerprint, topologyKey, topologyValue }: Bucket): string {
  return JSON.stringify([state, fingerprint, topologyKey, topologyValue]);
}
