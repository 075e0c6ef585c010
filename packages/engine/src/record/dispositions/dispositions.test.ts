// Proves that dispositions come back as they were written, that each action is found in them as a
// naive list has it, and that damaged and forged bytes are refused with the tagged error, whole.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import fc from 'fast-check';
import { checksum, RecordError } from '../sealed-bytes.ts';
import { decodeRecord } from '../decode.ts';
import { decodeDispositions, isDispositions } from './decode.ts';
import { encodeDispositions } from './encode.ts';
import {
  type CycleDispositions,
  DISPOSITION_CODES,
  type DispositionCode,
  type DispositionRun,
} from './format.ts';
import { dispositionAt, unnamedActionCount } from './lookup.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 20_261_115);
const CHECKSUM_BYTES = 4;

type Fate = DispositionCode | undefined;

const fates: fc.Arbitrary<Fate[]> = fc.array(
  fc.option(fc.constantFrom(...DISPOSITION_CODES), { nil: undefined }),
  { maxLength: 60 },
);

/** Runs of a list of fates, the slow way; of them the first `kept`. */
function written(list: readonly Fate[], kept = Number.POSITIVE_INFINITY): CycleDispositions {
  const runs: DispositionRun[] = [];
  const counts = new Map<DispositionCode, number>();
  for (const [place, code] of list.entries()) {
    if (code === undefined) continue;
    counts.set(code, (counts.get(code) ?? 0) + 1);
    const last = runs.at(-1);
    if (last?.code === code && last.first + last.count === place) {
      runs[runs.length - 1] = { ...last, count: last.count + 1 };
    } else runs.push({ first: place, count: 1, code });
  }
  return {
    cycle: 1204,
    reclaimCapFraction: 0.05,
    maxActionsPerCycle: 100,
    actionCount: list.length,
    counts,
    runs: runs.slice(0, kept),
    rollups: [],
    unnamedRollupCount: 0,
  };
}

function decoded(bytes: Uint8Array): CycleDispositions {
  const result = decodeDispositions(bytes);
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  return result.value;
}

test(`every cycle comes back, and each action with its fate (seed ${seed})`, () => {
  const rollups = fc.array(
    fc.record(
      {
        cluster: fc.string({ unit: 'grapheme' }),
        code: fc.string(),
        count: fc.nat(),
        detail: fc.string({ unit: 'grapheme', maxLength: 300 }),
      },
      { noNullPrototype: true },
    ),
    { maxLength: 5 },
  );
  const numbers = fc.record({
    cycle: fc.maxSafeNat(),
    reclaimCapFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    maxActionsPerCycle: fc.nat(),
    unnamedRollupCount: fc.nat(),
  });
  fc.assert(
    fc.property(fates, rollups, numbers, (list, refused, given) => {
      const facts = { ...written(list), ...given, rollups: refused };
      const back = decoded(encodeDispositions(facts));
      assert.deepEqual(back, facts);
      assert.deepEqual(
        list.map((_, place) => dispositionAt(back, place)),
        list,
      );
    }),
    { seed, numRuns: 500 },
  );
});

test(`what the bound left off is counted, and never taken for handed over (seed ${seed})`, () => {
  fc.assert(
    fc.property(fates, fc.nat(6), (list, kept) => {
      const back = decoded(encodeDispositions(written(list, kept)));
      const { runs } = back;
      const last = runs.at(-1);
      const namedTo = last === undefined ? 0 : last.first + last.count;
      const isCut = unnamedActionCount(back) > 0;
      assert.equal(
        isCut,
        list.slice(namedTo).some((code) => code !== undefined),
      );
      for (const [place, code] of list.entries()) {
        const expected = isCut && place >= namedTo ? 'unnamed' : code;
        assert.equal(dispositionAt(back, place), expected);
      }
    }),
    { seed, numRuns: 500 },
  );
});

const busy: Fate[] = [
  ...Array.from({ length: 300 }, (): Fate => 'deferred_reclaim_cap'),
  undefined,
  ...DISPOSITION_CODES,
  undefined,
];
const rollup = { cluster: 'blue', code: 'bad_quantity', count: 3, detail: 'needs[2].cpu "-1"' };
const bytes = encodeDispositions({ ...written(busy), rollups: [rollup], unnamedRollupCount: 2 });

test('half a million actions of one fate take a few bytes', () => {
  const many = { first: 0, count: 500_000, code: 'suppressed' } as const;
  const counts = new Map([[many.code, many.count]]);
  const facts = { ...written([]), actionCount: many.count, counts, runs: [many] };
  assert.ok(encodeDispositions(facts).length < 50);
});

test('one flipped bit, a lost end and a longer end are found', () => {
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const damaged = bytes.slice();
    damaged[bit >> 3] = damaged[bit >> 3]! ^ (1 << (bit & 7));
    assertRefused(damaged, `bit ${bit}`);
  }
  for (let length = 0; length < bytes.length; length++) {
    assertRefused(bytes.subarray(0, length), `${length} bytes`);
  }
  assertRefused(Uint8Array.of(...bytes, 0), 'one byte more');
});

test('garbage with a valid checksum is whole or refused, and never throws', () => {
  let readable = 0;
  let refused = 0;
  for (let at = 5; at < bytes.length - CHECKSUM_BYTES; at++) {
    for (let value = 0; value < 256; value++) {
      const forged = bytes.slice();
      forged[at] = value;
      if (isWhole(sealed(forged))) readable += 1;
      else refused += 1;
    }
  }
  assert.ok(readable > 0 && refused > 0);
});

test('random bytes behind a valid head never throw', () => {
  const random = createRandom('garbage dispositions');
  for (let run = 0; run < 3000; run++) {
    const forged = new Uint8Array(5 + random.below(120) + CHECKSUM_BYTES);
    for (let at = 0; at < forged.length; at++) {
      forged[at] = random.below(3) === 0 ? random.below(256) : random.below(4);
    }
    forged.set(bytes.subarray(0, 5));
    isWhole(sealed(forged));
  }
});

test('a record is no dispositions, dispositions are no record, another format says so', () => {
  assert.ok(isDispositions(bytes));
  const asRecord = decodeRecord(bytes);
  assert.match(asRecord.ok ? '' : asRecord.error.message, /not a decision record/);
  const foreign = sealed(Uint8Array.of(...bytes.subarray(0, 3), 0, ...bytes.subarray(4)));
  assert.equal(isDispositions(foreign), false);
  assert.equal(isDispositions(new Uint8Array(0)), false);
  assert.match(refusal(foreign), /no dispositions/);
  const later = bytes.slice();
  later[4] = 130;
  assert.match(refusal(sealed(later)), /unknown format of dispositions 130/);
});

const contradictions: readonly (readonly [string, Partial<CycleDispositions>, RegExp])[] = [
  ['a run behind the last action', { actionCount: 300 }, /a run leads nowhere/],
  ['runs that name more than was counted', { counts: new Map() }, /contradict/],
  ['more counted than there are', { counts: new Map([['dryrun', 1e6]]) }, /contradict/],
];
for (const [what, change, expected] of contradictions) {
  test(`refused: ${what}`, () => {
    assert.match(refusal(encodeDispositions({ ...written(busy), ...change })), expected);
  });
}

test('inside a larger buffer it reads the same', () => {
  const larger = new Uint8Array(bytes.length + 7);
  larger.set(bytes, 3);
  assert.deepEqual(decoded(larger.subarray(3, 3 + bytes.length)), decoded(bytes));
});

function assertRefused(damaged: Uint8Array, where: string): void {
  const result = decodeDispositions(damaged);
  assert.ok(!result.ok && result.error instanceof RecordError, where);
}

function refusal(damaged: Uint8Array): string {
  const result = decodeDispositions(damaged);
  assert.ok(!result.ok);
  return result.error.message;
}

/** With the checksum that fits. */
function sealed(content: Uint8Array): Uint8Array {
  const end = content.length - CHECKSUM_BYTES;
  new DataView(content.buffer).setUint32(end, checksum(content.subarray(0, end)), true);
  return content;
}

/** Read, and then consistent: every run within the actions, no more named than counted. */
function isWhole(forged: Uint8Array): boolean {
  const result = decodeDispositions(forged);
  if (!result.ok) {
    assert.ok(result.error instanceof RecordError);
    return false;
  }
  const { runs, actionCount } = result.value;
  let end = 0;
  for (const { first, count } of runs) {
    assert.ok(first >= end && count > 0);
    end = first + count;
  }
  assert.ok(end <= actionCount && unnamedActionCount(result.value) >= 0);
  return true;
}
