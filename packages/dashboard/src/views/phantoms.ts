// Phantom capacity: machines that count as ready while their Node is not, as operators report them. A report
// is believed only about machines that are bound to its own cluster: an operator that names others, or names
// them too long, would otherwise accuse a provider of what it has mended.

import { isBound } from '@bigfleet/engine';
import type { Answer, Params } from '../api/index.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import type { ViewContext } from './context.ts';
import { machineRowOf } from './rows.ts';
import { Top } from './select.ts';

type Phantoms = Answer<'triage'>['phantoms'];

interface Found {
  readonly shard: ShardWorld;
  readonly slot: number;
  readonly units: number;
}

export function phantomsOf(
  world: World,
  params: Pick<Params<'triage'>, 'shard' | 'cluster' | 'limit'>,
  context: ViewContext,
): Phantoms {
  const top = new Top<Found>(params.limit, (a, b) => b.units - a.units || a.slot - b.slot);
  const clusters = new Set<number>();
  let units = 0;
  let sessions = 0;
  let reporting = 0;
  for (const shard of world.shards) {
    if (params.shard !== '' && shard.mirror.name !== params.shard) continue;
    const { status } = shard.head;
    for (const { cluster, isConnected, tellsNodes } of status?.sessions ?? []) {
      if (!isConnected || (params.cluster !== '' && cluster !== params.cluster)) continue;
      sessions += 1;
      // Phases and phantoms came to the wire together: a shard without phases cannot tell phantoms either.
      if (tellsNodes && (status?.phases.length ?? 0) > 0) reporting += 1;
    }
    forEachPhantom(shard, context, (slot, cluster) => {
      if (params.cluster !== '' && context.mirror.texts.text(cluster) !== params.cluster) return;
      const { klass, state } = shard.columns;
      const own = context.mirror.classes.units[klass[slot] ?? 0] ?? 0;
      const billed = isBilled(state[slot] ?? 0) ? own : 0;
      units += billed;
      clusters.add(cluster);
      top.offer({ shard, slot, units: billed });
    });
  }
  return {
    count: top.total,
    dollarsPerHour: dollarsOfUnits(units),
    clusters: clusters.size,
    machines: top.sorted().map(({ shard, slot }) => machineRowOf(context, shard, slot)),
    reporting,
    sessions,
  };
}

/** By the number of the cluster's name. */
export function phantomCounts(
  shard: ShardWorld,
  context: ViewContext,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  forEachPhantom(shard, context, (_, cluster) => {
    counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  });
  return counts;
}

/** One pass over the shard's rows, and only when somebody reports any: past worlds have no index. */
function forEachPhantom(
  { head, columns }: ShardWorld,
  { mirror: { texts } }: ViewContext,
  visit: (slot: number, cluster: number) => void,
): void {
  /** Machine → the clusters that report it; nobody shares one, and one may lie. */
  const reported = new Map<number, Set<number>>();
  for (const { cluster, phantoms } of head.status?.sessions ?? []) {
    const reporter = texts.find(cluster);
    if (phantoms.length === 0 || reporter <= 0) continue;
    for (const phantom of phantoms) {
      const machine = texts.find(phantom);
      if (machine <= 0) continue;
      const known = reported.get(machine);
      if (known === undefined) reported.set(machine, new Set([reporter]));
      else known.add(reporter);
    }
  }
  if (reported.size === 0) return;
  for (let slot = 0; slot < columns.length; slot++) {
    const state = columns.state[slot] ?? 0;
    const cluster = columns.cluster[slot] ?? 0;
    if (state === 0 || !isBound(state)) continue;
    if (reported.get(columns.id[slot] ?? 0)?.has(cluster)) visit(slot, cluster);
  }
}
