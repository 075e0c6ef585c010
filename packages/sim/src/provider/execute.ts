// What each action does to its machine, as the shard's executors do it. The start state is checked
// again before the provider is touched: a decision is a value, and its execution a second thing.

import { assert, unreachable } from '@bigfleet/base';
import {
  type Action,
  ActionKind,
  type Assignment,
  parseFingerprint,
  startStateOf,
  State,
  stateName,
} from '@bigfleet/engine';
import type { ProviderModel } from './provider-model.ts';

export function execute(provider: ProviderModel, action: Action): void {
  const { kind, machineId } = action;
  const { state } = provider.get(machineId);
  assert(state === startStateOf(kind), 'action starts in another state', {
    machineId,
    kind,
    state: stateName(state),
  });
  switch (kind) {
    case ActionKind.Provision:
      provision(provider, action);
      return;
    case ActionKind.Bootstrap:
      bootstrap(provider, action);
      return;
    case ActionKind.Reclaim:
    case ActionKind.Preempt:
      provider.drain(machineId);
      return;
    case ActionKind.Delete:
      provider.delete(machineId);
      return;
    default:
      unreachable(kind);
  }
}

/** A create that completes at once goes on as a bootstrap; a later one is found by a later cycle. */
function provision(provider: ProviderModel, action: Action): void {
  const { machineId, cluster, fingerprint, group } = action;
  provider.create(machineId, { cluster, fingerprint, group });
  if (provider.get(machineId).state === State.Idle) bootstrap(provider, action);
}

function bootstrap(provider: ProviderModel, action: Action): void {
  provider.configure(action.machineId, {
    cluster: action.cluster,
    assigned: assignmentFor(action.fingerprint, action.group),
  });
}

/** What Configured stamps for the need with this fingerprint. */
export function assignmentFor(fingerprint: string, group: string): Assignment {
  const profile = parseFingerprint(fingerprint);
  assert(profile !== undefined, 'an acquisition names the need it serves', { fingerprint });
  const { priority, interruptionBucket, reclamationBucket } = profile;
  return { priority, interruptionBucket, reclamationBucket, needFingerprint: fingerprint, group };
}
