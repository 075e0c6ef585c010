// A scripted scenario: machines, a fixed timeline of full-replacement roll-ups, and what must hold
// at the end. Demand never reacts to what the engine does; closed loops exist for that.

import { createRandom } from '@bigfleet/base';
import type { Machine, Need, Shortfall } from '@bigfleet/engine';
import { instant, ProviderModel } from '../provider/provider-model.ts';
import { SCENARIO_SEED } from '../seeds.ts';
import { type Decide, SimulatedShard, type StepResult } from '../step.ts';
import { Trace } from '../trace.ts';

export interface ScenarioEvent {
  readonly cluster: string;
  /** The cluster's whole demand; empty withdraws everything. */
  readonly rollup: readonly Need[];
  /** Default 1. */
  readonly cyclesAfter?: number;
}

export interface Scenario {
  readonly name: string;
  readonly machines: readonly Machine[];
  readonly events: readonly ScenarioEvent[];
  /** Fault injection before the first event. */
  readonly beforeRun?: (provider: ProviderModel) => void;
  /** Every violation of what must hold at the end, in words; none when it holds. */
  readonly violations: (end: ScenarioEnd) => readonly string[];
}

export interface ScenarioEnd {
  readonly machines: readonly Machine[];
  readonly shortfalls: readonly Shortfall[];
}

export interface ScenarioRun extends ScenarioEnd {
  readonly trace: Trace;
  readonly seed: bigint;
  readonly violations: readonly string[];
}

export interface ScenarioOptions {
  readonly decide?: Decide;
  readonly seed?: bigint;
}

/** One run, cycle by cycle, for those who watch. */
export class ScriptedRun {
  readonly scenario: Scenario;
  readonly seed: bigint;
  readonly provider: ProviderModel;
  readonly shard: SimulatedShard;
  readonly trace: Trace = new Trace();
  readonly #events: ScenarioEvent[];
  #cyclesLeft = 0;

  /** Transitions are instant here, so that cycles can be counted; closed loops vary the dwell. */
  constructor(scenario: Scenario, options: ScenarioOptions = {}) {
    const { seed = SCENARIO_SEED, ...shardOptions } = options;
    this.scenario = scenario;
    this.seed = seed;
    this.provider = new ProviderModel(instant);
    for (const machine of scenario.machines) this.provider.add(machine);
    scenario.beforeRun?.(this.provider);
    const random = createRandom(seed).stream(scenario.name).stream('shuffle');
    this.shard = new SimulatedShard(this.provider, { ...shardOptions, shuffle: random });
    this.#events = [...scenario.events];
    this.trace.start(scenario.name, this.provider.list());
  }

  /** Undefined when the timeline is over. */
  runCycle(): StepResult | undefined {
    const { shard, provider, trace } = this;
    while (this.#cyclesLeft === 0) {
      const event = this.#events.shift();
      if (event === undefined) return undefined;
      const { cluster, rollup, cyclesAfter = 1 } = event;
      shard.demand.applyRollup(cluster, rollup, shard.nowUnixNanos);
      trace.rollup(cluster, rollup.length);
      this.#cyclesLeft = cyclesAfter;
    }
    this.#cyclesLeft -= 1;
    const result = shard.step();
    trace.cycle(result.actions, provider.list());
    provider.advance();
    return result;
  }

  end(): ScenarioEnd {
    return {
      machines: this.provider.list(),
      shortfalls: [...this.shard.memory.shortfalls.values()],
    };
  }
}

/** How many cycles the timeline has. */
export function cycleCountOf({ events }: Scenario): number {
  return events.reduce((sum, { cyclesAfter = 1 }) => sum + cyclesAfter, 0);
}

export function runScenario(scenario: Scenario, options: ScenarioOptions = {}): ScenarioRun {
  const run = new ScriptedRun(scenario, options);
  while (run.runCycle() !== undefined);
  run.trace.end(scenario.name, run.provider.list());
  const { trace, seed } = run;
  const end = run.end();
  return { ...end, trace, seed, violations: scenario.violations(end) };
}
