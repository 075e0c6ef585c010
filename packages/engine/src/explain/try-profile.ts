// Changes of the demand itself: let the gang span domains, drop or widen one requirement.
// Widening is preferred to dropping: it gives up less.

import { compareText } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { DO_NOT_SCHEDULE, type Spread } from '../model/profile.ts';
import { attributeOf, Operator, type Requirement } from '../model/requirement.ts';
import type { Relaxation } from './change.ts';
import type { Trials, Verified } from './trials.ts';
import { requirementWords } from './words.ts';

const MAX_REQUIREMENTS = 8;
const SCHEDULE_ANYWAY = 2;

/** The first that works, from the smallest concession on. */
export function tryDomains(trials: Trials): Verified[] {
  for (const profile of domainRelaxations(trials.need)) {
    const found = trials.attempt({ code: 'relax_domain', profile });
    if (found !== undefined) return [found];
  }
  return [];
}

function domainRelaxations({ profile }: Need): Relaxation[] {
  const { same, spread, requirements, hardSpread } = profile;
  if (same !== undefined) {
    const rest = requirements.filter((entry) => entry !== same);
    const anyValue = { ...same, values: [] };
    return [
      ...(same.values.length === 0
        ? []
        : [{ requirements: [...rest, anyValue], spread, words: `any ${same.key} will do` }]),
      { requirements: rest, spread, words: `the gang may span several values of ${same.key}` },
    ];
  }
  if (hardSpread === undefined) return [];
  const softened = spread.map((entry) => soften(entry));
  return [
    {
      requirements,
      spread: softened,
      words: `the spread over ${hardSpread.topologyKey} is a wish`,
    },
  ];
}

function soften(entry: Spread): Spread {
  const isHard = entry.whenUnsatisfiable === DO_NOT_SCHEDULE;
  return isHard ? { ...entry, whenUnsatisfiable: SCHEDULE_ANYWAY } : entry;
}

export function tryRequirements(trials: Trials): Verified[] {
  const own = trials.need.profile.requirements;
  return own
    .filter(({ operator }) => operator !== Operator.Same)
    .slice(0, MAX_REQUIREMENTS)
    .flatMap((requirement) => relaxOne(trials, requirement) ?? []);
}

function relaxOne(trials: Trials, requirement: Requirement): Verified | undefined {
  const { requirements, spread } = trials.need.profile;
  const rest = requirements.filter((entry) => entry !== requirement);
  const dropped = trials.attempt({
    code: 'relax_requirement',
    profile: {
      requirements: rest,
      spread,
      words: `the requirement "${requirementWords(requirement)}" is dropped`,
    },
  });
  if (dropped === undefined) return undefined;
  const wider = widened(requirement, machinesOf(trials, dropped));
  if (wider === undefined) return dropped;
  const found = trials.attempt({
    code: 'relax_requirement',
    profile: {
      requirements: [...rest, wider],
      spread,
      words: `"${requirementWords(requirement)}" becomes "${requirementWords(wider)}"`,
    },
  });
  return found ?? dropped;
}

function machinesOf({ input }: Trials, { machineIds }: Verified): Machine[] {
  const wanted = new Set(machineIds);
  return input.machines.filter(({ id }) => wanted.has(id));
}

/** Just wide enough for these machines; undefined when only dropping admits them. */
function widened(
  { key, operator, values }: Requirement,
  machines: readonly Machine[],
): Requirement | undefined {
  const seen = new Set(machines.map((machine) => attributeOf(machine, key)));
  const named = [...seen].filter((value) => value !== undefined);
  if (operator === Operator.In) {
    if (named.length === 0 || named.length < seen.size) return undefined;
    return { key, operator, values: [...new Set([...values, ...named])].sort(compareText) };
  }
  if (operator !== Operator.NotIn) return undefined;
  const kept = values.filter((value) => !seen.has(value));
  return kept.length === 0 ? undefined : { key, operator, values: kept };
}
