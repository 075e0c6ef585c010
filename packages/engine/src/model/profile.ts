// What a need is apart from how much: requirements, spread, priority, two penalties. Built
// once, canonical and immutable; equal fingerprint means equal profile.
//
// The fingerprint is persisted by providers and stands in supersedes keys, so its layout is a
// stable external format: this is version 1, without a prefix. Delimiters inside keys and
// values are percent-escaped, because they come from the wire and could otherwise merge two
// profiles into one.

import { compareText, decodePenaltyBucket, type PenaltyBucket } from '@bigfleet/base';
import { isOperatorCode, Operator, type Requirement } from './requirement.ts';

export interface Spread {
  readonly topologyKey: string;
  readonly maxSkew: number;
  /** 0 unspecified, 1 DoNotSchedule, 2 ScheduleAnyway. */
  readonly whenUnsatisfiable: number;
}

export const DO_NOT_SCHEDULE = 1;

export interface ProfileInit {
  readonly requirements: readonly Requirement[];
  readonly spread: readonly Spread[];
  readonly priority: number;
  readonly interruptionBucket: PenaltyBucket;
  readonly reclamationBucket: PenaltyBucket;
}

export interface Profile extends ProfileInit {
  readonly fingerprint: string;
  /** The one Same requirement, if any. */
  readonly same: Requirement | undefined;
  /** The one spread that is enforced: the first DoNotSchedule, and only without Same. */
  readonly hardSpread: Spread | undefined;
}

export function createProfile(init: ProfileInit): Profile {
  const requirements = canonicalRequirements(init.requirements);
  const spread = [...init.spread].sort(compareSpread);
  const same = requirements.find((requirement) => requirement.operator === Operator.Same);
  const hard = spread.find((entry) => entry.whenUnsatisfiable === DO_NOT_SCHEDULE);
  const { priority, interruptionBucket, reclamationBucket } = init;
  const parts = { requirements, spread, priority, interruptionBucket, reclamationBucket };
  return {
    ...parts,
    fingerprint: fingerprintOf(parts),
    same,
    hardSpread: same === undefined ? hard : undefined,
  };
}

/** The same profile with its Same requirement gone: what a folded gang demands. */
export function withoutSame(profile: Profile): Profile {
  if (profile.same === undefined) return profile;
  const requirements = profile.requirements.filter(({ operator }) => operator !== Operator.Same);
  return createProfile({ ...profile, requirements });
}

export type Precedence = Pick<ProfileInit, 'priority' | 'interruptionBucket' | 'reclamationBucket'>;

/** Higher wins: priority, then interruption bucket, then reclamation bucket, as ordinals. */
export function comparePrecedence(a: Precedence, b: Precedence): number {
  return (
    a.priority - b.priority ||
    a.interruptionBucket - b.interruptionBucket ||
    a.reclamationBucket - b.reclamationBucket
  );
}

export function fingerprintOf(init: ProfileInit): string {
  const requirements = init.requirements
    .map(
      ({ key, operator, values }) =>
        `${escapeText(key)}:${operator}:${values.map(escapeText).join(',')}`,
    )
    .join(';');
  const spread = init.spread
    .map((entry) => `${escapeText(entry.topologyKey)}:${entry.maxSkew}:${entry.whenUnsatisfiable}`)
    .join(';');
  const { priority, interruptionBucket, reclamationBucket } = init;
  return `p=${priority}|ipb=${interruptionBucket}|rpb=${reclamationBucket}|reqs=${requirements}|spr=${spread}`;
}

/** Undefined for another version or for text that is no fingerprint: unattributed, never an error. */
export function parseFingerprint(text: string): Profile | undefined {
  const match = /^p=(-?\d+)\|ipb=(\d+)\|rpb=(\d+)\|reqs=([^|]*)\|spr=([^|]*)$/.exec(text);
  if (match === null) return undefined;
  const [, priority = '', ipb = '', rpb = '', reqs = '', spr = ''] = match;
  const interruptionBucket = decodePenaltyBucket(Number(ipb));
  const reclamationBucket = decodePenaltyBucket(Number(rpb));
  const requirements = split(reqs, ';').map(parseRequirement);
  const spread = split(spr, ';').map(parseSpread);
  if (interruptionBucket === undefined || reclamationBucket === undefined) return undefined;
  if (!allDefined(requirements) || !allDefined(spread)) return undefined;
  const profile = createProfile({
    priority: Number(priority),
    interruptionBucket,
    reclamationBucket,
    requirements,
    spread,
  });
  return profile.fingerprint === text ? profile : undefined;
}

/** Sorted by (key, operator, values), values sorted, exact duplicates dropped. */
function canonicalRequirements(requirements: readonly Requirement[]): Requirement[] {
  const sorted = requirements
    .map(({ key, operator, values }) => ({ key, operator, values: [...values].sort(compareText) }))
    .sort(compareRequirement);
  return sorted.filter(
    (entry, at) => at === 0 || compareRequirement(entry, sorted[at - 1] ?? entry) !== 0,
  );
}

function compareRequirement(a: Requirement, b: Requirement): number {
  return compareText(a.key, b.key) || a.operator - b.operator || compareLists(a.values, b.values);
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const order = compareText(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareSpread(a: Spread, b: Spread): number {
  return (
    compareText(a.topologyKey, b.topologyKey) ||
    a.maxSkew - b.maxSkew ||
    a.whenUnsatisfiable - b.whenUnsatisfiable
  );
}

/** An empty value must not look like no value: `In [""]` and `In []` are two profiles. */
const EMPTY_VALUE = '%-';

function escapeText(text: string): string {
  if (text === '') return EMPTY_VALUE;
  return text.replace(
    /[%|:;,=]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function unescapeText(text: string): string {
  if (text === EMPTY_VALUE) return '';
  return text.replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function split(text: string, separator: string): string[] {
  return text === '' ? [] : text.split(separator);
}

function parseRequirement(text: string): Requirement | undefined {
  const [key, operator, values] = text.split(':');
  const code = Number(operator);
  if (key === undefined || values === undefined || !isOperatorCode(code)) return undefined;
  return {
    key: unescapeText(key),
    operator: code,
    values: split(values, ',').map(unescapeText),
  };
}

function parseSpread(text: string): Spread | undefined {
  const [key, skew, when] = text.split(':');
  const [maxSkew, whenUnsatisfiable] = [Number(skew), Number(when)];
  if (key === undefined || !Number.isInteger(maxSkew)) return undefined;
  if (!Number.isInteger(whenUnsatisfiable)) return undefined;
  return { topologyKey: unescapeText(key), maxSkew, whenUnsatisfiable };
}

function allDefined<T>(list: readonly (T | undefined)[]): list is readonly T[] {
  return list.every((entry) => entry !== undefined);
}
