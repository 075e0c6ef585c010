// One decision for tests: by the engine and by the oracle, which must agree.

import assert from 'node:assert/strict';
import { engineCycle } from '../cycle/plain.ts';
import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { checkInvariants } from './invariants.ts';

/** Both decide, both the same, and the decision keeps its promises. */
export function decideBoth(input: CycleInput): CycleOutput {
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  checkInvariants(input, output);
  return output;
}
