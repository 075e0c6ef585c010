// Fleet map: where is everything? One cell per machine while they can be drawn, groups alone above. Groups
// are ordered by their path and cells by their id, so a machine keeps its place while the set is the same.

import { compareText } from '@bigfleet/base';
import type { Answer, Params } from '../api/index.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { CELL_LIMIT, STATE_NAMES } from '../words.ts';
import { frameOf, type ViewContext } from './context.ts';
import { forEachMachine, Places, Tally } from './select.ts';

const CLUSTERS_SHOWN = 12;
const NO_CLUSTER = 'none';
const NO_PLACE = 'no place';

interface Group {
  readonly path: readonly string[];
  readonly byState: number[];
  readonly byCluster: Tally;
  count: number;
  units: number;
  risk: number;
}

interface Cell {
  readonly shard: ShardWorld;
  readonly slot: number;
  readonly group: Group;
}

export function mapView(world: World, params: Params<'map'>, context: ViewContext): Answer<'map'> {
  const { texts, classes } = context.mirror;
  const groupOf = grouping(params.by, context);
  const clusters = new Places(context);
  const cells: Cell[] = [];
  let total = 0;
  forEachMachine(world, context, params, (shard, slot) => {
    const { columns } = shard;
    const group = groupOf(shard, slot);
    const klass = columns.klass[slot] ?? 0;
    const state = columns.state[slot] ?? 0;
    total += 1;
    group.count += 1;
    group.risk += classes.risk[klass] ?? 0;
    group.byState[state - 1] = (group.byState[state - 1] ?? 0) + 1;
    if (isBilled(state)) group.units += classes.units[klass] ?? 0;
    const cluster = clusters.of(columns.cluster[slot] ?? 0);
    group.byCluster.add(cluster, 1);
    if (cells.length <= CELL_LIMIT) cells.push({ shard, slot, group });
  });
  const isAggregated = total > CELL_LIMIT;
  const groups = groupOf.all().sort((a, b) => comparePaths(a.path, b.path));
  return {
    frame: frameOf(world, context),
    total,
    isAggregated,
    clusters: clusters.texts.map((number) => (number === 0 ? NO_CLUSTER : texts.text(number))),
    groups: groups.map((group) => ({
      path: [...group.path],
      count: group.count,
      dollarsPerHour: dollarsOfUnits(group.units),
      byState: group.byState,
      byCluster: [...group.byCluster.entries()]
        .sort(([a, x], [b, y]) => y - x || a - b)
        .slice(0, CLUSTERS_SHOWN),
      meanRisk: group.count === 0 ? 0 : group.risk / group.count,
    })),
    cells: isAggregated ? null : cellColumns(cells, groups, clusters, context),
  };
}

type Grouping = ((shard: ShardWorld, slot: number) => Group) & { all(): Group[] };

/** By cluster it is a lookup per machine; by place and provider one per class. */
function grouping(by: Params<'map'>['by'], { mirror }: ViewContext): Grouping {
  const groups = new Map<string, Group>();
  const byNumber: (Group | undefined)[] = [];
  const open = (path: readonly string[]): Group => {
    const key = path.map((part) => `${part.length}:${part}`).join('');
    let group = groups.get(key);
    if (group === undefined) {
      const byState = STATE_NAMES.map(() => 0);
      group = { path, byState, byCluster: new Tally(), count: 0, units: 0, risk: 0 };
      groups.set(key, group);
    }
    return group;
  };
  const pathOf = (number: number): readonly string[] => {
    if (by === 'cluster') return [number === 0 ? NO_CLUSTER : mirror.texts.text(number)];
    const { provider, region, zone, rack } = mirror.classes.at(number);
    const parts = by === 'provider' ? [provider, region || zone] : [region, zone, rack];
    const named = parts.filter((part) => part !== '');
    return named.length === 0 ? [NO_PLACE] : named;
  };
  const groupOf = ({ columns }: ShardWorld, slot: number): Group => {
    const number = (by === 'cluster' ? columns.cluster[slot] : columns.klass[slot]) ?? 0;
    return (byNumber[number] ??= open(pathOf(number)));
  };
  return Object.assign(groupOf, { all: () => [...groups.values()] });
}

function cellColumns(
  cells: Cell[],
  groups: readonly Group[],
  clusters: Places,
  { mirror: { texts, classes } }: ViewContext,
): Answer<'map'>['cells'] {
  const places = new Map(groups.map((group, place) => [group, place]));
  const rows = cells.map(({ shard, slot, group }) => ({
    id: texts.text(shard.columns.id[slot] ?? 0),
    place: places.get(group) ?? 0,
    shard,
    slot,
  }));
  rows.sort((a, b) => a.place - b.place || compareText(a.id, b.id));
  const classOf = (row: (typeof rows)[number]): ReturnType<typeof classes.at> =>
    classes.at(row.shard.columns.klass[row.slot] ?? 0);
  return {
    machine: rows.map(({ id }) => id),
    group: rows.map(({ place }) => place),
    state: rows.map(({ shard, slot }) => (shard.columns.state[slot] ?? 1) - 1),
    cluster: rows.map(({ shard, slot }) => clusters.of(shard.columns.cluster[slot] ?? 0)),
    dollarsPerHour: rows.map((row) => classOf(row).dollarsPerHour),
    risk: rows.map((row) => classOf(row).interruptionProbability),
    sinceMs: rows.map(({ shard, slot }) => shard.columns.since[slot] ?? 0),
  };
}

function comparePaths(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const order = compareText(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
