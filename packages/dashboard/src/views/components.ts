// Clusters, shards and the coordinator: component health as dense rows.

import { compareText } from '@bigfleet/base';
import type { Answer, Params } from '../api/index.ts';
import type { SessionFacts } from '../facts.ts';
import { dollarsOfUnits } from '../mirror/money.ts';
import { tierPlace } from '../mirror/need-table.ts';
import { percentilesOf } from '../mirror/transitions.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { ROW_LIMIT, STATE_NAMES, TIER_NAMES } from '../words.ts';
import { frameOf, type ViewContext } from './context.ts';
import { phantomCounts } from './phantoms.ts';
import { teamOf } from './teams.ts';

const HOUR_MINUTES = 60;

type ClusterRow = Answer<'clusters'>['clusters'][number];

export function clustersView(
  world: World,
  params: Params<'clusters'>,
  context: ViewContext,
): Answer<'clusters'> {
  const rows = world.shards.flatMap((shard) => clustersOf(shard, world, context));
  const matching = rows.filter(({ cluster, shard, identity }) => {
    const { q } = params;
    return q === '' || cluster.includes(q) || shard.includes(q) || identity.includes(q);
  });
  matching.sort((a, b) => compareText(a.cluster, b.cluster) || compareText(a.shard, b.shard));
  return {
    frame: frameOf(world, context),
    total: matching.length,
    clusters: matching.slice(0, ROW_LIMIT),
  };
}

function clustersOf(shard: ShardWorld, world: World, context: ViewContext): ClusterRow[] {
  const { mirror, annotations } = context;
  const rows = new Map<string, ClusterRow>();
  const { name } = shard.mirror;
  const of = (cluster: string): ClusterRow => {
    let row = rows.get(cluster);
    if (row === undefined) rows.set(cluster, (row = emptyCluster(cluster, name)));
    return row;
  };
  for (const session of shard.head.status?.sessions ?? [])
    readSession(of(session.cluster), session);
  for (const [cluster, supply] of shard.supply.clusters) {
    const row = of(mirror.texts.text(cluster));
    row.machines = supply.machines;
    row.byState = STATE_NAMES.map((_, place) => supply.counts[place + 1] ?? 0);
    row.dollarsPerHour = dollarsOfUnits(supply.units);
  }
  for (const [cluster, count] of phantomCounts(shard, context)) {
    of(mirror.texts.text(cluster)).phantoms = count;
  }
  for (const { facts } of shard.needs.entries.values()) of(facts.cluster).needRows += 1;
  for (const { facts, tier } of shard.needs.short.values()) {
    const { unmet } = of(facts.cluster);
    const place = tierPlace(tier);
    unmet[place] = (unmet[place] ?? 0) + 1;
  }
  for (const row of rows.values()) {
    row.team = teamOf(annotations.teams, row.cluster);
    const line = shard.mirror.spending.get(row.cluster);
    const minutes = line?.until(world.atMs, HOUR_MINUTES) ?? [];
    const first = minutes.findIndex((units) => !Number.isNaN(units));
    row.spending = carried(first < 0 ? [] : minutes.slice(first)).map(dollarsOfUnits);
  }
  return [...rows.values()];
}

/** A minute without a cycle cost what the minute before it cost. */
function carried(minutes: readonly number[]): number[] {
  let last = 0;
  return minutes.map((units) => (last = Number.isNaN(units) ? last : units));
}

function readSession(row: ClusterRow, session: SessionFacts): void {
  row.isConnected = session.isConnected;
  row.sinceMs = session.sinceMs === 0 ? null : session.sinceMs;
  row.lastRollupMs = session.lastRollupMs === 0 ? null : session.lastRollupMs;
  row.quarantinedRollups = session.quarantinedRollups;
  row.identity = session.identity;
}

function emptyCluster(cluster: string, shard: string): ClusterRow {
  return {
    cluster,
    shard,
    isConnected: false,
    sinceMs: null,
    lastRollupMs: null,
    needRows: 0,
    unmet: TIER_NAMES.map(() => 0),
    machines: 0,
    byState: STATE_NAMES.map(() => 0),
    dollarsPerHour: 0,
    spending: [],
    quarantinedRollups: 0,
    identity: '',
    team: '',
    phantoms: 0,
  };
}

export function shardsView(world: World, context: ViewContext): Answer<'shards'> {
  return {
    frame: frameOf(world, context),
    shards: world.shards.map((shard) => shardRow(shard, world)),
  };
}

function shardRow(
  { mirror, supply, needs, head }: ShardWorld,
  { atMs }: World,
): Answer<'shards'>['shards'][number] {
  const { status } = head;
  const { state, problem } = mirror.origin;
  const perMinute = (line: typeof mirror.cyclesPerMinute): number[] =>
    line.until(atMs, HOUR_MINUTES).map((count) => (Number.isNaN(count) ? 0 : count));
  return {
    shard: mirror.name,
    address: mirror.address,
    state,
    problem,
    epoch: String(head.epoch),
    cycle: head.cycle,
    lastCycleMs: head.lastCycleMs ?? null,
    startedMs: status === undefined || status.startedMs === 0 ? null : status.startedMs,
    isReady: status?.isReady ?? false,
    isPaused: status?.isPaused ?? false,
    isDryRun: status?.isDryRun ?? false,
    rails: [...(status?.rails ?? [])],
    sessions: (status?.sessions ?? []).filter(({ isConnected }) => isConnected).length,
    needRows: needs.entries.size,
    shortfalls: head.shortfalls,
    byState: STATE_NAMES.map((_, place) => supply.counts[place + 1] ?? 0),
    dollarsPerHour: dollarsOfUnits(supply.totalUnits),
    version: status?.version ?? '',
    cyclesPerMinute: perMinute(mirror.cyclesPerMinute),
    actionsPerMinute: perMinute(mirror.actionsPerMinute),
    lag: percentilesOf(mirror.lagMs),
    snapshots: mirror.snapshotCount,
    phases: (status?.phases ?? []).map((phase) => ({ ...phase })),
  };
}

export function coordinatorView(world: World, context: ViewContext): Answer<'coordinator'> {
  const { coordinator } = context.mirror;
  const frame = frameOf(world, context);
  return {
    frame: { ...frame, sources: [...context.mirror.sourcesOf('coordinator')] },
    coordinator: coordinator?.status ?? null,
    bindings: [...(coordinator?.bindings ?? [])],
    transfers: [...(coordinator?.transfers ?? [])],
    queue: [...(coordinator?.queue ?? [])],
  };
}
