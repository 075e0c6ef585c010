// One row of one cluster's demand. There is no count: how many machines serve it is the
// engine's output. Counting pods or machines here once produced one machine per pod, and later
// zero shortfalls while pods were stuck.

import { compareText } from '@bigfleet/base';
import { comparePrecedence, type Profile } from './profile.ts';
import { add, max, type Resources } from './resources.ts';

export interface Need {
  readonly cluster: string;
  readonly profile: Profile;
  /** Vector sum of everything folded into the row. */
  readonly aggregate: Resources;
  /** Largest atomic unit, per dimension: every machine used must cover it alone. */
  readonly minUnit: Resources;
  /** Opaque gang identity, compared for equality only; empty for plain needs. */
  readonly group: string;
  /** First seen, kept across replacements, so that "older first" is real fairness. */
  readonly arrivalUnixNanos: bigint;
}

/**
 * What identifies a row across roll-ups, ledgers and records. Fingerprint and group may hold any
 * character, so the fingerprint carries its length: a separator could be forged.
 */
export function needKey({ cluster, profile, group }: Need): string {
  const { fingerprint } = profile;
  return `${cluster}\u0000${fingerprint.length}:${fingerprint}${group}`;
}

/** Priority desc, arrival asc, cluster asc, fingerprint asc, group asc: independent of wire order. */
export function compareDemand(a: Need, b: Need): number {
  if (a.profile.priority !== b.profile.priority) return b.profile.priority - a.profile.priority;
  if (a.arrivalUnixNanos !== b.arrivalUnixNanos) {
    return a.arrivalUnixNanos < b.arrivalUnixNanos ? -1 : 1;
  }
  return (
    compareText(a.cluster, b.cluster) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(a.group, b.group)
  );
}

/** Acquisition runs by full precedence; equal precedence keeps the order it came in. */
export function compareAcquisition(a: Need, b: Need): number {
  return comparePrecedence(b.profile, a.profile);
}

/** Merges rows of one (cluster, fingerprint, group): sums, maxima, earliest non-zero arrival. */
export function aggregateNeeds(rows: readonly Need[]): Need[] {
  return [...aggregateByKey(rows).values()];
}

/** The same, by needKey. */
export function aggregateByKey(rows: readonly Need[]): Map<string, Need> {
  const merged = new Map<string, Need>();
  for (const row of rows) {
    const key = needKey(row);
    const known = merged.get(key);
    merged.set(key, known === undefined ? row : merge(known, row));
  }
  return merged;
}

function merge(a: Need, b: Need): Need {
  return {
    ...a,
    aggregate: add(a.aggregate, b.aggregate),
    minUnit: max(a.minUnit, b.minUnit),
    arrivalUnixNanos: earliest(a.arrivalUnixNanos, b.arrivalUnixNanos),
  };
}

/** 0 is "not stamped" and never the earliest. */
export function earliest(a: bigint, b: bigint): bigint {
  if (a === 0n) return b;
  return b === 0n || a < b ? a : b;
}
