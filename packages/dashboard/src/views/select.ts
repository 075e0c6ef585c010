// Which machines and rows an answer shows: filters decided once per class, and the first so many of an
// order without sorting everything. Cost: one pass over the columns, no allocation per machine.

import type { Params } from '../api/index.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { CAPACITY_NAMES, STATE_NAMES } from '../words.ts';
import type { ViewContext } from './context.ts';
import { teamOf } from './teams.ts';

export type MachineFilter = Pick<
  Params<'machines'>,
  'shard' | 'cluster' | 'team' | 'provider' | 'zone' | 'state' | 'capacity' | 'q'
>;

export const everyMachine: MachineFilter = {
  shard: '',
  cluster: '',
  team: '',
  provider: '',
  zone: '',
  state: '',
  capacity: '',
  q: '',
};

export function forEachMachine(
  world: World,
  context: ViewContext,
  filter: MachineFilter,
  visit: (shard: ShardWorld, slot: number) => void,
): void {
  const { texts } = context.mirror;
  const cluster = filter.cluster === '' ? 0 : texts.find(filter.cluster);
  if (cluster < 0) return;
  const isClass = classFilter(context, filter);
  const isTeam = filter.team === '' ? undefined : teamFilter(context, filter.team);
  const wanted = filter.state === '' ? 0 : STATE_NAMES.indexOf(filter.state) + 1;
  const words = filter.q === '' ? undefined : wordFilter(context, filter.q);
  for (const shard of world.shards) {
    if (filter.shard !== '' && shard.mirror.name !== filter.shard) continue;
    const { columns } = shard;
    const { state, klass, cluster: clusters, id, node } = columns;
    for (let slot = 0; slot < columns.length; slot++) {
      const code = state[slot] ?? 0;
      if (code === 0 || (wanted !== 0 && code !== wanted)) continue;
      const number = klass[slot] ?? 0;
      if (isClass !== undefined && isClass[number] === 0) continue;
      if (cluster !== 0 && clusters[slot] !== cluster) continue;
      if (isTeam !== undefined && !isTeam(clusters[slot] ?? 0)) continue;
      if (words !== undefined && !words(id[slot] ?? 0, node[slot] ?? 0, number)) continue;
      visit(shard, slot);
    }
  }
}

function classFilter(
  { mirror }: ViewContext,
  { provider, zone, capacity }: MachineFilter,
): Uint8Array | undefined {
  if (provider === '' && zone === '' && capacity === '') return undefined;
  const { classes } = mirror;
  const code = capacity === '' ? 0 : CAPACITY_NAMES.indexOf(capacity) + 1;
  const isIn = new Uint8Array(classes.length);
  for (let number = 1; number < classes.length; number++) {
    const found = classes.at(number);
    const fits =
      (provider === '' || found.provider === provider) &&
      (zone === '' || found.zone === zone) &&
      (code === 0 || found.capacityType === code);
    isIn[number] = fits ? 1 : 0;
  }
  return isIn;
}

/** Each cluster's name is held against the patterns once. */
function teamFilter(
  { mirror: { texts }, annotations: { teams } }: ViewContext,
  team: string,
): (cluster: number) => boolean {
  const decided = new Map<number, boolean>();
  return (cluster) => {
    let isIn = decided.get(cluster);
    if (isIn === undefined) {
      isIn = teamOf(teams, texts.text(cluster)) === team;
      decided.set(cluster, isIn);
    }
    return isIn;
  };
}

function wordFilter(
  { mirror }: ViewContext,
  q: string,
): (id: number, node: number, klass: number) => boolean {
  const { texts, classes } = mirror;
  const lower = q.toLowerCase();
  const has = (text: string): boolean => text.includes(q) || text.includes(lower);
  const isType = new Uint8Array(classes.length);
  for (let number = 1; number < classes.length; number++) {
    isType[number] = has(classes.at(number).instanceType) ? 1 : 0;
  }
  return (id, node, klass) =>
    isType[klass] === 1 || has(texts.text(id)) || (node !== 0 && has(texts.text(node)));
}

/** Numbers of texts as small places, in the order in which they were met; 0 stays 0. */
export class Places {
  readonly #places: Int32Array;
  /** The texts by their place. */
  readonly texts: number[] = [0];

  constructor({ mirror }: ViewContext) {
    this.#places = new Int32Array(mirror.texts.length);
  }

  of(text: number): number {
    const known = this.#places[text] ?? 0;
    if (known !== 0 || text === 0) return known;
    const place = this.texts.push(text) - 1;
    this.#places[text] = place;
    return place;
  }
}

/** Numbers by place, as many as are asked for. */
export class Tally {
  #values: Float64Array = new Float64Array(16);

  add(place: number, amount: number): void {
    if (place >= this.#values.length) {
      const grown = new Float64Array(Math.max(place + 1, 2 * this.#values.length));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[place] = (this.#values[place] ?? 0) + amount;
  }

  at(place: number): number {
    return this.#values[place] ?? 0;
  }

  /** Places with something in them. */
  *entries(): Generator<[number, number]> {
    for (let place = 0; place < this.#values.length; place++) {
      const value = this.#values[place] ?? 0;
      if (value !== 0) yield [place, value];
    }
  }
}

/** The first `limit` of an order, by a heap whose root is the last of them. */
export class Top<T> {
  readonly #limit: number;
  readonly #compare: (a: T, b: T) => number;
  readonly #heap: T[] = [];
  total = 0;

  constructor(limit: number, compare: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  offer(item: T): void {
    this.total += 1;
    const heap = this.#heap;
    if (heap.length < this.#limit) {
      heap.push(item);
      this.#up(heap.length - 1);
    } else if (this.#compare(item, heap[0] as T) < 0) {
      heap[0] = item;
      this.#down();
    }
  }

  sorted(): T[] {
    return this.#heap.sort(this.#compare);
  }

  #up(from: number): void {
    const heap = this.#heap;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (this.#compare(heap[at] as T, heap[parent] as T) <= 0) return;
      [heap[at], heap[parent]] = [heap[parent] as T, heap[at] as T];
      at = parent;
    }
  }

  #down(): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let last = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        const isLater = child < heap.length && this.#compare(heap[child] as T, heap[last] as T) > 0;
        if (isLater) last = child;
      }
      if (last === at) return;
      [heap[at], heap[last]] = [heap[last] as T, heap[at] as T];
      at = last;
    }
  }
}
