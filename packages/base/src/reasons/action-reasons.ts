// Why an action was emitted: `Action.reason` (engine §15.1).

import type { ReasonEntry } from './entry.ts';

export type ActionKind = 'Bootstrap' | 'Provision' | 'Preempt' | 'Reclaim' | 'Delete';

export interface ActionReasonEntry extends ReasonEntry {
  readonly actionKind: ActionKind;
}

const table = {
  'phase1.idle': {
    actionKind: 'Bootstrap',
    meaning: 'An idle machine was the cheapest way to cover a need.',
    action: 'Nothing.',
  },
  'phase1.speculative': {
    actionKind: 'Provision',
    meaning: 'No idle machine covered the need, so a new one is created.',
    action: 'Nothing.',
  },
  'phase2.inversion': {
    actionKind: 'Preempt',
    meaning: 'A need of strictly higher priority takes the machine of a lower one.',
    action: 'If it surprises you, compare the priorities of the two needs.',
  },
  'phase3.excess': {
    actionKind: 'Reclaim',
    meaning: 'No need of its cluster claims the machine any more.',
    action: 'Nothing. If the cluster still needs it, check what its operator reports.',
  },
  'phase3.release': {
    actionKind: 'Delete',
    meaning: 'The machine stayed idle for longer than its hold time.',
    action: 'Nothing. Lengthen the hold if machines are deleted and created again too often.',
  },
  'coordinator.cross_shard_drain': {
    actionKind: 'Preempt',
    meaning: 'The coordinator ordered the machine drained for a need on another shard.',
    action: 'If it surprises you, look up the transfer in the coordinator.',
  },
} as const;

export type ActionReason = keyof typeof table;

export const actionReasons: Readonly<Record<ActionReason, ActionReasonEntry>> = table;
