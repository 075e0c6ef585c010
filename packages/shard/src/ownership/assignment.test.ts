// Proves how assignments follow one another: a complete one replaces everything, any other moves no
// ownership at all, and a domain that is given up stays marked until the ledger has closed it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  extendAssignment,
  isAuthoritative,
  replaceAssignment,
  withDomain,
  withoutDomain,
  withQuota,
} from './assignment.ts';
import { incoming, override, stored } from './testing/builders.ts';

const D = { key: 'zone', value: 'a', shardId: 's1' };
const target = (name: string, address = 'h:1') => ({ name, address, region: '', isShared: true });
const open = { key: 'zone', value: 'a', isEmpty: false };

const verdicts: readonly (readonly [string, Parameters<typeof isAuthoritative>, boolean])[] = [
  ['the first', [stored(), incoming()], true],
  [
    'a newer revision',
    [stored({ revision: 4n, generation: 1n }), incoming({ revision: 5n })],
    true,
  ],
  ['the same again', [stored({ revision: 4n, generation: 1n }), incoming({ revision: 4n })], true],
  [
    'a lower revision: the leader holds something back',
    [stored({ revision: 4n, generation: 1n }), incoming({ revision: 3n })],
    true,
  ],
  ['incomplete', [stored(), incoming({ isComplete: false })], false],
  ['an older generation', [stored({ generation: 2n }), incoming({ revision: 99n })], false],
  [
    'a newer generation restarts the revisions',
    [stored({ revision: 9n, generation: 1n }), incoming({ revision: 2n, generation: 2n })],
    true,
  ],
  [
    'a newer generation that recovers',
    [stored({ generation: 1n }), incoming({ generation: 2n, isComplete: false })],
    false,
  ],
];
for (const [name, args, expected] of verdicts) {
  test(`${name}: ${expected ? 'replaces' : 'moves nothing'}`, () => {
    assert.equal(isAuthoritative(...args), expected);
  });
}

test('an assignment that is not authoritative neither takes nor gives', () => {
  const before = stored({
    revision: 7n,
    generation: 2n,
    domains: [D],
    adopted: [override('kept')],
    released: [override('given')],
    ownsUnmatchedProviders: ['h:1'],
    quotas: [{ provider: 'p', region: 'r', slice: 5 }],
    providers: [target('p')],
  });
  const after = extendAssignment(
    before,
    incoming({
      isComplete: false,
      generation: 3n,
      revision: 1n,
      domains: [{ key: 'zone', value: 'b', shardId: 's1' }],
      foreignDomains: [D],
      adopted: [override('given'), override('new')],
      ownsUnmatchedProviders: ['h:2'],
      quotas: [
        { provider: 'p', region: 'r', slice: 99 },
        { provider: 'q', region: 'r', slice: 3 },
      ],
      providers: [target('p', 'elsewhere:1'), target('q')],
    }),
  );
  const { quotas, providers, ...ownership } = after;
  const { quotas: _, providers: __, ...unchanged } = before;
  assert.deepEqual(ownership, unchanged);
  assert.deepEqual(
    quotas.map(({ provider, slice }) => [provider, slice]),
    [
      ['p', 5],
      ['q', 3],
    ],
  );
  assert.deepEqual(
    providers.map(({ name, address }) => [name, address]),
    [
      ['p', 'h:1'],
      ['q', 'h:1'],
    ],
  );
});

test('a complete one replaces everything, and what it takes of our domains is being released', () => {
  const before = stored({ domains: [D], adopted: [override('m')], revision: 1n, generation: 1n });
  const after = replaceAssignment(before, incoming({ revision: 2n }), 3);
  assert.deepEqual(after.domains, []);
  assert.deepEqual(after.adopted, []);
  assert.deepEqual(after.releasing, [open]);
  assert.equal(after.foldedOrder, 3);
});

const endings: readonly (readonly [string, boolean, Parameters<typeof incoming>[0], boolean])[] = [
  [
    'while machines are held it stays, also when another shard has it',
    false,
    { revision: 9n, foreignDomains: [D] },
    true,
  ],
  ['once it is empty, the next assignment ends it', true, { revision: 5n }, false],
  ['also one that gives it to another', true, { revision: 6n, foreignDomains: [D] }, false],
  ['given back, it is ours again', false, { revision: 6n, domains: [D] }, false],
];
for (const [name, isEmpty, parts, stays] of endings) {
  test(`release of a domain: ${name}`, () => {
    const before = stored({ releasing: [{ ...open, isEmpty }] });
    const after = replaceAssignment(before, incoming(parts), 0);
    assert.equal(after.releasing.length === 1, stays);
  });
}

test('instructions change domains and slices idempotently', () => {
  const once = withDomain(stored({ releasing: [open], foreignDomains: [D] }), D);
  assert.deepEqual([once.domains, once.releasing, once.foreignDomains], [[D], [], []]);
  assert.deepEqual(withDomain(once, D), once);
  const gone = withoutDomain(once, D);
  assert.deepEqual([gone.domains, gone.releasing], [[], [open]]);
  assert.equal(withoutDomain(gone, D), gone);
  const slice = { provider: 'p', region: 'r', slice: 1 };
  const capped = withQuota(withQuota(stored(), slice), { ...slice, slice: 2 });
  assert.deepEqual(capped.quotas, [{ ...slice, slice: 2 }]);
});
