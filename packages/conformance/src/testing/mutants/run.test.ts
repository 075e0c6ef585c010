// Proves that the run can fail: a mutant that nothing catches, one whose behaviours do not all
// notice, one that more notice than it says, a wrong word about the baseline and a behaviour
// without a mutant each end it with 1, and are named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { allChecks } from '../../behaviours/index.ts';
import { codeShownAs } from '../../harness/testing/tamperings.ts';
import type { Mutant } from './mutant.ts';
import { inFront } from './testing/front.ts';
import { runMutants } from './run.ts';

const right: Mutant = {
  name: 'right-provider',
  wrong: 'Nothing.',
  story: 'It is the control.',
  caughtBy: ['B208', 'B215'],
  isSeenByBaseline: false,
  make: () => ({}),
};

/** Caught by exactly B215 of these checks, and by the baseline. */
const wrong: Mutant = {
  ...right,
  name: 'wrong-provider',
  caughtBy: ['B215'],
  isSeenByBaseline: true,
  make: () => inFront(() => codeShownAs(['delete'], 'NOT_FOUND', 'INTERNAL')),
};

const checks = allChecks.filter(({ id }) => ['B207', 'B208', 'B215'].includes(id));

async function run(
  mutants: readonly Mutant[],
  options: { readonly isWhole?: boolean; readonly isAgainstAll?: boolean } = {},
): Promise<{ readonly exit: number; readonly lines: readonly string[] }> {
  let text = '';
  const stdout = {
    write: (part: string) => {
      text += part;
    },
    isTerminal: false,
    columns: 80,
  };
  const { signal } = new AbortController();
  const exit = await runMutants(
    { mutants, isWhole: false, isAgainstAll: false, ...options },
    { checks, stdout, signal },
  );
  return { exit, lines: text.trimEnd().split('\n') };
}

test('a mutant that is caught as the registry says', async () => {
  const { exit, lines } = await run([wrong], { isAgainstAll: true });
  assert.equal(exit, 0);
  assert.match(lines[1] ?? '', /^wrong-provider +notices +FAILED +B215$/);
  assert.equal(lines.at(-1), '1 mutants caught, 1 behaviours exercised, 0 survived');
});

test('a survivor', async () => {
  const { exit, lines } = await run([right]);
  assert.equal(exit, 1);
  assert.match(lines[1] ?? '', /^right-provider +silent +INCOMPLETE +SURVIVED$/);
  assert.ok(lines.includes('right-provider: B208 passed, but claims to catch it'));
  assert.ok(lines.includes('right-provider: the verdict is INCOMPLETE'));
  assert.equal(lines.at(-1), '0 mutants caught, 0 behaviours exercised, 1 survived');
});

for (const [what, mutant, problem] of [
  ['a behaviour that does not notice', { caughtBy: ['B208', 'B215'] }, 'B208 passed, but claims'],
  ['one that notices unnamed', { caughtBy: ['B207'] }, 'B215 catches it too'],
  ['a wrong word about the baseline', { isSeenByBaseline: false }, 'DeleteUnknownMachine'],
] as const) {
  test(what, async () => {
    const { exit, lines } = await run([{ ...wrong, ...mutant }], { isAgainstAll: true });
    assert.equal(exit, 1);
    assert.ok(
      lines.some((line) => line.startsWith('wrong-provider: ') && line.includes(problem)),
      lines.join('\n'),
    );
  });
}

test('a behaviour that catches nothing, when all mutants ran', async () => {
  const { exit, lines } = await run([wrong], { isWhole: true });
  assert.equal(exit, 1);
  assert.equal(lines.filter((line) => /^B\d+ catches no mutant: /.test(line)).length, 92);
});

test('an interrupted run ends with the reason', async () => {
  const signal = AbortSignal.abort(new BigFleetError('cancelled', 'interrupted'));
  const stdout = { write: () => {}, isTerminal: false, columns: 80 };
  const options = { mutants: [wrong], isWhole: false, isAgainstAll: false };
  await assert.rejects(runMutants(options, { checks, stdout, signal }), { code: 'cancelled' });
});
