// The on-call decision tree (observability §11) as a table: which branch an unmet need belongs to follows
// from what the engine recorded about it and from the supply that matches it, and from nothing else.

import type { Answer } from '../api/index.ts';
import type { NeedEntry } from '../mirror/need-table.ts';

export type Branch = Answer<'triage'>['rows'][number]['branch'];

/** Cycles after which a shortfall counts as aged, as the alert has it. */
export const AGED_CYCLES = 60;

interface BranchText {
  readonly branch: Branch;
  readonly question: string;
  readonly meaning: string;
  readonly action: string;
}

/** In the order in which the runbook asks. */
export const TREE: readonly BranchText[] = [
  {
    branch: 'draining',
    question: 'Will machines that drain already cover it?',
    meaning:
      'Preemption or reclaim has freed machines; they are on their way. This is no shortfall.',
    action: 'Wait for the drains. If they hang, look at the evictions in the victim clusters.',
  },
  {
    branch: 'batch-only',
    question: 'Is only batch work short?',
    meaning: 'Working as designed: batch waits while everything above it is served.',
    action: 'Nothing tonight. Raise the priority if the work deserves it.',
  },
  {
    branch: 'provider-out-of-capacity',
    question: 'Is the provider out of such machines?',
    meaning: 'No machine that matches exists or can be bought.',
    action:
      'Ask the provider for quota, or correct the requirements; meanwhile raise the priority of the short requests.',
  },
  {
    branch: 'provider-not-asked',
    question: 'Has the provider capacity that is not asked for?',
    meaning: 'Matching machines could be bought, but the quota slice or the pool keeps them away.',
    action: 'Check the quota of the provider’s registration and its assignment to this shard.',
  },
  {
    branch: 'phantom-capacity',
    question: 'Are Pods pending while nothing is short here?',
    meaning:
      'Machines count as configured while their nodes are missing, not ready or unschedulable.',
    action:
      'Look at the nodes of these machines in their clusters; take the provider to task if it reported too early.',
  },
  {
    branch: 'topology',
    question: 'Is it the topology?',
    meaning: 'No single domain can hold the gang, or the spread forbids the machines there are.',
    action: 'Add capacity to one domain, relax the constraint, or bind the cluster elsewhere.',
  },
  {
    branch: 'held-off',
    question: 'Do its machines fail to join?',
    meaning: 'Bootstraps are refused or configures fail in a row, so purchases pause.',
    action:
      'Mend image, bootstrap template or network, then wait for the probe or clear the brake.',
  },
  {
    branch: 'priority-starved',
    question: 'Does work of equal or higher priority hold the machines?',
    meaning: 'Matching machines exist and all of them serve somebody who may keep them.',
    action: 'Add capacity, or raise the priority if the need deserves it.',
  },
  {
    branch: 'aged',
    question: 'Is it short for a long time?',
    meaning: `Unmet for ${AGED_CYCLES} cycles and more: the cluster may be bound to the wrong shard.`,
    action: 'Check the binding of the cluster: another shard may have what it asks for.',
  },
];

const TOPOLOGY: ReadonlySet<string> = new Set([
  'topology_unsatisfiable',
  'acquisition_parked',
  'spread_unsatisfiable',
]);
const HELD_OFF: ReadonlySet<string> = new Set([
  'bootstrap_refused',
  'configure_failing',
  'type_failing',
]);

type Facts = Pick<NeedEntry['facts'], 'reason' | 'ageCyclesUnmet' | 'matching'>;

/** First rule that holds, in this order. */
const RULES: readonly (readonly [Branch, (facts: Facts, tier: NeedEntry['tier']) => boolean])[] = [
  ['draining', ({ reason }) => reason === 'awaiting_drain'],
  ['batch-only', (_, tier) => tier === 'batch'],
  ['topology', ({ reason }) => TOPOLOGY.has(reason)],
  ['held-off', ({ reason }) => HELD_OFF.has(reason)],
  ['provider-not-asked', ({ reason }) => reason === 'quota_exhausted'],
  ['aged', ({ ageCyclesUnmet }) => ageCyclesUnmet >= AGED_CYCLES],
  ['provider-not-asked', ({ reason, matching }) => isStarved(reason) && matching.speculative > 0],
  ['priority-starved', ({ reason, matching }) => isStarved(reason) && matching.configured > 0],
];

export function branchOf(facts: Facts, tier: NeedEntry['tier']): Branch {
  return RULES.find(([, holds]) => holds(facts, tier))?.[0] ?? 'provider-out-of-capacity';
}

function isStarved(reason: string): boolean {
  return reason === 'priority_starved' || reason === 'preemption_exhausted';
}
