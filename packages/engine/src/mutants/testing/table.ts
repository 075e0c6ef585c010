// Every seeded fault of the engine, by what it breaks. Each is caught by a test; a mutation that
// turned out to change nothing that anybody could see was replaced by one that does:
//
// - Equal-cost and dearer Speculative in step 2 of the step rule: a cheaper one that outbids is
//   always found first, so a wider bound changes nothing.
// - A cluster that stays marked as dependent on the pools: it is only evaluated more often.

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
