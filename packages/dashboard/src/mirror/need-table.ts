// The needs of one shard by their identity, with what a reader wants to know first: whose tier they are and
// since when they are unmet. Rows are replaced, never changed, so that a step of the history can hold the
// old one; what did not change inside a row is shared with it.

import { priorityClassOf } from '@bigfleet/base';
import type { NeedRef } from '../api/index.ts';
import type { NeedFacts } from '../facts.ts';
import { TIER_NAMES, type TierName } from '../words.ts';
import { bounded } from './texts.ts';

export interface NeedEntry {
  /** Of its identity: one text for the row and for every step of history that brings it back. */
  readonly key: string;
  readonly facts: NeedFacts;
  readonly tier: TierName;
  /** Since when it has been seen unmet; undefined while it is met. */
  readonly unmetSinceMs: number | undefined;
}

export type NeedUndo = readonly [key: string, before: NeedEntry | undefined];

/** Machines that drain already will cover it: unmet, but no shortfall. */
const AWAITING_DRAIN = 'awaiting_drain';
/** A rough object without its texts: what a step of history holds of a need that changed. */
const NEED_BYTES = 400;
const TEXT_BYTES = 32;

export class NeedTable {
  readonly entries: Map<string, NeedEntry>;
  readonly #short = new Map<string, NeedEntry>();
  satisfied = 0;

  constructor(entries: Map<string, NeedEntry> = new Map()) {
    this.entries = entries;
    for (const [key, entry] of entries) this.#count(key, entry);
  }

  /** Needs with a shortfall. */
  get short(): ReadonlyMap<string, NeedEntry> {
    return this.#short;
  }

  put(facts: NeedFacts, atMs: number, undo: NeedUndo[]): void {
    const key = needKey(facts);
    const before = this.entries.get(key);
    const entry = entryOf(before?.key ?? key, facts, before, atMs);
    if (before !== undefined && isSame(before.facts, entry.facts)) return;
    undo.push([entry.key, before]);
    this.set(entry.key, entry);
  }

  remove(ref: NeedRef, undo: NeedUndo[]): void {
    const before = this.entries.get(needKey(ref));
    if (before === undefined) return;
    undo.push([before.key, before]);
    this.set(before.key, undefined);
  }

  set(key: string, entry: NeedEntry | undefined): void {
    const before = this.entries.get(key);
    if (before?.facts.isSatisfied === true) this.satisfied -= 1;
    this.#short.delete(key);
    if (entry === undefined) this.entries.delete(key);
    else {
      this.entries.set(key, entry);
      this.#count(key, entry);
    }
  }

  /** What a step holds that undoes this; texts that the need of now still has cost nothing more. */
  undoBytes(undo: readonly NeedUndo[]): number {
    let bytes = 0;
    for (const [key, before] of undo) {
      bytes += 64 + 2 * key.length;
      if (before === undefined) continue;
      const now = this.entries.get(key)?.facts;
      const { requirements, resources, deficit } = before.facts;
      bytes += NEED_BYTES;
      if (requirements !== now?.requirements) bytes += textBytes(requirements);
      if (resources !== now?.resources) bytes += textBytes(Object.entries(resources).flat());
      if (deficit !== now?.deficit) bytes += textBytes(Object.entries(deficit).flat());
    }
    return bytes;
  }

  #count(key: string, entry: NeedEntry): void {
    if (entry.facts.isSatisfied) this.satisfied += 1;
    else if (isShort(entry)) this.#short.set(key, entry);
  }
}

function textBytes(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + TEXT_BYTES + text.length, 0);
}

function isShort({ facts }: NeedEntry): boolean {
  return !facts.isSatisfied && facts.reason !== AWAITING_DRAIN;
}

/** Fingerprint and group may hold any character: the fingerprint carries its length. */
export function needKey({ cluster, fingerprint, group }: NeedRef): string {
  return `${cluster}\u0000${fingerprint.length}:${fingerprint}${group}`;
}

export function tierPlace(tier: TierName): number {
  return TIER_NAMES.indexOf(tier);
}

function entryOf(
  key: string,
  facts: NeedFacts,
  before: NeedEntry | undefined,
  atMs: number,
): NeedEntry {
  const old = before?.facts;
  const shared: NeedFacts = {
    ...facts,
    cluster: old?.cluster ?? facts.cluster,
    fingerprint: old?.fingerprint ?? facts.fingerprint,
    group: old?.group ?? facts.group,
    reason: sameText(old?.reason, facts.reason),
    domain: sameText(old?.domain, facts.domain),
    requirements: sameList(old?.requirements, facts.requirements),
    resources: sameRecord(old?.resources, facts.resources),
    deficit: sameRecord(old?.deficit, facts.deficit),
    matching: sameMatching(old?.matching, facts.matching),
  };
  const unmetSinceMs = facts.isSatisfied ? undefined : (before?.unmetSinceMs ?? atMs);
  return { key, facts: shared, tier: priorityClassOf(facts.priority), unmetSinceMs };
}

/** Each message brings its texts anew: the old one stays while it says the same. */
function sameText(old: string | undefined, next: string): string {
  const kept = bounded(next);
  return old === kept ? old : kept;
}

function sameMatching(
  old: NeedFacts['matching'] | undefined,
  next: NeedFacts['matching'],
): NeedFacts['matching'] {
  const isEqual =
    old !== undefined &&
    old.idle === next.idle &&
    old.configured === next.configured &&
    old.speculative === next.speculative;
  return isEqual ? old : next;
}

function sameList(old: readonly string[] | undefined, next: readonly string[]): readonly string[] {
  const isEqual =
    old !== undefined && old.length === next.length && old.every((text, at) => text === next[at]);
  return isEqual ? old : next.map(bounded);
}

function sameRecord(
  old: Readonly<Record<string, string>> | undefined,
  next: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return old !== undefined && areEqual(old, next) ? old : next;
}

function areEqual(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

function isSame(a: NeedFacts, b: NeedFacts): boolean {
  return (
    a.requirements === b.requirements &&
    a.resources === b.resources &&
    a.deficit === b.deficit &&
    a.priority === b.priority &&
    a.interruptionPenaltyBucket === b.interruptionPenaltyBucket &&
    a.reclamationPenaltyBucket === b.reclamationPenaltyBucket &&
    a.isSatisfied === b.isSatisfied &&
    a.reason === b.reason &&
    a.claimed === b.claimed &&
    a.ageCyclesUnmet === b.ageCyclesUnmet &&
    a.isEscalated === b.isEscalated &&
    a.isParked === b.isParked &&
    a.domain === b.domain &&
    a.matching.idle === b.matching.idle &&
    a.matching.configured === b.matching.configured &&
    a.matching.speculative === b.matching.speculative &&
    a.awaitingDrain === b.awaitingDrain
  );
}
