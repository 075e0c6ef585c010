// An engine of this build that is told other facts than were recorded. Everything else passes
// through, so that what differs is what the assumption changes.

import {
  createEngineLike,
  DEFAULT_RELEASE_POLICY,
  type EngineBuild,
  type Machine,
  type ReleasePolicy,
} from '@bigfleet/engine';
import type { Assumption } from './assumption.ts';

export function assumedBuild(assumptions: readonly Assumption[]): EngineBuild {
  return (options) => {
    const engine = createEngineLike(options);
    const put = engine.put.bind(engine);
    const setReleasePolicy = engine.setReleasePolicy.bind(engine);
    const assumed = Object.assign(engine, {
      put: (machine: Machine, nowMs: number) => put(assumedMachine(machine, assumptions), nowMs),
      setReleasePolicy: (policy: ReleasePolicy) =>
        setReleasePolicy(assumedPolicy(policy, assumptions)),
    });
    // A trace names the policy only when it differs from the default.
    assumed.setReleasePolicy(DEFAULT_RELEASE_POLICY);
    return assumed;
  };
}

function assumedMachine(machine: Machine, assumptions: readonly Assumption[]): Machine {
  let assumed = machine;
  for (const each of assumptions) {
    if (each.kind === 'hold' || each.instanceType !== machine.instanceType) continue;
    assumed =
      each.kind === 'price'
        ? { ...assumed, pricePerHour: each.dollarsPerHour }
        : { ...assumed, interruptionProbability: each.probability };
  }
  return assumed;
}

function assumedPolicy(policy: ReleasePolicy, assumptions: readonly Assumption[]): ReleasePolicy {
  let assumed = policy;
  for (const each of assumptions) {
    if (each.kind !== 'hold') continue;
    assumed =
      each.of === 'spot'
        ? { ...assumed, spotHoldMs: each.ms }
        : { ...assumed, onDemandHoldMs: each.ms };
  }
  return assumed;
}
