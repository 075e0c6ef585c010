// Cost and risk: are we paying for the right thing? One pass over the machines. Money is summed in whole
// units, so the parts of every split are the total, to the last digit.

import {
  interruptionTerm,
  PINNED_BUCKET,
  priorityClassOf,
  HALF_DOLLAR_BUCKET,
} from '@bigfleet/base';
import { CapacityType, isBound } from '@bigfleet/engine';
import type { Answer, MachineRow, Params, Share } from '../api/index.ts';
import type { MachineClass } from '../mirror/classes.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import { tierPlace } from '../mirror/need-table.ts';
import type { World } from '../mirror/world.ts';
import { CAPACITY_NAMES, ROW_LIMIT, TIER_NAMES } from '../words.ts';
import { frameOf, type ViewContext } from './context.ts';
import { machineRowOf, shareOf } from './rows.ts';
import { forEachMachine, Places } from './select.ts';
import { teamOf } from './teams.ts';
import { bucketDollars, bucketWord, capacityOf, orExcluded } from './words.ts';

const GROUPS_SHOWN = 2_000;
const PINNED_SHOWN = 100;
const BUCKETS = PINNED_BUCKET + 1;
const CAPACITIES = CAPACITY_NAMES.length + 1;

export function costView(
  world: World,
  params: Params<'cost'>,
  context: ViewContext,
): Answer<'cost'> {
  const sums = new Sums(context);
  const { risk, units } = context.mirror.classes;
  const pinned: MachineRow[] = [];
  let pinnedCount = 0;
  let pinnedUnits = 0;
  forEachMachine(world, context, params, (shard, slot) => {
    const { columns } = shard;
    const klass = sums.count(columns, slot);
    if (columns.interruption[slot] !== PINNED_BUCKET || !(risk[klass] ?? 0)) return;
    pinnedCount += 1;
    pinnedUnits += units[klass] ?? 0;
    if (pinned.length < PINNED_SHOWN) pinned.push(machineRowOf(context, shard, slot));
  });
  const groups = sums.groups();
  return {
    frame: frameOf(world, context),
    dollarsPerHour: dollarsOfUnits(sums.units),
    lossPerHour: groups.reduce((sum, { loss, count }) => sum + (loss ?? 0) * count, 0),
    total: sums.total,
    groups: groups.slice(0, GROUPS_SHOWN),
    totalGroups: groups.length,
    ...sums.splits(),
    idle: shareOf('idle', sums.idleCount, sums.idleUnits),
    pinnedOnSpot: {
      count: pinnedCount,
      dollarsPerHour: dollarsOfUnits(pinnedUnits),
      machines: pinned,
    },
  };
}

function isPinnedAtRisk({ interruptionProbability }: MachineClass, bucket: number): boolean {
  return bucket === PINNED_BUCKET && interruptionProbability > 0;
}

class Line {
  count = 0;
  units = 0;

  add(units: number): void {
    this.count += 1;
    this.units += units;
  }
}

type Group = Answer<'cost'>['groups'][number];

class Sums {
  total = 0;
  units = 0;
  idleCount = 0;
  idleUnits = 0;
  readonly #context: ViewContext;
  /** By class × bucket: bound machines. */
  readonly #bound: Int32Array;
  readonly #clusters: Places;
  readonly #clusterLines: Line[] = [];
  readonly #tiers = TIER_NAMES.map(() => new Line());
  readonly #capacities = CAPACITY_NAMES.map(() => new Line());
  readonly #providers = new Map<string, Line>();
  /** By class: the line of its provider. */
  readonly #providerLines: (Line | undefined)[] = [];
  readonly #matrixCounts = new Float64Array(BUCKETS * CAPACITIES);
  readonly #matrixUnits = new Float64Array(BUCKETS * CAPACITIES);

  constructor(context: ViewContext) {
    this.#context = context;
    this.#bound = new Int32Array(context.mirror.classes.length * BUCKETS);
    this.#clusters = new Places(context);
  }

  /** The class of a machine that runs work; 0 for any other. */
  count(columns: World['shards'][number]['columns'], slot: number): number {
    this.total += 1;
    const state = columns.state[slot] ?? 0;
    if (!isBilled(state)) return 0;
    const klass = columns.klass[slot] ?? 0;
    const { classes } = this.#context.mirror;
    const units = classes.units[klass] ?? 0;
    const capacityType = classes.capacityType[klass] ?? 0;
    this.units += units;
    this.#capacities[capacityType - 1]?.add(units);
    (this.#providerLines[klass] ??= lineOf(this.#providers, classes.at(klass).provider)).add(units);
    if (!isBound(state)) {
      this.idleCount += 1;
      this.idleUnits += units;
      return 0;
    }
    const bucket = Math.min(columns.interruption[slot] ?? 0, PINNED_BUCKET) || 1;
    const key = klass * BUCKETS + bucket;
    this.#bound[key] = (this.#bound[key] ?? 0) + 1;
    const cell = bucket * CAPACITIES + capacityType;
    this.#matrixCounts[cell] = (this.#matrixCounts[cell] ?? 0) + 1;
    this.#matrixUnits[cell] = (this.#matrixUnits[cell] ?? 0) + units;
    const cluster = this.#clusters.of(columns.cluster[slot] ?? 0);
    (this.#clusterLines[cluster] ??= new Line()).add(units);
    this.#tiers[tierPlace(priorityClassOf(columns.priority[slot] ?? 0))]?.add(units);
    return klass;
  }

  /** Racks and regions are merged: a dot is what one pays for, not where it stands. Largest first. */
  groups(): Group[] {
    const { classes } = this.#context.mirror;
    /** The first class of those that cost the same, and its machines by bucket. */
    const dots = new Map<string, { readonly shape: MachineClass; readonly counts: Int32Array }>();
    for (let klass = 1; klass < classes.length; klass++) {
      const counts = this.#bound.subarray(klass * BUCKETS, (klass + 1) * BUCKETS);
      if (counts.every((count) => count === 0)) continue;
      const shape = classes.at(klass);
      const name = dotName(shape);
      const known = dots.get(name);
      if (known === undefined) dots.set(name, { shape, counts: counts.slice() });
      else counts.forEach((count, bucket) => (known.counts[bucket]! += count));
    }
    const groups: { readonly group: Group; readonly units: number }[] = [];
    for (const { shape, counts } of dots.values()) {
      counts.forEach((count, bucket) => {
        if (count > 0) {
          groups.push({ group: groupOf(shape, bucket, count), units: count * shape.units });
        }
      });
    }
    return groups.sort((a, b) => b.units - a.units).map(({ group }) => group);
  }

  splits(): Pick<
    Answer<'cost'>,
    'matrix' | 'byCluster' | 'byPriority' | 'byCapacityType' | 'byProvider' | 'byTeam'
  > {
    const { texts } = this.#context.mirror;
    const clusters = this.#clusters.texts.flatMap((cluster, place) => {
      const line = this.#clusterLines[place];
      return line === undefined ? [] : [[texts.text(cluster), line] as const];
    });
    return {
      matrix: this.#matrix(),
      byCluster: ranked(clusters),
      byPriority: TIER_NAMES.map((tier, place) => shareOfLine(tier, this.#tiers[place])),
      byCapacityType: CAPACITY_NAMES.map((name, place) =>
        shareOfLine(name, this.#capacities[place]),
      ),
      byProvider: ranked([...this.#providers]),
      byTeam: this.#byTeam(clusters),
    };
  }

  /** Every team that was named, also one without machines; clusters of no team come last. */
  #byTeam(clusters: readonly (readonly [string, Line])[]): Share[] {
    const { teams } = this.#context.annotations;
    if (teams.length === 0) return [];
    const lines = new Map(teams.map(({ team }) => [team, new Line()]));
    const none = new Line();
    for (const [cluster, line] of clusters) {
      const sum = lines.get(teamOf(teams, cluster)) ?? none;
      sum.count += line.count;
      sum.units += line.units;
    }
    return [...ranked([...lines]), shareOfLine('', none)];
  }

  #matrix(): Answer<'cost'>['matrix'] {
    const buckets: number[] = [];
    for (let bucket = 1; bucket < BUCKETS; bucket++) {
      const row = this.#matrixCounts.subarray(bucket * CAPACITIES, (bucket + 1) * CAPACITIES);
      if (row.some((count) => count > 0)) buckets.push(bucket);
    }
    const table = (column: Float64Array): number[][] =>
      buckets.map((bucket) =>
        CAPACITY_NAMES.map((_, place) => column[bucket * CAPACITIES + place + 1] ?? 0),
      );
    return {
      buckets: buckets.map(bucketWord),
      capacityTypes: [...CAPACITY_NAMES],
      machines: table(this.#matrixCounts),
      dollarsPerHour: table(this.#matrixUnits).map((row) => row.map(dollarsOfUnits)),
    };
  }
}

/** What a dot is: a name inside it must not end where the next begins. */
function dotName({ provider, instanceType, zone, ...shape }: MachineClass): string {
  const names = `${provider.length}:${provider}${instanceType.length}:${instanceType}${zone}`;
  return `${shape.capacityType} ${shape.dollarsPerHour} ${shape.interruptionProbability} ${names}`;
}

function groupOf(shape: MachineClass, bucket: number, count: number): Group {
  const { provider, instanceType, zone, interruptionProbability: risk } = shape;
  return {
    instanceType,
    capacityType: capacityOf(shape.capacityType),
    zone,
    provider,
    interruptionPenalty: bucketWord(bucket),
    price: shape.dollarsPerHour,
    interruptionProbability: risk,
    loss: orExcluded(interruptionTerm(risk, bucketDollars(bucket))),
    count,
    dollarsPerHour: dollarsOfUnits(count * shape.units),
    flags: flagsOf(shape, bucket),
  };
}

function flagsOf(shape: MachineClass, bucket: number): Group['flags'] {
  if (isPinnedAtRisk(shape, bucket)) return ['pinned-on-spot'];
  // Work whose interruption costs next to nothing, on capacity that is never interrupted and committed.
  const isCheap = bucket <= HALF_DOLLAR_BUCKET && shape.capacityType === CapacityType.Reserved;
  return isCheap ? ['cheap-on-reserved'] : [];
}

function lineOf<K>(lines: Map<K, Line>, key: K): Line {
  let line = lines.get(key);
  if (line === undefined) lines.set(key, (line = new Line()));
  return line;
}

function shareOfLine(name: string, line: Line | undefined): Share {
  return shareOf(name, line?.count ?? 0, line?.units ?? 0);
}

function ranked(lines: readonly (readonly [string, Line])[]): Share[] {
  return [...lines]
    .sort(([a, x], [b, y]) => y.units - x.units || y.count - x.count || (a < b ? -1 : 1))
    .slice(0, ROW_LIMIT)
    .map(([name, line]) => shareOfLine(name, line));
}
