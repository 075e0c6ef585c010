// Proves that assignment.json and transfers.json come back as they were written, and that whatever
// else is in them is refused with a reason, never half understood and never thrown about.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import {
  formatAssignment,
  parseAssignment,
  formatTransfers,
  parseTransfers,
  sealed,
} from './ownership-files.ts';
import { override, stored } from './testing/builders.ts';
import { claimedIn, emptyBook, frozenIn, goneIn, releasedIn } from './transfer-book.ts';

const assignment = stored({
  revision: 2n ** 62n,
  generation: 3n,
  domains: [{ key: 'zone', value: 'a', shardId: 's1' }],
  foreignDomains: [{ key: 'zone', value: 'b', shardId: 's2' }],
  quotas: [{ provider: 'p', region: 'r', slice: 7 }],
  adopted: [override('m1')],
  released: [override('m2', 't2')],
  ownsUnmatchedProviders: ['h:1'],
  providers: [{ name: 'p', address: 'h:1', region: 'r', isShared: true }],
  releasing: [
    { key: 'zone', value: 'c', isEmpty: false },
    { key: 'zone', value: 'd', isEmpty: true },
  ],
  foldedOrder: 4,
});
const step = (transferId: string, machineIds: string[]) => ({
  transferId,
  peerShardId: 's2',
  machineIds,
  covered: new Map([['cpu', '8']]),
});
const book = goneIn(
  claimedIn(
    releasedIn(frozenIn(emptyBook, step('t1', ['a'])), step('t2', ['b'])),
    step('t3', ['c', 'd']),
  ),
  [override('d', 't3')],
);

test('what was written is read back', () => {
  assert.deepEqual(parseAssignment(formatAssignment(assignment)), { ok: true, value: assignment });
  assert.deepEqual(parseTransfers(formatTransfers(book)), { ok: true, value: book });
});

const problemOf = (result: Result<unknown, string>): string => (result.ok ? '' : result.error);
const changed = (text: string, change: (file: Record<string, unknown>) => void): string => {
  const { sha256: _, ...file } = JSON.parse(text) as Record<string, unknown>;
  change(file);
  return sealed(JSON.stringify(file));
};

const damage: readonly (readonly [string, RegExp])[] = [
  ['', /not JSON/],
  ['{', /not JSON/],
  ['[]', /not an object/],
  ['null', /not an object/],
  [changed(formatAssignment(assignment), (f) => (f['version'] = 2)), /version/],
  [changed(formatAssignment(assignment), (f) => (f['more'] = 1)), /unknown key more/],
  [changed(formatAssignment(assignment), (f) => delete f['domains']), /lacks domains/],
  [changed(formatAssignment(assignment), (f) => (f['revision'] = 7)), /revision/],
  [changed(formatAssignment(assignment), (f) => (f['revision'] = '-7')), /revision/],
  [
    changed(
      formatAssignment(assignment),
      (f) => (f['quotas'] = [{ provider: 'p', region: '', slice: -1 }]),
    ),
    /slice/,
  ],
  [changed(formatAssignment(assignment), (f) => (f['released'] = f['adopted'])), /two owners/],
  [
    changed(formatAssignment(assignment), (f) => (f['ownsUnmatchedProviders'] = ['h', 'h'])),
    /twice/,
  ],
];
for (const [text, problem] of damage) {
  test(`assignment.json is refused: ${problem.source} (${text.length} bytes)`, () => {
    assert.match(problemOf(parseAssignment(text)), problem);
  });
}

type Entries = Record<string, unknown>[];
const first = (file: Record<string, unknown>): Record<string, unknown> =>
  (file['records'] as Entries)[0] ?? {};
const twice = (file: Record<string, unknown>, key: string): Entries => {
  const entries = file[key] as Entries;
  return [...entries, ...entries];
};

const transferDamage: readonly (readonly [(file: Record<string, unknown>) => void, RegExp])[] = [
  [(f) => (f['lastOrder'] = 1), /out of order/],
  [(f) => (f['records'] = twice(f, 'records')), /is in it twice/],
  [(f) => (first(f)['state'] = 'thawed'), /no known state/],
  [(f) => (first(f)['machineIds'] = ['a', 'a']), /twice/],
  [(f) => (first(f)['covered'] = [['cpu']]), /pairs/],
  [(f) => (f['gone'] = twice(f, 'gone')), /gone twice/],
];
for (const [change, problem] of transferDamage) {
  test(`transfers.json is refused: ${problem.source}`, () => {
    assert.match(problemOf(parseTransfers(changed(formatTransfers(book), change))), problem);
  });
}

test('a file that is well-formed and says something else is refused by its checksum', () => {
  const text = formatTransfers(book);
  const thawed = text.replace('"state":"frozen"', '"state":"released"');
  assert.match(problemOf(parseTransfers(thawed)), /checksum/);
});

test('no damage to a file throws, and none that is accepted loses a freeze', () => {
  const texts = [formatAssignment(assignment), formatTransfers(book)] as const;
  fc.assert(
    fc.property(
      fc.nat(1),
      fc.nat(2_000),
      fc.nat(20),
      fc.string({ maxLength: 8 }),
      (which, at, cut, insert) => {
        const text = texts[which] as string;
        const from = at % text.length;
        const broken = text.slice(0, from) + insert + text.slice(from + cut);
        const read = parseTransfers(which === 1 ? broken : texts[1]);
        parseAssignment(which === 0 ? broken : texts[0]);
        if (!read.ok) return;
        assert.equal(
          [...read.value.records.values()].filter((r) => r.state === 'frozen').length,
          1,
        );
      },
    ),
    { numRuns: 3_000 },
  );
});
