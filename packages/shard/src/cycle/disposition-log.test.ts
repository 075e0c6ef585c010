// Proves that runs and counts are those of the fates that were noted, whatever their order, and that
// beyond the bound only the runs end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DispositionCode, MAX_DISPOSITION_RUNS } from '@bigfleet/engine';
import fc from 'fast-check';
import { DispositionLog } from './disposition-log.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 20_261_115);
const CODES: readonly DispositionCode[] = ['deduped_state', 'deduped_pending', 'suppressed'];

function logOf(fates: readonly (DispositionCode | undefined)[]): DispositionLog {
  const log = new DispositionLog();
  for (const [place, code] of fates.entries()) if (code !== undefined) log.note(place, code);
  log.end();
  return log;
}

test(`runs spell the fates that were noted (seed ${seed})`, () => {
  const fate = fc.option(fc.constantFrom(...CODES), { nil: undefined });
  fc.assert(
    fc.property(fc.array(fate, { maxLength: 40 }), (fates) => {
      const { runs, counts } = logOf(fates);
      const spelled = fates.map(() => undefined as DispositionCode | undefined);
      for (const { first, count, code } of runs) spelled.fill(code, first, first + count);
      assert.deepEqual(spelled, fates);
      for (const code of CODES) {
        assert.equal(counts.get(code) ?? 0, fates.filter((each) => each === code).length);
      }
      const isTight = runs.every(({ first, code }, at) => {
        const before = runs[at - 1];
        return before?.code !== code || before.first + before.count < first;
      });
      assert.ok(isTight, 'neighbours of one fate are one run');
    }),
    { seed, numRuns: 500 },
  );
});

test('the bound ends the runs and not the counts', () => {
  const fates = Array.from({ length: 3 * MAX_DISPOSITION_RUNS }, (_, at) => CODES[at % 2]);
  const { runs, counts } = logOf(fates);
  assert.equal(runs.length, MAX_DISPOSITION_RUNS);
  assert.equal(runs.at(-1)?.first, MAX_DISPOSITION_RUNS - 1);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(total, fates.length);
});
