// What `bigfleet what-if` can change (how long idle machines are held, what a type of machine costs, how
// often it is interrupted), and an engine of this build that is told so instead of what was recorded.
// Everything else passes through, so that what differs is what the assumption changes.

import { err, ok, type Result } from '@bigfleet/base';
import {
  createEngineLike,
  DEFAULT_RELEASE_POLICY,
  type EngineBuild,
  type Machine,
  type ReleasePolicy,
} from '@bigfleet/engine';
import { type Flag, parseDuration } from '@bigfleet/process/flags';

type Assumption =
  | { readonly kind: 'hold'; readonly of: 'onDemand' | 'spot'; readonly ms: number }
  | { readonly kind: 'price'; readonly instanceType: string; readonly dollarsPerHour: number }
  | { readonly kind: 'interruption'; readonly instanceType: string; readonly probability: number };

const EXAMPLE =
  'write on-demand-hold=5m, spot-hold=0, price:m6i.large=0.12 or interruption:m6i.large=0.05';
const MAX_DOLLARS = 1_000_000;

export const assumptions: Flag<Assumption> & { readonly isRepeatable: true } = {
  fallback: '',
  help: 'Assume this instead: on-demand-hold, spot-hold, price:<type>, interruption:<type>.',
  form: '<name=value>',
  isRepeatable: true,
  parse: parseAssumption,
};

function parseAssumption(text: string): Result<Assumption, string> {
  const [, name = '', type = '', value = ''] = /^([a-z-]+)(?::([^=]+))?=(.+)$/.exec(text) ?? [];
  if (type === '' && (name === 'on-demand-hold' || name === 'spot-hold')) {
    const ms = parseDuration(value);
    const of = name === 'spot-hold' ? 'spot' : 'onDemand';
    return ms.ok ? ok({ kind: 'hold', of, ms: ms.value }) : ms;
  }
  const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
  if (name === 'price' && type !== '' && number <= MAX_DOLLARS) {
    return ok({ kind: 'price', instanceType: type, dollarsPerHour: number });
  }
  if (name === 'interruption' && type !== '' && number <= 1) {
    return ok({ kind: 'interruption', instanceType: type, probability: number });
  }
  return err(EXAMPLE);
}

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
