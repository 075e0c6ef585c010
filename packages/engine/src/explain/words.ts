// The words of explanations: money, durations, machines and needs for people. Total over
// anything that a record can hold, so that no odd number keeps an operator from an answer.

import {
  bucketUpperBoundDollars,
  compareText,
  formatPerHour,
  fromQuanta,
  microsPerHourFromDollars,
} from '@bigfleet/base';
import { CapacityType, capacityTypeName } from '../model/capacity-type.ts';
import { DO_NOT_SCHEDULE, parseFingerprint, type Profile } from '../model/profile.ts';
import { Operator, type Requirement } from '../model/requirement.ts';
import type { Resources } from '../model/resources.ts';
import type { RecordedClass } from '../record/format.ts';
import type { NeedRef } from './answer.ts';

/** `$1.80/h`. */
export function perHour(dollars: number): string {
  const micros = microsPerHourFromDollars(dollars);
  return micros.ok ? formatPerHour(micros.value) : `$${dollars}/h`;
}

/** `$5.00`, `$0.50`. */
export function dollarAmount(dollars: number): string {
  return perHour(dollars).replace(/\/h$/, '');
}

export function percent(probability: number): string {
  return `${Number((probability * 100).toPrecision(4))} %`;
}

export function duration(seconds: number): string {
  return seconds >= 60 && seconds % 60 === 0 ? counted(seconds / 60, 'minute') : `${seconds} s`;
}

/** `1 machine is`, `3 machines are`. */
export function countedAre(count: number, noun: string): string {
  return `${counted(count, noun)} ${count === 1 ? 'is' : 'are'}`;
}

/** `1 machine`, `3 machines`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `a`, `a and b`, `a, b and 4 more`. */
export function listed(items: readonly string[], shown: number): string {
  const names = items.slice(0, shown);
  if (items.length > names.length) names.push(`${items.length - names.length} more`);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}

/** A catalogue sentence inside another one. */
export function clause(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}

/** `3 cpu and 16Gi memory`, by name. */
export function quantities(resources: Resources): string {
  const names = [...resources.keys()].sort(compareText);
  return listed(
    names.map((name) => `${fromQuanta(resources.get(name) ?? 0, name)} ${name}`),
    names.length,
  );
}

const CAPACITY_WORDS: ReadonlyMap<number, string> = new Map([
  [CapacityType.BareMetal, 'bare-metal'],
  [CapacityType.Reserved, 'reserved'],
  [CapacityType.OnDemand, 'on-demand'],
  [CapacityType.Spot, 'spot'],
]);

/** `on-demand m5.large in z1 of aws`. */
export function shapeWords(
  shape: Pick<RecordedClass, 'provider' | 'instanceType' | 'zone' | 'capacityType'>,
): string {
  const capacity = CAPACITY_WORDS.get(shape.capacityType) ?? capacityTypeName(shape.capacityType);
  const type = shape.instanceType === '' ? 'machine' : shape.instanceType;
  const zone = shape.zone === '' ? '' : ` in ${shape.zone}`;
  return `${capacity} ${type}${zone}${shape.provider === '' ? '' : ` of ${shape.provider}`}`;
}

/** `the need of cluster a at priority 5 (gang g1; arch in x86)`. */
export function needWords({ cluster, fingerprint, group }: NeedRef): string {
  const profile = parseFingerprint(fingerprint);
  if (profile === undefined) return `the need of cluster ${cluster} with profile ${fingerprint}`;
  const details = [
    ...(group === '' ? [] : [`gang ${group}`]),
    ...profile.requirements.map(requirementWords),
    ...spreadWords(profile),
    ...penaltyWords(profile),
  ];
  const detail = details.length === 0 ? '' : ` (${details.join('; ')})`;
  return `the need of cluster ${cluster} at priority ${profile.priority}${detail}`;
}

export function requirementWords({ key, operator, values }: Requirement): string {
  const list = values.join(' or ');
  switch (operator) {
    case Operator.In:
      return `${key} is ${list === '' ? 'one of no values' : list}`;
    case Operator.NotIn:
      return `${key} is not ${list}`;
    case Operator.Exists:
      return `${key} is set`;
    case Operator.DoesNotExist:
      return `${key} is not set`;
    case Operator.Same:
      return `one ${key} for all${list === '' ? '' : `: ${list}`}`;
  }
}

function spreadWords({ spread }: Profile): string[] {
  return spread
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === DO_NOT_SCHEDULE)
    .map(({ topologyKey, maxSkew }) => `spread over ${topologyKey} within ${Math.max(1, maxSkew)}`);
}

function penaltyWords({ interruptionBucket }: Profile): string[] {
  const dollars = bucketUpperBoundDollars(interruptionBucket);
  if (dollars === 0) return [];
  return [
    dollars === Number.POSITIVE_INFINITY
      ? 'must not be interrupted'
      : `an interruption costs ${dollarAmount(dollars)}`,
  ];
}

/** `a reserved large in z1`, `an on-demand small`. */
export function oneOf(shape: Parameters<typeof shapeWords>[0]): string {
  const words = shapeWords(shape);
  return `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
}

export function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
