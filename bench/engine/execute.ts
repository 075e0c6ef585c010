// Carries out what a cycle decided, as a shard in front of a provider without dwell would: each
// action walks its edges of the state machine to the end. Counts the transitions.

import { ActionKind, type Need, State } from '@bigfleet/engine';
import type { Fleet } from './fleet.ts';

const HOST = { provider: 'bench', ref: 'bought' };

/** A machine that the fleet walked to Configured, or away from it. */
export interface BindingObserver {
  bound(slot: number, cluster: number): void;
  unbound(slot: number, cluster: number): void;
}

/** Walks every action of the last cycle to its end; the number of transitions that it took. */
export function applyActions({ engine, nowMs }: Fleet, observer?: BindingObserver): number {
  const { actions, inventory } = engine;
  let transitions = 0;
  for (let at = 0; at < actions.length; at++) {
    const slot = actions.slot[at]!;
    const cluster = actions.cluster[at]!;
    transitions += 2;
    switch (actions.kind[at]!) {
      case ActionKind.Provision:
        inventory.move(slot, State.Creating, {}, nowMs);
        inventory.move(slot, State.Idle, { host: HOST }, nowMs);
        transitions += 2;
        configure(engine, slot, actions.row[at]?.need, nowMs);
        observer?.bound(slot, cluster);
        break;
      case ActionKind.Bootstrap:
        configure(engine, slot, actions.row[at]?.need, nowMs);
        observer?.bound(slot, cluster);
        break;
      case ActionKind.Reclaim:
      case ActionKind.Preempt:
        observer?.unbound(slot, cluster);
        inventory.move(slot, State.Draining, {}, nowMs);
        inventory.move(slot, State.Idle, {}, nowMs);
        break;
      case ActionKind.Delete:
        inventory.move(slot, State.Deleting, {}, nowMs);
        inventory.move(slot, State.Speculative, {}, nowMs);
        break;
      default:
        throw new Error(`action ${at} has no kind`);
    }
  }
  return transitions;
}

function configure(
  { inventory }: Fleet['engine'],
  slot: number,
  need: Need | undefined,
  nowMs: number,
): void {
  if (need === undefined) throw new Error('an acquisition without a need');
  const { profile, cluster, group } = need;
  const assigned = {
    priority: profile.priority,
    interruptionBucket: profile.interruptionBucket,
    reclamationBucket: profile.reclamationBucket,
    needFingerprint: profile.fingerprint,
    group,
  };
  inventory.move(slot, State.Configuring, { cluster, assigned }, nowMs);
  inventory.move(slot, State.Configured, {}, nowMs);
}

/** realistic-500k takes 35, the other shapes up to ten; a fleet that needs more oscillates. */
const MAX_CYCLES_TO_QUIET = 50;

/** Cycles and carries out until a cycle decides nothing. */
export function converge(fleet: Fleet): void {
  for (let cycle = 0; cycle < MAX_CYCLES_TO_QUIET; cycle++) {
    fleet.cycle();
    if (fleet.engine.actions.length === 0) return;
    applyActions(fleet);
  }
  throw new Error(
    `still ${fleet.engine.actions.length} actions after ${MAX_CYCLES_TO_QUIET} cycles`,
  );
}
