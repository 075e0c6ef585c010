// The step rule of engine §5.7, literally: which one machine a need takes next. Idle goes before
// Speculative, except that idle capacity with interruption risk waits while a Speculative
// machine is both cheaper for this need and less risky.

import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { State } from '../model/state.ts';
import { compareIdle, compareSpeculative, costFor, riskFor } from './rules.ts';

/** `candidates` are the usable Idle and Speculative machines, in any order. */
export function nextStep(candidates: readonly Machine[], need: Need): Machine | undefined {
  const idle = candidates
    .filter((machine) => machine.state === State.Idle)
    .sort((a, b) => compareIdle(a, b, need));
  const speculative = candidates
    .filter((machine) => machine.state === State.Speculative)
    .sort((a, b) => compareSpeculative(a, b, need));
  const isPassedOver = (m: Machine): boolean => speculative.some((s) => outbids(s, m, need));
  const step1 = idle.find((machine) => !isPassedOver(machine));
  if (step1 !== undefined) return step1;
  const firstIdle = idle[0];
  if (firstIdle !== undefined) return speculative.find((s) => outbids(s, firstIdle, need));
  return speculative[0];
}

function outbids(speculative: Machine, idle: Machine, need: Need): boolean {
  return (
    costFor(speculative, need) < costFor(idle, need) &&
    riskFor(speculative, need) < riskFor(idle, need)
  );
}
