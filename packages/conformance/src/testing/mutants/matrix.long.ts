// Proves the whole matrix: each mutant against all 93 behaviours and the baseline fails exactly what
// the registry names, and the right provider fails nothing, bare and behind a front that changes
// nothing. BIGFLEET_LONG_MS bounds the file; each day starts with another mutant.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { allChecks } from '../../behaviours/index.ts';
import type { Layers } from '../../harness/testing/layers.ts';
import { judgeMutant } from './judge/judge-mutant.ts';
import { problemsOf } from './judge/problems.ts';
import type { Mutant } from './mutant.ts';
import { inFront } from './testing/front.ts';
import { judgementRow } from './report/matrix.ts';
import { allMutants } from './set/index.ts';

const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);
const DAY_NANOS = 86_400_000_000_000n;

const { clock } = realRuntime();
const startMs = clock.monotonicMs();

function control(name: string, make: () => Layers): Mutant {
  return { name, wrong: '', story: '', caughtBy: [], isSeenByBaseline: false, make };
}

for (const right of [
  control('bare', () => ({})),
  control('behind a front', () => inFront(() => () => ({}))),
]) {
  test(`the right provider, ${right.name}, passes everything`, async () => {
    const { outcomes, baselineFailed, verdict } = await judgeMutant(right, allChecks);
    const others = [...outcomes].filter(([, { kind }]) => kind !== 'passed');
    assert.deepEqual(others, []);
    assert.deepEqual(baselineFailed, []);
    assert.equal(verdict, 'CERTIFIED');
  });
}

test('each mutant fails exactly what the registry names', async (t) => {
  const problems: string[] = [];
  let count = 0;
  for (const mutant of inTodaysOrder()) {
    if (count > 0 && clock.monotonicMs() - startMs > TIME_BOX_MS) break;
    const judgement = await judgeMutant(mutant, allChecks);
    t.diagnostic(judgementRow(judgement));
    problems.push(...problemsOf(judgement));
    count++;
  }
  t.diagnostic(`${count} of ${allMutants.length} mutants`);
  assert.deepEqual(problems, []);
});

function inTodaysOrder(): readonly Mutant[] {
  const day = Number(clock.unixNanos() / DAY_NANOS);
  const start = (Math.imul(day, 0x9e37_79b1) >>> 0) % allMutants.length;
  return [...allMutants.slice(start), ...allMutants.slice(0, start)];
}
