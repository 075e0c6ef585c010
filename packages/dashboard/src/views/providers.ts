// Providers: who is lying or slow? What each declared beside what was observed of it.

import { compareText } from '@bigfleet/base';
import { CapacityType, State } from '@bigfleet/engine';
import type { Answer } from '../api/index.ts';
import type { Calibration } from '../mirror/exposure.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import { percentilesOf } from '../mirror/transitions.ts';
import type { World } from '../mirror/world.ts';
import { STATE_NAMES } from '../words.ts';
import { brakesOf } from './brakes.ts';
import { endOf, frameOf, type ViewContext } from './context.ts';
import { shareOf } from './rows.ts';
import { everyMachine, forEachMachine } from './select.ts';
import { capacityOf } from './words.ts';

const PRICES_SHOWN = 50;

type ProviderRow = Answer<'providers'>['providers'][number];

class Provider {
  readonly shards: string[] = [];
  address = '';
  source = '';
  isShared = false;
  isHealthy = true;
  lastListMs = 0;
  readonly counts = new Float64Array(STATE_NAMES.length + 1);
  readonly units = new Float64Array(STATE_NAMES.length + 1);
  /** Machines by class. */
  readonly classes = new Map<number, number>();
  readonly create: number[] = [];
  readonly join: number[] = [];
  readonly drain: number[] = [];
  failures = 0;
  transitions = 0;
}

export function providersView(world: World, context: ViewContext): Answer<'providers'> {
  const providers = new Map<string, Provider>();
  const of = (name: string): Provider => {
    let provider = providers.get(name);
    if (provider === undefined) providers.set(name, (provider = new Provider()));
    return provider;
  };
  readStatuses(world, of);
  readMachines(world, context, of);
  readTransitions(world, context, of);
  const { conformance } = context.annotations;
  return {
    frame: frameOf(world, context),
    providers: [...providers]
      .sort(([a], [b]) => compareText(a, b))
      .map(([name, provider]) => rowOf(name, provider, world, context)),
    brakes: brakesOf(world),
    unmatchedReports: [...conformance.keys()].filter((name) => !providers.has(name)).sort(),
  };
}

type Open = (name: string) => Provider;

function readStatuses({ shards }: World, of: Open): void {
  for (const { mirror, head } of shards) {
    for (const facts of head.status?.providers ?? []) {
      const provider = of(facts.name);
      provider.shards.push(mirror.name);
      provider.address = facts.address;
      provider.source = facts.source;
      provider.isShared ||= facts.isShared;
      provider.isHealthy &&= facts.isHealthy;
      provider.lastListMs = Math.max(provider.lastListMs, facts.lastListMs);
    }
  }
}

function readMachines(world: World, context: ViewContext, of: Open): void {
  const { classes } = context.mirror;
  const byClass: (Provider | undefined)[] = [];
  forEachMachine(world, context, everyMachine, ({ columns }, slot) => {
    const klass = columns.klass[slot] ?? 0;
    const state = columns.state[slot] ?? 0;
    const provider = (byClass[klass] ??= of(classes.at(klass).provider));
    provider.counts[state] = (provider.counts[state] ?? 0) + 1;
    if (isBilled(state)) {
      provider.units[state] = (provider.units[state] ?? 0) + classes.at(klass).units;
    }
    provider.classes.set(klass, (provider.classes.get(klass) ?? 0) + 1);
  });
}

function readTransitions(world: World, { mirror }: ViewContext, of: Open): void {
  const { texts, transitions } = mirror;
  for (const { from, to, dwellMs, provider: name } of transitions.until(endOf(world))) {
    const provider = of(texts.text(name));
    provider.transitions += 1;
    if (to === State.Failed) provider.failures += 1;
    else if (from === State.Creating) provider.create.push(dwellMs);
    else if (from === State.Configuring && to === State.Configured) provider.join.push(dwellMs);
    else if (from === State.Draining) provider.drain.push(dwellMs);
  }
}

function rowOf(name: string, provider: Provider, world: World, context: ViewContext): ProviderRow {
  const { exposure } = context.mirror;
  const calibration = world.isPast ? exposure.at(name, world.atMs) : exposure.now(name, world.atMs);
  const units = provider.units.reduce((sum, part) => sum + part, 0);
  return {
    name,
    address: provider.address,
    source: provider.source,
    shards: provider.shards,
    isShared: provider.isShared,
    isHealthy: provider.isHealthy,
    lastListMs: provider.lastListMs === 0 ? null : provider.lastListMs,
    machines: STATE_NAMES.map((state, place) =>
      shareOf(state, provider.counts[place + 1] ?? 0, provider.units[place + 1] ?? 0),
    ),
    dollarsPerHour: dollarsOfUnits(units),
    create: percentilesOf(provider.create),
    join: percentilesOf(provider.join),
    drain: percentilesOf(provider.drain),
    failures: provider.failures,
    transitions: provider.transitions,
    calibration: calibration.map((row) => ({ ...row })),
    prices: pricesOf(provider, context),
    trust: trustOf(provider, calibration, context),
    conformance: context.annotations.conformance.get(name) ?? null,
  };
}

/** The price that most machines of a type, zone and capacity type have. */
function pricesOf(provider: Provider, { mirror: { classes } }: ViewContext): ProviderRow['prices'] {
  const best = new Map<string, { row: ProviderRow['prices'][number]; most: number }>();
  for (const [klass, machines] of provider.classes) {
    const { instanceType, zone, capacityType, dollarsPerHour } = classes.at(klass);
    const key = JSON.stringify([instanceType, zone, capacityType]);
    const known = best.get(key);
    const row = {
      instanceType,
      zone,
      capacityType: capacityOf(capacityType),
      dollarsPerHour,
      machines: machines + (known?.row.machines ?? 0),
    };
    if (known === undefined || machines > known.most) best.set(key, { row, most: machines });
    else known.row.machines += machines;
  }
  return [...best]
    .sort(([a, x], [b, y]) => y.row.machines - x.row.machines || (a < b ? -1 : 1))
    .slice(0, PRICES_SHOWN)
    .map(([, { row }]) => row);
}

/** Interruptions that chance alone explains are no lie. */
const CHANCE_FACTOR = 2;
const CHANCE_COUNT = 3;
/** Fewer transitions say nothing about a rate. */
const ENOUGH_TRANSITIONS = 10;

/** Full marks, less what was observed against it; every deduction is named. */
function trustOf(
  provider: Provider,
  calibration: readonly Calibration[],
  { mirror: { classes } }: ViewContext,
): ProviderRow['trust'] {
  const why: string[] = [];
  let score = 100;
  const deduct = (points: number, reason: string): void => {
    score -= points;
    why.push(`${reason} (−${points})`);
  };
  if (!provider.isHealthy) deduct(40, 'its last List failed');
  const rate = provider.failures / Math.max(1, provider.transitions);
  if (provider.transitions >= ENOUGH_TRANSITIONS && rate > 0.01) {
    const points = Math.min(30, Math.round(rate * 100));
    deduct(points, `${(100 * rate).toFixed(1)} % of its transitions end in Failed`);
  }
  const expected = calibration.reduce((sum, row) => sum + row.expected, 0);
  const observed = calibration.reduce((sum, row) => sum + row.observed, 0);
  if (observed > CHANCE_FACTOR * expected + CHANCE_COUNT) {
    deduct(20, `${observed} interruptions where ${expected.toFixed(1)} were declared`);
  }
  const isRisklessSpot = [...provider.classes.keys()].some((klass) => {
    const { capacityType, interruptionProbability } = classes.at(klass);
    return capacityType === CapacityType.Spot && interruptionProbability === 0;
  });
  if (isRisklessSpot) deduct(20, 'it sells Spot without any risk of interruption');
  if (why.length === 0) why.push('nothing observed speaks against it');
  return { score: Math.max(0, score), why };
}
