// Turns a fleet shape into its two results. `full` evaluates everything of a fleet of which
// nothing was carried out, again and again: the same work each time, because no action is applied
// and the ages of unmet demand are forgotten. `steady` runs after the fleet went quiet, with the
// changes of churn.ts before each cycle. Only `engine.cycle` is inside the clock.
//
// A shape that decides something else than it states is refused, before and after the timed part;
// where records are compared, the engine without them must decide the same.

import { createRandom, type Random } from '@bigfleet/base';
import type { Engine, EngineOptions } from '@bigfleet/engine';
import {
  type Bars,
  type Bench,
  type BenchContext,
  type BenchEntry,
  defineBench,
  type Extra,
  measureRetained,
  type ShapeRule,
  type Timing,
} from '../harness/index.ts';
import { median } from '../harness/percentiles.ts';
import { CHANGED_ROWS, Churn, type ChurnPlan, TRANSITIONS } from './churn.ts';
import { columnBytesPerMachine } from './column-bytes.ts';
import { converge } from './execute.ts';
import { countDecisions, countFleet, Fleet, type SeedFleet } from './fleet.ts';
import { type RecordSide, recordShare } from './record-share.ts';

export interface FleetShape {
  /** Without `engine/` in front and without the part behind. */
  readonly name: string;
  readonly seed: SeedFleet;
  readonly full?: FullPlan;
  readonly steady?: SteadyPlan;
  readonly nodeFlags?: readonly string[];
  readonly timeoutMs?: number;
}

interface Plan {
  readonly shape: Readonly<Record<string, ShapeRule>>;
  readonly warmup?: number;
  readonly iterations: number;
  readonly bars?: Bars;
  /** Rounds for `extra.recordShare`; absent: not measured. */
  readonly recordRounds?: number;
  /** Default true; false where one more process of the shape costs minutes. */
  readonly measureAllocations?: boolean;
}

export interface FullPlan extends Plan {
  /** Measure what the machines retain before there is any demand. */
  readonly measuresMemory?: boolean;
  readonly extras?: (fleet: Fleet, timing: Timing) => Extra;
}

export interface SteadyPlan extends Plan {
  readonly churn?: (random: Random) => ChurnPlan;
}

export function fleetBenches(shape: FleetShape): readonly BenchEntry[] {
  const entries: BenchEntry[] = [];
  if (shape.full !== undefined) entries.push(fullBench(shape, shape.full));
  if (shape.steady !== undefined) entries.push(steadyBench(shape, shape.steady));
  return entries;
}

function build({ seed }: FleetShape, context: BenchContext, options: EngineOptions = {}): Fleet {
  const fleet = new Fleet(options);
  seed(fleet, createRandom(BigInt(context.seed)).stream('fleet'))();
  return fleet;
}

interface FullState {
  readonly fleet: Fleet;
  readonly context: BenchContext;
  readonly retainedBytes: number | null;
  readonly decisions: string;
}

function fullBench(shape: FleetShape, plan: FullPlan): BenchEntry {
  const { recordRounds, measuresMemory = false } = plan;
  return defineBench<FullState>({
    name: `engine/${shape.name}/full`,
    ...settings(shape, plan),
    warmup: plan.warmup ?? 5,
    async setup(context) {
      const fleet = new Fleet({});
      const random = createRandom(BigInt(context.seed)).stream('fleet');
      const seed = (): (() => void) => shape.seed(fleet, random);
      const { value: demand, bytes } = measuresMemory
        ? await measureRetained(seed)
        : { value: seed(), bytes: null };
      demand();
      fleet.fullPass();
      return { fleet, context, retainedBytes: bytes, decisions: decisionsOf(fleet.engine) };
    },
    observe: ({ fleet }) => ({ ...countFleet(fleet), ...countDecisions(fleet) }),
    prepare: ({ fleet }) => fleet.forgetAges(),
    iteration: ({ fleet }) => fleet.fullPass(),
    extras({ fleet, context, retainedBytes, decisions }, timing) {
      refuseUnless(decisionsOf(fleet.engine) === decisions, 'a later pass decided otherwise');
      const machines = fleet.engine.inventory.size;
      const memory = {
        columnBytesPerMachine: columnBytesPerMachine(fleet),
        ...(retainedBytes === null ? {} : { bytesPerMachine: retainedBytes / machines }),
      };
      const own = plan.extras?.(fleet, timing);
      if (recordRounds === undefined) return { ...memory, ...own };
      return { ...memory, ...own, ...compareFull(shape, fleet, context, recordRounds) };
    },
  });
}

function compareFull(
  shape: FleetShape,
  fleet: Fleet,
  context: BenchContext,
  rounds: number,
): Extra {
  const without = build(shape, context, { hasRecords: false });
  const firstPassMs = timed(() => without.fullPass());
  const same = decisionsOf(without.engine) === decisionsOf(fleet.engine);
  refuseUnless(same, 'a fresh engine without records decided otherwise');
  const side = (passing: Fleet): RecordSide => ({
    prepare: () => passing.forgetAges(),
    decide(hasRecords) {
      passing.engine.hasRecords = hasRecords;
      passing.fullPass();
      return true;
    },
  });
  return {
    /** Caches of classes and costs are empty, code is warm. */
    firstPassMs,
    ...recordShare([side(fleet), side(without)], rounds),
  };
}

function timed(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

interface SteadyState {
  readonly fleet: Fleet;
  readonly churn: Churn;
  readonly context: BenchContext;
}

function steadyBench(shape: FleetShape, plan: SteadyPlan): BenchEntry {
  return defineBench<SteadyState>({
    name: `engine/${shape.name}/steady`,
    ...settings(shape, plan),
    warmup: plan.warmup ?? 20,
    setup: (context) => ({ ...steadyFleet(shape, plan, context, {}), context }),
    observe: ({ fleet }) => ({ ...countFleet(fleet), ...countDecisions(fleet) }),
    prepare: ({ churn }) => churn.apply(),
    iteration({ fleet }) {
      fleet.cycle();
      return fleet.engine.pass === 'safety' ? { apart: 'safetyPassMs' } : undefined;
    },
    extras({ fleet, churn, context }) {
      const counted = churnExtras(fleet, churn);
      if (plan.recordRounds === undefined) return counted;
      const other = steadyFleet(shape, plan, context, { hasRecords: false });
      // The same number of rounds: from here on both get the same changes.
      while (other.churn.counts.rounds < churn.counts.rounds) {
        other.churn.apply();
        other.fleet.cycle();
      }
      const same = decisionsOf(other.fleet.engine) === decisionsOf(fleet.engine);
      refuseUnless(same, 'an engine without records decided otherwise');
      const share = recordShare(
        [steadySide({ fleet, churn }), steadySide(other)],
        plan.recordRounds,
      );
      return { ...counted, ...share };
    },
  });
}

function steadySide({ fleet, churn }: { fleet: Fleet; churn: Churn }): RecordSide {
  return {
    prepare: () => churn.apply(),
    decide(hasRecords) {
      fleet.engine.hasRecords = hasRecords;
      fleet.cycle();
      return fleet.engine.pass !== 'safety';
    },
  };
}

function steadyFleet(
  shape: FleetShape,
  plan: SteadyPlan,
  context: BenchContext,
  options: EngineOptions,
): { fleet: Fleet; churn: Churn } {
  const fleet = build(shape, context, options);
  converge(fleet);
  const random = createRandom(BigInt(context.seed)).stream('churn');
  return { fleet, churn: new Churn(fleet, random, plan.churn?.(random.stream('plan')) ?? {}) };
}

/** Refuses a run that changed less, or elsewhere, than a steady cycle is said to. */
function churnExtras(fleet: Fleet, churn: Churn): Extra {
  const { counts } = churn;
  const { rounds } = counts;
  const transitionsPerCycle = counts.transitions / rounds;
  refuseUnless(fleet.engine.pass !== 'full', 'the changes caused a full pass');
  refuseUnless(fleet.engine.mismatchCount === 0, 'a safety pass found another answer');
  refuseUnless(
    counts.rows === rounds * CHANGED_ROWS,
    `${counts.rows} rows changed in ${rounds} rounds`,
  );
  refuseUnless(
    Math.abs(transitionsPerCycle / TRANSITIONS - 1) < 0.05,
    `${transitionsPerCycle} machine transitions per cycle`,
  );
  return {
    transitionsPerCycle,
    transitionsMax: counts.transitionsMax,
    changedRowsPerCycle: counts.rows / rounds,
    actionsPerCycle: counts.actions / rounds,
    touchedClusterShareMax: counts.touchedClustersMax / fleet.clusters.length,
    applyMs: median([...counts.applyMs]),
    unsatisfiedAtEnd: fleet.engine.normalisedRows().filter((row) => !row.result.isSatisfied).length,
  };
}

function settings(
  shape: FleetShape,
  plan: Plan,
): Pick<
  Bench<unknown>,
  'shape' | 'iterations' | 'bars' | 'measureAllocations' | 'nodeFlags' | 'timeoutMs'
> {
  return {
    shape: plan.shape,
    iterations: plan.iterations,
    bars: plan.bars ?? {},
    measureAllocations: plan.measureAllocations ?? true,
    nodeFlags: shape.nodeFlags ?? [],
    timeoutMs: shape.timeoutMs ?? 600_000,
  };
}

/** Kinds and machines in order: equal text, equal decisions. */
function decisionsOf({ actions, inventory }: Engine): string {
  let hash = 0;
  for (let at = 0; at < actions.length; at++) {
    hash = Math.imul(hash ^ actions.slot[at]!, 0x9e37_79b1);
    hash = Math.imul(hash ^ actions.kind[at]! ^ (hash >>> 15), 0x85eb_ca6b);
  }
  return `${actions.length}:${hash}:${inventory.size}`;
}

function refuseUnless(holds: boolean, problem: string): void {
  if (!holds) throw new Error(`wrong shape: ${problem}`);
}
