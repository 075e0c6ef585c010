// Proves whose a machine is: each rule of coordinator §9.2 in its order, and that shards which read
// one ledger never both own a machine, nor leave one to nobody.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import type { MachineOverride, StoredAssignment } from './assignment.ts';
import { compareDomainKeys, type Ownership, OwnershipRules } from './ownership-rules.ts';
import { idle, override, sharedAt, stored } from './testing/builders.ts';
import { emptyBook, frozenIn, goneIn } from './transfer-book.ts';

const ADDRESS = 'alpha:9000';
const ZONE = 'topology.kubernetes.io/zone';
const RACK = 'topology.bigfleet/rack';
const REGION = 'topology.kubernetes.io/region';
const domain = (key: string, value: string, shardId = 's1') => ({ key, value, shardId });
const home = { ownsUnmatchedProviders: [ADDRESS] };
const machine = idle('m', {
  labels: new Map([
    [RACK, 'r1'],
    [REGION, 'eu'],
  ]),
});
const frozenBook = frozenIn(emptyBook, {
  transferId: 't9',
  peerShardId: 's2',
  machineIds: ['m'],
});

const cases: readonly (readonly [string, StoredAssignment, Ownership])[] = [
  ['without an assignment nothing shared is ours', stored(), 'not_mine'],
  ['the home owns what no domain matches', stored(home), 'mine'],
  ['another home does not', stored({ ownsUnmatchedProviders: ['beta:9000'] }), 'not_mine'],
  ['our domain', stored({ domains: [domain(ZONE, 'zone-a')] }), 'mine'],
  ['a domain of another value', stored({ domains: [domain(ZONE, 'zone-b')] }), 'not_mine'],
  [
    "another shard's domain beats the home",
    stored({ ...home, foreignDomains: [domain(ZONE, 'zone-a', 's2')] }),
    'not_mine',
  ],
  [
    'a rack beats a zone',
    stored({ domains: [domain(RACK, 'r1')], foreignDomains: [domain(ZONE, 'zone-a', 's2')] }),
    'mine',
  ],
  [
    'a zone beats a region',
    stored({ domains: [domain(REGION, 'eu')], foreignDomains: [domain(ZONE, 'zone-a', 's2')] }),
    'not_mine',
  ],
  [
    'a domain that we give up is neither ours nor yet another’s',
    stored({ ...home, releasing: [{ key: ZONE, value: 'zone-a', isEmpty: false }] }),
    'releasing',
  ],
  [
    'reported empty, it is not ours, until the ledger has closed it',
    stored({ ...home, releasing: [{ key: ZONE, value: 'zone-a', isEmpty: true }] }),
    'not_mine',
  ],
  [
    'adopted beats every domain',
    stored({ adopted: [override('m')], foreignDomains: [domain(RACK, 'r1', 's2')] }),
    'mine',
  ],
  [
    'released beats adopted, domain and home',
    stored({ ...home, released: [override('m')], domains: [domain(RACK, 'r1')] }),
    'not_mine',
  ],
];
for (const [name, assignment, expected] of cases) {
  test(name, () => {
    const rules = new OwnershipRules({ assignment, book: emptyBook, factsOf: sharedAt(ADDRESS) });
    assert.equal(rules.of(machine), expected);
  });
}

test('frozen is not to be acted on, whatever else is true, also before it is on disk', () => {
  const assignment = stored({ ...home, adopted: [override('m')] });
  const factsOf = sharedAt(ADDRESS);
  assert.equal(new OwnershipRules({ assignment, book: frozenBook, factsOf }).of(machine), 'frozen');
  const rules = new OwnershipRules({
    assignment,
    book: emptyBook,
    beingFrozen: ['m'],
    factsOf,
  });
  assert.equal(rules.of(machine), 'frozen');
});

test('a gone machine is adopted no more: domains and homes decide again', () => {
  const assignment = stored({ adopted: [override('m')] });
  const book = goneIn(emptyBook, [override('m')]);
  const rules = new OwnershipRules({ assignment, book, factsOf: sharedAt(ADDRESS) });
  assert.equal(rules.of(machine), 'not_mine');
});

test('a provider that nobody shares is wholly ours', () => {
  const factsOf = () => ({ address: ADDRESS, isShared: false });
  const assignment = stored({ foreignDomains: [domain(ZONE, 'zone-a', 's2')] });
  const rules = new OwnershipRules({ assignment, book: emptyBook, factsOf });
  assert.equal(rules.of(machine), 'mine');
});

test('keys are asked from the most specific on, others alphabetically', () => {
  const keys = ['z', REGION, 'a', ZONE, 'x/zone-slice', RACK];
  assert.deepEqual(keys.sort(compareDomainKeys), [RACK, 'x/zone-slice', ZONE, REGION, 'a', 'z']);
});

const SHARDS = ['s1', 's2', 's3'];

/** What a leader sends each shard out of one ledger. */
function assignmentsOf(
  domains: readonly { key: string; value: string; shardId: string }[],
  homeShard: string,
  overrides: ReadonlyMap<string, string>,
): Map<string, StoredAssignment> {
  return new Map(
    SHARDS.map((shard) => {
      const isMine = ({ shardId }: { shardId: string }): boolean => shardId === shard;
      const entries = [...overrides].map(([id, owner]) => [override(id), owner] as const);
      const pick = (want: boolean): MachineOverride[] =>
        entries.filter(([, owner]) => (owner === shard) === want).map(([entry]) => entry);
      return [
        shard,
        stored({
          domains: domains.filter(isMine),
          foreignDomains: domains.filter((entry) => !isMine(entry)),
          ownsUnmatchedProviders: shard === homeShard ? [ADDRESS] : [],
          adopted: pick(true),
          released: pick(false),
        }),
      ];
    }),
  );
}

test('of one ledger every machine has exactly one owner', () => {
  const shard = fc.constantFrom(...SHARDS);
  const key = fc.constantFrom(RACK, 'x/zone-slice', ZONE, REGION, 'row', 'pool');
  const value = fc.constantFrom('1', '2', '3');
  const row = fc.record({ key, value, shardId: shard });
  const domains = fc.uniqueArray(row, { selector: (d) => `${d.key}=${d.value}`, maxLength: 12 });
  const labels = fc.array(fc.tuple(key, value), { maxLength: 5 });
  const id = fc.constantFrom('m1', 'm2', 'm3');
  const overrides = fc.array(fc.tuple(id, shard), { maxLength: 3 });
  fc.assert(
    fc.property(domains, shard, overrides, id, labels, value, (d, h, o, machineId, l, zone) => {
      const candidate = idle(machineId, { labels: new Map(l), zone });
      const owners = [...assignmentsOf(d, h, new Map(o))].filter(([, assignment]) => {
        const rules = new OwnershipRules({
          assignment,
          book: emptyBook,
          factsOf: sharedAt(ADDRESS),
        });
        return rules.of(candidate) === 'mine';
      });
      assert.equal(owners.length, 1, owners.map(([name]) => name).join());
    }),
    { numRuns: 1_000 },
  );
});
