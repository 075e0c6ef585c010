// A scripted scenario: machines, a fixed timeline of full-replacement roll-ups, and what must hold
// at the end. Demand never reacts to what the engine does; closed loops exist for that.

import { createRandom } from '@bigfleet/base';
import type { Machine, Need, Shortfall } from '@bigfleet/engine';
import { instant, ProviderModel } from '../../provider/provider-model.ts';
import { SCENARIO_SEED } from '../../seeds.ts';
import { type Decide, SimulatedShard } from '../../step.ts';
import { Trace } from '../../trace.ts';

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

/** Transitions are instant here, so that cycles can be counted; closed loops vary the dwell. */
export function runScenario(scenario: Scenario, options: ScenarioOptions = {}): ScenarioRun {
  const { seed = SCENARIO_SEED, ...shardOptions } = options;
  const provider = new ProviderModel(instant);
  for (const machine of scenario.machines) provider.add(machine);
  scenario.beforeRun?.(provider);
  const random = createRandom(seed).stream(scenario.name).stream('shuffle');
  const shard = new SimulatedShard(provider, { ...shardOptions, shuffle: random });
  const trace = new Trace();
  trace.start(scenario.name, provider.list());
  for (const { cluster, rollup, cyclesAfter = 1 } of scenario.events) {
    shard.demand.applyRollup(cluster, rollup, shard.nowUnixNanos);
    trace.rollup(cluster, rollup.length);
    for (let cycle = 0; cycle < cyclesAfter; cycle++) {
      const { actions } = shard.step();
      trace.cycle(actions, provider.list());
      provider.advance();
    }
  }
  trace.end(scenario.name, provider.list());
  const end = {
    machines: provider.list(),
    shortfalls: [...shard.memory.shortfalls.values()],
  };
  return { ...end, trace, seed, violations: scenario.violations(end) };
}
