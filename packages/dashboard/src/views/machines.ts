// Machines: the rows behind every count, the first so many of an order, and how many there are.

import { compareText } from '@bigfleet/base';
import type { Answer, Params } from '../api/index.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { frameOf, type ViewContext } from './context.ts';
import { machineRowOf } from './rows.ts';
import { forEachMachine, Top } from './select.ts';

interface At {
  readonly shard: ShardWorld;
  readonly slot: number;
}

export function machinesView(
  world: World,
  params: Params<'machines'>,
  context: ViewContext,
): Answer<'machines'> {
  const top = new Top<At>(params.limit, order(params.sort, context));
  const { classes } = context.mirror;
  let units = 0;
  forEachMachine(world, context, params, (shard, slot) => {
    top.offer({ shard, slot });
    const { columns } = shard;
    if (isBilled(columns.state[slot] ?? 0)) units += classes.at(columns.klass[slot] ?? 0).units;
  });
  return {
    frame: frameOf(world, context),
    total: top.total,
    dollarsPerHour: dollarsOfUnits(units),
    machines: top.sorted().map(({ shard, slot }) => machineRowOf(context, shard, slot)),
  };
}

function order(
  sort: Params<'machines'>['sort'],
  { mirror: { texts, classes } }: ViewContext,
): (a: At, b: At) => number {
  const text = ({ shard, slot }: At, name: 'id' | 'cluster'): string =>
    texts.text(shard.columns[name][slot] ?? 0);
  const classOf = ({ shard, slot }: At): ReturnType<typeof classes.at> =>
    classes.at(shard.columns.klass[slot] ?? 0);
  const first: Record<Params<'machines'>['sort'], (a: At, b: At) => number> = {
    machine: () => 0,
    state: (a, b) => (a.shard.columns.state[a.slot] ?? 0) - (b.shard.columns.state[b.slot] ?? 0),
    cluster: (a, b) => compareText(text(a, 'cluster'), text(b, 'cluster')),
    cost: (a, b) => classOf(b).units - classOf(a).units,
    risk: (a, b) => classOf(b).interruptionProbability - classOf(a).interruptionProbability,
    age: (a, b) => (a.shard.columns.since[a.slot] ?? 0) - (b.shard.columns.since[b.slot] ?? 0),
  };
  const compare = first[sort];
  return (a, b) =>
    compare(a, b) ||
    compareText(text(a, 'id'), text(b, 'id')) ||
    compareText(a.shard.mirror.name, b.shard.mirror.name);
}
