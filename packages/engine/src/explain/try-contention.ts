// Changes in the competition with others: a higher priority, or a price at which an earlier need
// would have chosen another machine.

import type { Verdict } from '../model/cycle.ts';
import { isAcquisition } from '../model/action.ts';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { State } from '../model/state.ts';
import { hasPriceShape, type PriceShape } from './change.ts';
import type { Trials, Verified } from './trials.ts';
import { costFor, isUsableFor } from './try-supply.ts';

const MAX_PRIORITY = 2 ** 31 - 1;
const MAX_PRICE_SHAPES = 3;
const MAX_PRICES_PER_SHAPE = 2;
/** Prices are compared in micro-dollars by people and providers alike. */
const ONE_MICRO = 0.000_001;

/**
 * The smallest priority that works among those that can change anything: levels with and just
 * above what others have. By bisection, so "smallest" takes for granted that more never hurts;
 * that the one found works is verified.
 */
export function tryPriorities(trials: Trials): Verified[] {
  const levels = priorityLevels(trials);
  const highest = levels.at(-1);
  if (highest === undefined) return [];
  let best = trials.attempt({ code: 'raise_priority', priority: highest });
  let low = 0;
  let high = best === undefined ? 0 : levels.length - 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const priority = levels[middle]!;
    const found = trials.attempt({ code: 'raise_priority', priority });
    if (found === undefined) low = middle + 1;
    else {
      best = found;
      high = middle;
    }
  }
  return best === undefined ? [] : [best];
}

function priorityLevels({ input, need }: Trials): number[] {
  const levels = new Set<number>();
  const consider = (priority: number): void => {
    for (const level of [priority, Math.min(priority + 1, MAX_PRIORITY)]) {
      if (level > need.profile.priority) levels.add(level);
    }
  };
  for (const { profile } of input.needs) consider(profile.priority);
  for (const { state, assigned } of input.machines) {
    if (state === State.Configured) consider(assigned.priority);
  }
  return [...levels].sort((a, b) => a - b);
}

/** For each kind of machine that went to others: the price from which they would not have it. */
export function tryPrices(trials: Trials): Verified[] {
  const found: Verified[] = [];
  for (const { shape, taker } of takenShapes(trials).slice(0, MAX_PRICE_SHAPES)) {
    for (const pricePerHour of nextPrices(trials, shape, taker)) {
      const verified = trials.attempt({ code: 'price_headroom', shape, pricePerHour });
      if (verified === undefined) continue;
      found.push(verified);
      break;
    }
  }
  return found;
}

interface TakenShape {
  readonly shape: Machine;
  readonly taker: Need;
}

/** Kinds that the need could use and another need acquired, in the order taken. */
function takenShapes({ input, need, baseline, before }: Trials): TakenShape[] {
  const own = new Set(before.placesOf(need));
  const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
  const taken: TakenShape[] = [];
  for (const { kind, machineId } of baseline.actions) {
    if (!isAcquisition(kind)) continue;
    const place = baseline.claims.get(machineId) as number;
    const machine = machines.get(machineId) as Machine;
    if (own.has(place) || !isUsableFor(machine, need)) continue;
    if (taken.some(({ shape }) => hasPriceShape(machine, shape))) continue;
    taken.push({ shape: machine, taker: (baseline.verdicts[place] as Verdict).need });
  }
  return taken;
}

/** Just above what the taker's unused alternatives cost it, cheapest first. */
function nextPrices(
  { input, baseline }: Trials,
  shape: PriceShape & Machine,
  taker: Need,
): number[] {
  const own = costFor(shape, taker);
  const risk = own - shape.pricePerHour;
  const prices = new Set<number>();
  for (const machine of input.machines) {
    const isPooled = machine.state === State.Idle || machine.state === State.Speculative;
    if (!isPooled || baseline.claims.has(machine.id) || !isUsableFor(machine, taker)) continue;
    const cost = costFor(machine, taker);
    if (cost >= own) prices.add(cost - risk + ONE_MICRO);
  }
  return [...prices].sort((a, b) => a - b).slice(0, MAX_PRICES_PER_SHAPE);
}
