// One machine and one need as the API shows them.

import { State } from '@bigfleet/engine';
import type { MachineRow, NeedRow, Share } from '../api/index.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import type { NeedEntry } from '../mirror/need-table.ts';
import { stateNameOf } from '../mirror/shard-mirror.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import type { ViewContext } from './context.ts';
import { bucketWord, capacityOf, reasonText } from './words.ts';

export function machineRowOf(
  { mirror: { texts, classes } }: ViewContext,
  { mirror, columns }: ShardWorld,
  slot: number,
): MachineRow {
  const shape = classes.at(columns.klass[slot] ?? 0);
  const text = (column: Uint32Array): string => texts.text(column[slot] ?? 0);
  return {
    machine: text(columns.id),
    shard: mirror.name,
    state: stateNameOf(columns.state[slot] ?? 0),
    cluster: text(columns.cluster),
    provider: shape.provider,
    instanceType: shape.instanceType,
    region: shape.region,
    zone: shape.zone,
    rack: shape.rack,
    capacityType: capacityOf(shape.capacityType),
    dollarsPerHour: shape.dollarsPerHour,
    interruptionProbability: shape.interruptionProbability,
    priority: columns.priority[slot] ?? 0,
    interruptionPenalty: bucketWord(columns.interruption[slot] ?? 0),
    node: text(columns.node),
    sinceMs: columns.since[slot] ?? 0,
    pendingAction: text(columns.pending),
    lastError: text(columns.error),
    need: text(columns.need),
    group: text(columns.group),
  };
}

export interface NeedAt {
  readonly shard: ShardWorld;
  readonly entry: NeedEntry;
}

export function needRows(
  world: World,
  context: ViewContext,
  needs: readonly NeedAt[],
): readonly NeedRow[] {
  const bound = boundFor(world, context, needs);
  return needs.map(({ shard, entry }, place) => {
    const { facts, tier, unmetSinceMs } = entry;
    return {
      cluster: facts.cluster,
      fingerprint: facts.fingerprint,
      group: facts.group,
      shard: shard.mirror.name,
      priority: facts.priority,
      tier,
      interruptionPenalty: bucketWord(facts.interruptionPenaltyBucket),
      reclamationPenalty: bucketWord(facts.reclamationPenaltyBucket),
      requirements: [...facts.requirements],
      resources: { ...facts.resources },
      isSatisfied: facts.isSatisfied,
      deficit: { ...facts.deficit },
      reason: facts.isSatisfied ? '' : facts.reason,
      reasonText: facts.isSatisfied ? '' : reasonText(facts.reason),
      claimed: facts.claimed,
      claimedDollarsPerHour:
        bound.counts[place] === facts.claimed ? dollarsOfUnits(bound.units[place] ?? 0) : null,
      ageCyclesUnmet: facts.ageCyclesUnmet,
      unmetSinceMs: unmetSinceMs ?? null,
      isEscalated: facts.isEscalated,
      domain: facts.domain,
    };
  });
}

interface Wanted {
  readonly place: number;
  readonly shard: ShardWorld;
  readonly cluster: number;
  readonly group: number;
}

interface Bound {
  readonly counts: Float64Array;
  readonly units: Float64Array;
}

/**
 * The machines that were bound for each need, and what they are billed: one pass over the rows of its shards. A need
 * may be served by others, left behind by a need that is gone; then the counts differ from what it claims.
 */
function boundFor(
  world: World,
  { mirror: { texts, classes } }: ViewContext,
  needs: readonly NeedAt[],
): Bound {
  const units = new Float64Array(needs.length);
  const counts = new Float64Array(needs.length);
  const byNeed = new Map<number, Wanted[]>();
  needs.forEach(({ shard, entry: { facts } }, place) => {
    const need = texts.find(facts.fingerprint);
    const cluster = texts.find(facts.cluster);
    const group = texts.find(facts.group);
    // Nothing that names it, so nothing that serves it.
    if (need <= 0 || cluster < 0 || group < 0) return;
    const wanted = { place, shard, cluster, group };
    const known = byNeed.get(need);
    if (known === undefined) byNeed.set(need, [wanted]);
    else known.push(wanted);
  });
  if (byNeed.size === 0) return { counts, units };
  const shards = new Set(needs.map(({ shard }) => shard));
  for (const shard of world.shards) {
    if (!shards.has(shard)) continue;
    const { columns } = shard;
    for (let slot = 0; slot < columns.length; slot++) {
      const need = columns.need[slot] ?? 0;
      const state = columns.state[slot] ?? 0;
      if (need === 0 || !isBilled(state) || state === State.Draining) continue;
      for (const wanted of byNeed.get(need) ?? []) {
        const isServed =
          wanted.shard === shard &&
          wanted.cluster === columns.cluster[slot] &&
          wanted.group === columns.group[slot];
        if (!isServed) continue;
        counts[wanted.place] = (counts[wanted.place] ?? 0) + 1;
        units[wanted.place] =
          (units[wanted.place] ?? 0) + classes.at(columns.klass[slot] ?? 0).units;
      }
    }
  }
  return { counts, units };
}

/** One line of money. */
export function shareOf(name: string, count: number, units: number): Share {
  return { name, count, dollarsPerHour: dollarsOfUnits(units) };
}
