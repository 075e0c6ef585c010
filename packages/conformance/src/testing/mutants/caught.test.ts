// Proves that the suite can fail: every mutant is caught by each of its named behaviours outside the
// scale lane (for which one stands here), and the right provider, seen through a front that
// changes nothing, by none. `make conformance-mutants` adds that lane and the baseline;
// matrix.long.ts all 93 behaviours for each mutant.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { behaviourOf } from '../../catalogue/catalogue.ts';
import { allChecks } from '../../behaviours/index.ts';
import type { Check } from '../../harness/check.ts';
import { laneOf } from '../../run/lane-names.ts';
import { judgeCheck, type MakeLayers, probed } from './judge/lane-worlds.ts';
import { inFront } from './testing/front.ts';
import { allMutants } from './set/index.ts';

const SCALE_SAMPLE = 'delta-holds-neighbours';

const quickChecks = allChecks.filter(({ id }) => laneOf(behaviourOf(id)) !== 'scale');

async function notFailed(make: MakeLayers, checks: readonly Check[]): Promise<readonly string[]> {
  const capabilities = await probed(make);
  const missed: string[] = [];
  for (const check of checks) {
    const { kind } = await judgeCheck(make, capabilities, check);
    if (kind !== 'failed') missed.push(check.id);
  }
  return missed;
}

for (const { name, caughtBy, make } of allMutants) {
  const among = name === SCALE_SAMPLE ? allChecks : quickChecks;
  const checks = among.filter(({ id }) => caughtBy.includes(id));
  if (checks.length === 0) continue;
  test(name, async () => assert.deepEqual(await notFailed(make, checks), []));
}

test('the right provider behind a front that changes nothing is not caught', async () => {
  const transparent: MakeLayers = () => inFront(() => () => ({}));
  const ids = quickChecks.map(({ id }) => id);
  assert.deepEqual(await notFailed(transparent, quickChecks), ids);
});
