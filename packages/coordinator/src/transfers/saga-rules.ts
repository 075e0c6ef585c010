// The decisions of a saga as one value. The driver takes them as an argument: the model check runs
// the real driver on rules with a planted fault and must notice each of them.

import { type LostFacts, type LostStep, decideLost } from './decide-lost.ts';
import { decideMachines } from './decide-machines.ts';
import { decideQuota } from './decide-quota.ts';
import type { SagaFacts, SagaStep } from './saga-step.ts';

export interface SagaRules {
  readonly decide: (facts: SagaFacts) => readonly SagaStep[];
  readonly decideLost: (facts: LostFacts) => LostStep;
}

export const sagaRules: SagaRules = {
  decide: (facts) => (facts.row.tier === 1 ? decideMachines(facts) : decideQuota(facts)),
  decideLost,
};
