// What a donor is asked for: the demand of one shortfall, never machine ids. The coordinator names
// no machine, because a summary that lists ids would not stay small and shards own their capacity.

import { toQuanta } from '@bigfleet/base';
import {
  entriesSorted,
  getOwn,
  Operator,
  type Resources,
  type ShardSummary,
  type Shortfall,
} from '@bigfleet/wire';
import type { SelectorRow } from '../state/rows.ts';

const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';

/** The value lists of `In` on the attributes that a summary counts; all lists must be met. */
export interface Pins {
  readonly types: readonly (readonly string[])[];
  readonly zones: readonly (readonly string[])[];
  readonly regions: readonly (readonly string[])[];
}

export function pinsOf(shortfall: Shortfall): Pins {
  return {
    types: valuesOf(shortfall, INSTANCE_TYPE),
    zones: valuesOf(shortfall, ZONE),
    regions: valuesOf(shortfall, REGION),
  };
}

export function selectorOf(shortfall: Shortfall, pins: Pins, count: number): SelectorRow {
  return {
    instanceType: onlyValue(pins.types),
    zone: onlyValue(pins.zones),
    count,
    requirements: shortfall.requirements.map(({ key, operator, values }) => ({
      key,
      operator,
      values: [...values],
    })),
    deficit: entriesOf(shortfall.deficit),
    minUnit: entriesOf(shortfall.minUnit),
    interruptionPenaltyBucket: shortfall.interruptionPenaltyBucket,
  };
}

export function onlyValue(lists: readonly (readonly string[])[]): string {
  return lists.find((values) => values.length === 1)?.[0] ?? '';
}

/** Necessary, not sufficient: the donor resolves the requirements machine by machine. */
export function missingAttribute(
  pins: Pins,
  summary: ShardSummary,
): 'no_matching_type' | 'no_matching_zone' | undefined {
  if (!hasSome(pins.types, summary.perInstanceTypeCounts)) return 'no_matching_type';
  return hasSome(pins.zones, summary.perZoneCounts) ? undefined : 'no_matching_zone';
}

/** Machines of the types asked for; all of them when none is. */
export function matchingTypeCount(pins: Pins, summary: ShardSummary): number {
  const [first] = pins.types;
  if (first === undefined) return summary.totalMachines;
  return sumOver(first, summary.perInstanceTypeCounts);
}

export function allowsRegion(pins: Pins, region: string): boolean {
  return pins.regions.every((values) => values.includes(region));
}

/**
 * Machines that can be missing at most: each holds at least one unit. Undefined when the units are
 * not known, so that nothing bounds the number from this side.
 */
export function missingUnits(shortfall: Shortfall): number | undefined {
  const units = shortfall.minUnit?.resources ?? {};
  let most: number | undefined;
  for (const [name, text] of Object.entries(shortfall.deficit?.resources ?? {})) {
    const missing = toQuanta(text, name, 'demand');
    const unit = toQuanta(getOwn(units, name) ?? '0', name, 'allocatable');
    if (!missing.ok || !unit.ok || unit.value === 0) continue;
    most = Math.max(most ?? 0, Math.ceil(missing.value / unit.value));
  }
  return most;
}

function hasSome(
  lists: readonly (readonly string[])[],
  counts: { [key: string]: number },
): boolean {
  return lists.every((values) => sumOver(values, counts) > 0);
}

function sumOver(values: readonly string[], counts: { [key: string]: number }): number {
  let sum = 0;
  for (const value of values) sum += getOwn(counts, value) ?? 0;
  return sum;
}

function valuesOf(shortfall: Shortfall, key: string): readonly (readonly string[])[] {
  return shortfall.requirements
    .filter((requirement) => requirement.key === key && requirement.operator === Operator.IN)
    .map((requirement) => [...new Set(requirement.values)]);
}

function entriesOf(resources: Resources | undefined): readonly (readonly [string, string])[] {
  return resources === undefined ? [] : entriesSorted(resources.resources);
}
