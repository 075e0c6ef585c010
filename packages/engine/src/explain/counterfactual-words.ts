// A verified change in plain sentences: what to change, what the need then gets and pays, and
// who would lose by it.

import { type UnmetCode, unmetReasons } from '@bigfleet/base';
import type { Need } from '../model/need.ts';
import type { NeedRef } from './answer.ts';
import type { Trials, Verified } from './trials.ts';
import { counted, listed, needWords, oneOf, perHour } from './words.ts';

const NAMED = 3;

export function changeText(trials: Trials, found: Verified): string {
  const parts = [
    `${changeWords(trials, found)}, ${outcomeWords(found)}.`,
    brokenSentence(found.broken),
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function changeWords({ input, need }: Trials, { change }: Verified): string {
  switch (change.code) {
    case 'wait_for_drain':
      return 'Nothing needs to change: once the machines that must drain have drained';
    case 'wait_for_create':
      return 'Nothing needs to change: once the machines that are being created exist';
    case 'raise_quota': {
      const today = input.quotaRemaining.get(change.provider) ?? 0;
      const more = counted(change.remaining - today, 'more machine');
      return `With quota for ${more} at ${change.provider}`;
    }
    case 'relax_domain':
    case 'relax_requirement':
      return `If ${change.profile.words}`;
    case 'raise_priority':
      return `With priority ${change.priority} instead of ${need.profile.priority}`;
    case 'price_headroom': {
      const { shape, pricePerHour } = change;
      const more = perHour(pricePerHour - shape.pricePerHour);
      return `If ${oneOf(shape)} cost ${more} more than ${perHour(shape.pricePerHour)}, so that others chose differently`;
    }
  }
}

function outcomeWords({ change, machineIds, dollarsPerHour, ...found }: Verified): string {
  const isWaiting = change.code === 'wait_for_drain' || change.code === 'wait_for_create';
  const covered = `the need ${isWaiting ? 'will' : 'would'} be covered`;
  const drained = counted(found.victimCount, 'machine');
  const isToldAlready = change.code === 'wait_for_drain';
  const after =
    found.isAfterDrains && !isToldAlready ? `, once ${drained} of lower priority drained,` : '';
  if (machineIds.length === 0) return `${covered}${after} by what it has`;
  const which = `${counted(machineIds.length, 'machine')} (${listed(machineIds, NAMED)})`;
  return `${covered}${after} by ${which} at ${perHour(dollarsPerHour)} in all`;
}

function brokenSentence(broken: readonly Need[]): string | undefined {
  if (broken.length === 0) return undefined;
  const words = broken.map((need) => needWords(refOfNeed(need)));
  return `It would leave short: ${listed(words, NAMED)}.`;
}

/** What no change on the list can bring; the catalogue says what can. */
const BEYOND_THE_LIST: ReadonlySet<UnmetCode> = new Set([
  'no_matching_supply',
  'min_unit_too_large',
  'no_stable_supply',
  'bootstrap_refused',
  'configure_failing',
  'type_failing',
]);

export function nothingHelpsText({ need, before, isCut }: Trials): string {
  const name = needWords(refOfNeed(need));
  if (isCut) return `Nothing that was tried helps ${name}, but not everything could be tried.`;
  const code = before.verdictsOf(need).find(({ satisfied }) => !satisfied)?.reasonCode;
  const advice =
    code !== undefined && BEYOND_THE_LIST.has(code)
      ? unmetReasons[code].action
      : 'It takes more machines of its kind.';
  return (
    `No single change helps ${name}: neither waiting nor quota, a relaxed requirement or domain, ` +
    `a higher priority nor other prices would cover it. ${advice}`
  );
}

export function refOfNeed({ cluster, profile, group }: Need): NeedRef {
  return { cluster, fingerprint: profile.fingerprint, group };
}
