// Proves that the baseline has its 25 wire checks, passes on a correct provider with 32 slots over a
// real connection, with and without Delete, and says so when there are no machines to judge.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { run } from '../lanes/testing/suite-options.ts';
import type { TestResult } from '../run/result.ts';
import { serveTiny } from '../testing/serve-tiny.ts';
import { BASELINE_WIRE_CHECK_COUNT } from '../verdict/judge.ts';
import { wireChecks } from './index.ts';

async function baseline(seedCount: number, hasDelete: boolean): Promise<readonly TestResult[]> {
  const { server, target } = await serveTiny({ runtime: realRuntime(), seedCount, hasDelete });
  try {
    const suite = await run({ target: { target }, skipBaseline: false, baselineOnly: true });
    const report = suite.lanes.find(({ lane }) => lane === 'baseline');
    assert.equal(report?.kind, 'ran');
    return report.results;
  } finally {
    await server.stop();
  }
}

function skipsOf(results: readonly TestResult[]): string[] {
  return results.flatMap(({ name, outcome }) =>
    outcome.kind === 'skipped' ? [`${name} ${outcome.skip}`] : [],
  );
}

const selfTests: readonly string[] = [
  'TestNodeReadiness capability-absent',
  'TestSelfTest capability-absent',
];

test('the names are those of the specification', () => {
  assert.equal(wireChecks.length, BASELINE_WIRE_CHECK_COUNT);
  const names = wireChecks.map(({ name }) => name);
  assert.deepEqual(
    [...names].sort((a, b) => (a < b ? -1 : 1)),
    `ConfigureIdempotent CostFieldBounds CreateIdempotent DeleteIdempotent DeleteOnConfigured
     DeleteUnknownMachine DrainGraceTimeout DrainIdempotent DrainOnSpeculative
     FencingNewEpochResetsSequence FencingPerMachineIsolation FencingReadsUnaffected
     FencingStaleEpochRejected FencingStaleSequenceRejected FencingUnknownShardAccepted
     FullLifecycle GetUnknownMachine LabelShape ListFiltersByState ListMaxResults
     ListRevisionAdvances MetadataAndBindingClearOnDrain MetadataEchoedOnGetAndList
     MetadataUnknownKeysPreservedVerbatim TransitionalStateObservability`.split(/\s+/),
  );
});

test('a correct provider with 32 slots passes', async () => {
  const results = await baseline(32, true);
  assert.deepEqual(
    results.filter(({ outcome }) => outcome.kind === 'failed'),
    [],
  );
  assert.deepEqual(skipsOf(results), selfTests);
});

test('a correct provider without Delete passes', async () => {
  const results = await baseline(32, false);
  assert.deepEqual(
    results.filter(({ outcome }) => outcome.kind === 'failed'),
    [],
  );
  assert.deepEqual(skipsOf(results), ['TestDeleteIdempotent capability-absent', ...selfTests]);
});

test('an empty provider passes nothing but what needs no machine', async () => {
  const results = await baseline(0, true);
  const unmet = skipsOf(results).filter((skip) => skip.endsWith('precondition-unmet'));
  assert.equal(unmet.length, 22);
});
