// Machine lifecycle: where do machines get stuck? Counts are of the moment; dwell, edges and failures are
// of the transitions that were observed until then.

import { State } from '@bigfleet/engine';
import type { Answer, Params } from '../api/index.ts';
import { dollarsOfUnits, isBilled } from '../mirror/money.ts';
import { stateNameOf } from '../mirror/shard-mirror.ts';
import { noPercentiles, percentilesOf, type Transition } from '../mirror/transitions.ts';
import type { ShardWorld, World } from '../mirror/world.ts';
import { STATE_NAMES } from '../words.ts';
import { endOf, frameOf, type ViewContext } from './context.ts';
import { machineRowOf } from './rows.ts';
import { forEachMachine, Top } from './select.ts';

const STUCK_SHOWN = 200;
const FAILURES_SHOWN = 200;
/** Nothing is stuck before. */
const PATIENCE_MS = 60_000;
const TRANSITIONAL: ReadonlySet<number> = new Set([
  State.Creating,
  State.Configuring,
  State.Draining,
  State.Deleting,
]);

interface Stuck {
  readonly shard: ShardWorld;
  readonly slot: number;
  readonly overdueMs: number;
  readonly expectedMs: number;
}

export function lifecycleView(
  world: World,
  params: Params<'lifecycle'>,
  context: ViewContext,
): Answer<'lifecycle'> {
  const seen = new Seen(world, params, context);
  const counts = new Float64Array(STATE_NAMES.length + 1);
  const units = new Float64Array(STATE_NAMES.length + 1);
  const stuck = new Top<Stuck>(STUCK_SHOWN, (a, b) => b.overdueMs - a.overdueMs);
  const { classes } = context.mirror;
  forEachMachine(world, context, params, (shard, slot) => {
    const { columns } = shard;
    const state = columns.state[slot] ?? 0;
    const shape = classes.at(columns.klass[slot] ?? 0);
    counts[state] = (counts[state] ?? 0) + 1;
    if (isBilled(state)) units[state] = (units[state] ?? 0) + shape.units;
    if (!TRANSITIONAL.has(state)) return;
    const expectedMs = Math.max(PATIENCE_MS, seen.expectedMs(state, shape.provider));
    const overdueMs = world.atMs - (columns.since[slot] ?? 0) - expectedMs;
    if (overdueMs > 0) stuck.offer({ shard, slot, overdueMs, expectedMs });
  });
  return {
    frame: frameOf(world, context),
    states: STATE_NAMES.map((state, place) => ({
      state,
      count: counts[place + 1] ?? 0,
      dollarsPerHour: dollarsOfUnits(units[place + 1] ?? 0),
      dwell: percentilesOf(seen.dwell.get(place + 1) ?? []),
    })),
    edges: seen.edges(),
    observedSinceMs: observedSince(world, context),
    stuck: stuck.sorted().map(({ shard, slot, overdueMs, expectedMs }) => ({
      machine: machineRowOf(context, shard, slot),
      overdueMs,
      expectedMs,
    })),
    failures: seen.failures(),
  };
}

function observedSince(world: World, { mirror }: ViewContext): number {
  const dropped = mirror.transitions.droppedThroughMs;
  if (dropped !== undefined) return dropped;
  const firsts = world.shards.map(({ mirror: shard }) => shard.firstMs ?? world.atMs);
  return Math.min(world.atMs, ...firsts);
}

/** Transitions of the asked shards and providers; a place or a cluster is not kept with them. */
class Seen {
  readonly dwell = new Map<number, number[]>();
  readonly #edges = new Map<number, number[]>();
  readonly #kinds = new Map<string, number[]>();
  readonly #expected = new Map<string, number>();
  readonly #failures = new Map<string, { first: Transition; count: number }>();
  readonly #context: ViewContext;

  constructor(world: World, params: Params<'lifecycle'>, context: ViewContext) {
    this.#context = context;
    const { texts, transitions } = context.mirror;
    const provider = params.provider === '' ? 0 : texts.find(params.provider);
    const shard = world.shards.find(({ mirror }) => mirror.name === params.shard)?.mirror.index;
    for (const seen of transitions.until(endOf(world))) {
      if (provider !== 0 && seen.provider !== provider) continue;
      if (params.shard !== '' && seen.shard !== shard) continue;
      this.#add(seen);
    }
  }

  /** Time that 99 % of machines of this provider stay in the state; 0 when none was seen. */
  expectedMs(state: number, provider: string): number {
    const number = this.#context.mirror.texts.find(provider);
    const key = `${state} ${number}`;
    let expected = this.#expected.get(key);
    if (expected === undefined) {
      expected = percentilesOf(this.#kinds.get(key) ?? []).p99Ms;
      this.#expected.set(key, expected);
    }
    return expected;
  }

  edges(): Answer<'lifecycle'>['edges'] {
    return [...this.#edges]
      .sort(([a], [b]) => a - b)
      .map(([key, samples]) => ({
        from: stateNameOf(Math.floor(key / 16)),
        to: stateNameOf(key % 16),
        count: samples.length,
        dwell: samples.length === 0 ? noPercentiles : percentilesOf(samples),
      }));
  }

  failures(): Answer<'lifecycle'>['failures'] {
    const { texts } = this.#context.mirror;
    return [...this.#failures.values()]
      .sort((a, b) => b.count - a.count || a.first.atMs - b.first.atMs)
      .slice(0, FAILURES_SHOWN)
      .map(({ first, count }) => ({
        provider: texts.text(first.provider),
        instanceType: texts.text(first.instanceType),
        error: texts.text(first.error),
        count,
      }));
  }

  #add(seen: Transition): void {
    const { from, to, dwellMs, provider } = seen;
    push(this.dwell, from, dwellMs);
    push(this.#kinds, `${from} ${provider}`, dwellMs);
    if (to !== 0) push(this.#edges, from * 16 + to, dwellMs);
    if (to !== State.Failed) return;
    const key = `${provider} ${seen.instanceType} ${seen.error}`;
    const known = this.#failures.get(key);
    if (known === undefined) this.#failures.set(key, { first: seen, count: 1 });
    else known.count += 1;
  }
}

function push<K>(lists: Map<K, number[]>, key: K, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
