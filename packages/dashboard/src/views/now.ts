// Now: is the fleet fine, what is it doing, what does it cost? Everything comes from counts that are kept
// up to date, so its cost does not depend on how many machines there are.

import type { Answer } from '../api/index.ts';
import { dollarsOfUnits, isBilled, unitsOfDollars } from '../mirror/money.ts';
import { MINUTE_MS } from '../mirror/minutes.ts';
import type { World } from '../mirror/world.ts';
import { CAPACITY_NAMES, KIND_NAMES, STATE_NAMES, TIER_NAMES } from '../words.ts';
import { endOf, frameOf, type ViewContext } from './context.ts';
import { shareOf } from './rows.ts';
import { reasonText } from './words.ts';

const TICKER_ROWS = 60;
const ACTIONS_MS = 300_000;
const DAY_MINUTES = 1_440;
/** A line of a whole day is drawn in steps of five minutes. */
const FINE_MINUTES = 240;
const COARSE_MINUTES = 5;

export function nowView(world: World, context: ViewContext): Answer<'now'> {
  const decisions: Answer<'now'>['decisions'] = [];
  for (const decision of context.mirror.log.newestFirst(endOf(world))) {
    if (decisions.length === TICKER_ROWS) break;
    decisions.push(decision);
  }
  const { supply, capacity, units } = supplyOf(world);
  return {
    frame: frameOf(world, context),
    dollarsPerHour: dollarsOfUnits(units),
    spending: spendingOf(world, units, context),
    supply,
    capacity,
    demand: demandOf(world, context),
    unmet: unmetOf(world),
    actions: actionsOf(world, context),
    decisions,
    isPaused: world.shards.some(
      ({ head: { status } }) => status?.isPaused === true || status?.isDryRun === true,
    ),
  };
}

function supplyOf({ shards }: World): Pick<Answer<'now'>, 'supply' | 'capacity'> & {
  readonly units: number;
} {
  const sum = (pick: (shard: World['shards'][number]) => number | undefined): number =>
    shards.reduce((total, shard) => total + (pick(shard) ?? 0), 0);
  return {
    units: sum(({ supply }) => supply.totalUnits),
    supply: STATE_NAMES.map((name, place) => {
      const state = place + 1;
      const units = isBilled(state) ? sum(({ supply }) => supply.units[state]) : 0;
      return shareOf(
        name,
        sum(({ supply }) => supply.counts[state]),
        units,
      );
    }),
    capacity: CAPACITY_NAMES.map((name, place) =>
      shareOf(
        name,
        sum(({ supply }) => supply.capacityCounts[place + 1]),
        sum(({ supply }) => supply.capacityUnits[place + 1]),
      ),
    ),
  };
}

function demandOf({ shards }: World, { mirror }: ViewContext): Answer<'now'>['demand'] {
  const clusters = new Set<string>();
  const connected = new Set<string>();
  let rows = 0;
  let satisfied = 0;
  for (const { supply, needs, head } of shards) {
    rows += needs.entries.size;
    satisfied += needs.satisfied;
    for (const cluster of supply.clusters.keys()) clusters.add(mirror.texts.text(cluster));
    for (const { cluster, isConnected } of head.status?.sessions ?? []) {
      clusters.add(cluster);
      if (isConnected) connected.add(cluster);
    }
  }
  return { rows, satisfied, clusters: clusters.size, connectedClusters: connected.size };
}

function unmetOf({ shards }: World): Answer<'now'>['unmet'] {
  return TIER_NAMES.map((tier) => {
    let rows = 0;
    let oldestMs: number | null = null;
    const reasons = new Map<string, number>();
    for (const { needs } of shards) {
      for (const entry of needs.short.values()) {
        if (entry.tier !== tier) continue;
        rows += 1;
        const { reason } = entry.facts;
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        const { unmetSinceMs } = entry;
        if (unmetSinceMs !== undefined) oldestMs = Math.min(oldestMs ?? unmetSinceMs, unmetSinceMs);
      }
    }
    const told = [...reasons]
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .map(([reason, count]) => ({ reason, reasonText: reasonText(reason), rows: count }));
    return { tier, rows, oldestMs, reasons: told };
  });
}

/** Handed over, not held back. */
function actionsOf(world: World, { mirror }: ViewContext): Answer<'now'>['actions'] {
  const lines = KIND_NAMES.map((kind) => ({ kind, count: 0, units: 0 }));
  for (const decision of mirror.log.between(world.atMs - ACTIONS_MS, endOf(world))) {
    if (decision.heldBack !== '') continue;
    const line = lines[KIND_NAMES.indexOf(decision.kind)];
    if (line === undefined) continue;
    line.count += 1;
    line.units += unitsOfDollars(decision.dollarsPerHour);
  }
  return lines.map(({ kind, count, units }) => ({
    kind,
    count,
    dollarsPerHour: dollarsOfUnits(units),
  }));
}

function spendingOf(
  { atMs }: World,
  units: number,
  { mirror }: ViewContext,
): Answer<'now'>['spending'] {
  const minutes = mirror.spending.until(atMs, DAY_MINUTES);
  // A minute is kept with its last value, which a moment within it has not seen yet.
  if (minutes.some((value) => !Number.isNaN(value))) minutes[minutes.length - 1] = units;
  const first = minutes.findIndex((units) => !Number.isNaN(units));
  const seen = first < 0 ? [] : minutes.slice(first);
  const stepMinutes = seen.length > FINE_MINUTES ? COARSE_MINUTES : 1;
  const lastMinute = Math.floor(atMs / MINUTE_MS);
  const steps: (number | null)[] = [];
  // From the end, so that the newest step is whole and always ends now.
  for (let end = seen.length; end > 0; end -= stepMinutes) {
    const step = seen.slice(Math.max(0, end - stepMinutes), end);
    const last = step.findLast((value) => !Number.isNaN(value));
    steps.push(last === undefined ? null : dollarsOfUnits(last));
  }
  steps.reverse();
  return {
    startMs: (lastMinute + 1 - steps.length * stepMinutes) * MINUTE_MS,
    stepMs: stepMinutes * MINUTE_MS,
    dollarsPerHour: steps,
  };
}
