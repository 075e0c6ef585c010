// Every frozen trace by file name: the six scripted scenarios and the repaired twin of each canary.
// The bytes are the same for every decider, worker count and machine.

import {
  BARE_PODS_CYCLES,
  controlledPods,
  requestPerPod,
  SUPPLY_EXHAUSTION_CYCLES,
  supplyExhaustion,
  UNMET_ONLY_CYCLES,
} from '../closed-loop/canaries.ts';
import { ClosedLoop } from '../closed-loop/closed-loop.ts';
import { runScenario } from '../scenarios/scenario.ts';
import { scriptedScenarios } from '../scenarios/scripted.ts';
import type { Decide } from '../step.ts';

const twins = [
  [controlledPods, BARE_PODS_CYCLES],
  [requestPerPod, UNMET_ONLY_CYCLES],
  [supplyExhaustion, SUPPLY_EXHAUSTION_CYCLES],
] as const;

export interface GoldenOptions {
  readonly decide?: Decide;
  readonly seed?: bigint;
}

export function goldenTraces(options: GoldenOptions = {}): ReadonlyMap<string, string> {
  const traces = new Map<string, string>();
  for (const scenario of scriptedScenarios) {
    const { trace } = runScenario(scenario, options);
    traces.set(`${scenario.name}.jsonl`, trace.toJsonLines());
  }
  for (const [plan, cycleCount] of twins) {
    const { trace } = new ClosedLoop(plan, options).run(cycleCount);
    traces.set(`${plan.name}.jsonl`, trace.toJsonLines());
  }
  return traces;
}
