// The marks of the cost scatter. Groups that would stand on the same spot (the same type in three zones, the
// same loss of nothing for every penalty) are one mark: it shows how much stands there, which a pile of equal
// marks hides.

import type { Answer } from '../../../src/api/answers.ts';

export type CostGroup = Answer<'cost'>['groups'][number];

export interface CostDot {
  readonly key: string;
  readonly instanceType: string;
  readonly capacityType: CostGroup['capacityType'];
  readonly price: number;
  readonly loss: number | null;
  readonly interruptionProbability: number;
  readonly flags: CostGroup['flags'];
  readonly count: number;
  readonly dollarsPerHour: number;
  /** Distinct, in the order of the groups: the largest first. */
  readonly zones: readonly string[];
  readonly providers: readonly string[];
  readonly penalties: readonly string[];
}

export function costDots(groups: readonly CostGroup[]): readonly CostDot[] {
  const piles = new Map<string, CostGroup[]>();
  for (const group of groups) {
    const { instanceType, capacityType, price, loss, interruptionProbability, flags } = group;
    const spot = [instanceType, capacityType, price, loss, interruptionProbability, ...flags];
    const key = JSON.stringify(spot);
    const pile = piles.get(key);
    if (pile === undefined) piles.set(key, [group]);
    else pile.push(group);
  }
  return [...piles].flatMap(([key, pile]) => {
    const [first] = pile;
    if (first === undefined) return [];
    const { instanceType, capacityType, price, loss, interruptionProbability, flags } = first;
    return {
      key,
      instanceType,
      capacityType,
      price,
      loss,
      interruptionProbability,
      flags,
      count: pile.reduce((sum, group) => sum + group.count, 0),
      dollarsPerHour: pile.reduce((sum, group) => sum + group.dollarsPerHour, 0),
      zones: distinct(pile.map(({ zone }) => zone)),
      providers: distinct(pile.map(({ provider }) => provider)),
      penalties: distinct(pile.map(({ interruptionPenalty }) => interruptionPenalty)),
    };
  });
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].filter((name) => name !== '');
}
