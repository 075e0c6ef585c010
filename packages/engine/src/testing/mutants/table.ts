// Every seeded fault of the engine, by what it breaks. Each is caught by a test. Some that were
// tried change nothing that anybody could see, and were replaced by others:
//
// - The own-cluster rule of Phase 2 dropped, or widened to unclaimed machines: crediting goes by
//   priority, so a need that is still open has claimed every machine of its own cluster that it
//   could use, and no such victim exists. Instead: a preemption that names the wrong cluster.
// - Speculative of equal or higher cost in step 2 of the step rule: a cheaper one that outbids is
//   always found first. Instead: the clauses of passing over, one by one.
// - A cluster that stays marked as dependent on the pools: it is only evaluated more often.
//   Instead: one that depends on them and is not evaluated.

import { acquireMutations } from './acquire-mutations.ts';
import { creditMutations } from './credit-mutations.ts';
import { cycleMutations } from './cycle-mutations.ts';
import { demandMutations } from './demand-mutations.ts';
import { modelMutations } from './model-mutations.ts';
import type { Mutation } from './mutation.ts';
import { preemptMutations } from './preempt-mutations.ts';
import { recordMutations } from './record-mutations.ts';
import { storeMutations } from './store-mutations.ts';

export const mutations: readonly Mutation[] = [
  ...modelMutations,
  ...storeMutations,
  ...demandMutations,
  ...creditMutations,
  ...acquireMutations,
  ...preemptMutations,
  ...cycleMutations,
  ...recordMutations,
];
