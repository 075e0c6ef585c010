// The baseline: 25 wire checks, which run against any endpoint, and the two that only the suite's
// own test can run (`make conformance-self`, src/testing/self): on a foreign endpoint those are skipped.

import { SkipCheck } from '../harness/check.ts';
import type { BaselineCheck } from './check.ts';
import { fencingChecks } from './fencing.ts';
import { idempotencyChecks, lifecycleChecks, positionChecks } from './lifecycle.ts';
import { metadataChecks } from './metadata.ts';
import { readChecks } from './reads.ts';

export type { BaselineCheck } from './check.ts';

/** Those of conformance §3 that judge an endpoint over the wire. */
export const wireChecks: readonly BaselineCheck[] = [
  ...lifecycleChecks,
  ...idempotencyChecks,
  ...readChecks,
  ...positionChecks,
  ...fencingChecks,
  ...metadataChecks,
];

const selfTests: readonly BaselineCheck[] = ['NodeReadiness', 'SelfTest'].map((name) => ({
  name,
  run: () => Promise.reject(new SkipCheck('capability-absent', "the suite's own test runs it")),
}));

export const baselineChecks: readonly BaselineCheck[] = [...wireChecks, ...selfTests];
