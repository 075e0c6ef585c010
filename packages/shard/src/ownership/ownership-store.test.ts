// Proves that ownership survives: each step is on disk before it counts, a crash at any write leaves
// either the step or its absence, repeating it ends the same, and damage refuses the start.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { openOwnershipStore, type OwnershipStore } from './ownership-store.ts';
import { CrashDisk } from './testing/crash-disk.ts';
import { ProviderDirectory } from './provider-directory.ts';
import { idle, incoming, override } from './testing/builders.ts';
import { cancelledIn, goneIn, retiredIn } from './transfer-book.ts';

const ADDRESS = 'alpha:9000';
const HOME = { ownsUnmatchedProviders: [ADDRESS] };
const step = (transferId: string, ...machineIds: string[]) => ({
  transferId,
  peerShardId: 's2',
  machineIds,
});

function open(disk: CrashDisk, isShared = true): Promise<OwnershipStore> {
  return openOwnershipStore({
    files: { assignment: disk.file('assignment.json'), transfers: disk.file('transfers.json') },
    directory: new ProviderDirectory([
      ['alpha', { address: ADDRESS, source: 'flag', isShared, region: '', isRetiring: false }],
    ]),
  });
}
const owner = ({ rules }: OwnershipStore, id: string): string => rules.of(idle(id));

test('an assignment is in force and reported only when it is on disk', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  disk.writesLeft = 1; // transfers.json, and then the disk is gone
  await assert.rejects(store.apply(incoming({ ...HOME, revision: 7n })), /cannot be written/);
  assert.deepEqual([store.revision, owner(store, 'm')], [0n, 'not_mine']);
  disk.writesLeft = 9;
  await store.apply(incoming({ ...HOME, revision: 7n }));
  assert.deepEqual([store.revision, owner(store, 'm')], [7n, 'mine']);
  const next = await open(disk.restarted());
  assert.deepEqual([next.revision, owner(next, 'm')], [7n, 'mine']);
});

test('without a shared provider nothing is written, and everything is ours', async () => {
  const disk = new CrashDisk();
  const store = await open(disk, false);
  await store.apply(incoming({ revision: 3n, quotas: [{ provider: 'a', region: '', slice: 1 }] }));
  assert.deepEqual(disk.writes, []);
  assert.deepEqual([store.revision, store.assignment.quotas.length], [3n, 1]);
  assert.equal(owner(store, 'm'), 'mine');
});

test('what is not authoritative is not reported as applied: it is to be sent again', async () => {
  const store = await open(new CrashDisk());
  await store.apply(incoming({ ...HOME, revision: 7n }));
  await store.apply(incoming({ revision: 9n, generation: 2n, isComplete: false }));
  assert.deepEqual([store.revision, owner(store, 'm')], [0n, 'mine']);
  await store.apply(incoming({ revision: 9n, generation: 2n }));
  assert.deepEqual([store.revision, owner(store, 'm')], [9n, 'not_mine']);
});

test('a freeze holds from the first moment, and not at all when it cannot be kept', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming(HOME));
  const frozen = store.freeze(step('t1', 'm'));
  assert.equal(owner(store, 'm'), 'frozen', 'before the disk answered');
  await frozen;
  assert.equal(owner(await open(disk.restarted()), 'm'), 'frozen', 'no time limit, no forgetting');
  disk.writesLeft = 0;
  await assert.rejects(store.freeze(step('t2', 'n')), /cannot be written/);
  assert.deepEqual([owner(store, 'n'), owner(store, 'm')], ['mine', 'frozen']);
});

test('a machine that is gone is not ours from the first moment, and ours again when it cannot be kept', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming({ adopted: [override('m'), override('n')] }));
  const lost = store.lose([override('m')]);
  assert.deepEqual([owner(store, 'm'), owner(store, 'n')], ['not_mine', 'mine']);
  await lost;
  assert.deepEqual([...store.book.gone.keys()], ['m']);
  disk.writesLeft = 0;
  await assert.rejects(store.lose([override('n')]), /cannot be written/);
  assert.deepEqual([owner(store, 'm'), owner(store, 'n')], ['not_mine', 'mine']);
});

test('after a step by instruction the assignment is asked for again, also by the next process', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming({ ...HOME, revision: 7n }));
  await store.freeze(step('t1', 'm'));
  assert.equal(store.revision, 7n);
  await store.release(step('t1', 'm'));
  assert.deepEqual([store.revision, owner(store, 'm')], [6n, 'not_mine']);
  assert.equal((await open(disk.restarted())).revision, 6n);
  await store.apply(incoming({ ...HOME, revision: 7n }));
  assert.deepEqual([store.revision, owner(store, 'm')], [7n, 'mine'], 'nobody has it any more');
});

test('CANCEL frees only when it is on disk', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming(HOME));
  await store.freeze(step('t1', 'm'));
  disk.writesLeft = 0;
  const cancel = (): Promise<void> => store.note((book) => cancelledIn(book, 't1'), ['m']);
  await assert.rejects(cancel(), /cannot be written/);
  assert.equal(owner(store, 'm'), 'frozen');
  disk.writesLeft = 9;
  await cancel();
  assert.equal(owner(store, 'm'), 'mine');
});

test('a donor that never hears RELEASE learns it from its assignment', async () => {
  const store = await open(new CrashDisk());
  await store.apply(incoming(HOME));
  await store.freeze(step('t1', 'm'));
  await store.apply(incoming({ ...HOME, revision: 2n, released: [override('m', 't1', 's2')] }));
  assert.equal(owner(store, 'm'), 'not_mine');
  assert.equal(store.book.records.get('t1')?.state, 'released');
});

test('a frozen machine stays frozen when an assignment does not speak of it', async () => {
  const store = await open(new CrashDisk());
  await store.apply(incoming(HOME));
  await store.freeze(step('t1', 'm'));
  await store.apply(incoming({ ...HOME, revision: 2n }));
  assert.equal(owner(store, 'm'), 'frozen');
});

test('a recipient that learns of a machine from its assignment says CLAIMED, once', async () => {
  const store = await open(new CrashDisk());
  await store.apply(incoming({ adopted: [override('m', 't1', 's2')] }));
  assert.equal(owner(store, 'm'), 'mine');
  assert.equal(store.book.records.get('t1')?.state, 'claimed');
  await store.note((book) => retiredIn(book, ['t1']));
  await store.apply(incoming({ revision: 2n, adopted: [override('m', 't1', 's2')] }));
  assert.equal(store.book.records.size, 0, 'retired is not claimed again');
  assert.equal(owner(store, 'm'), 'mine', 'and is ours all the same');
});

test('there and back again: the later transfer counts', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming(HOME));
  await store.freeze(step('t1', 'm'));
  await store.release(step('t1', 'm'));
  assert.equal(owner(store, 'm'), 'not_mine');
  await store.claim(step('t2', 'm'));
  assert.equal(owner(store, 'm'), 'mine');
  assert.equal(owner(await open(disk.restarted()), 'm'), 'mine');
});

test('neither an adopted nor a released machine moves on the word of a ledger that recovers', async () => {
  const store = await open(new CrashDisk());
  await store.apply(
    incoming({ ...HOME, adopted: [override('in', 't1')], released: [override('out', 't2')] }),
  );
  const older = { adopted: [override('out', 't0')], released: [override('in', 't0')] };
  await store.apply(incoming({ ...older, generation: 2n, isComplete: false }));
  await store.apply(incoming({ ...older, generation: 0n, revision: 99n }));
  assert.deepEqual([owner(store, 'in'), owner(store, 'out')], ['mine', 'not_mine']);
});

test('gone machines are forgotten when the ledger clears them', async () => {
  const store = await open(new CrashDisk());
  await store.apply(incoming({ adopted: [override('m', 't1')] }));
  await store.note((book) => goneIn(book, [override('m', 't1')]));
  assert.equal(owner(store, 'm'), 'not_mine');
  await store.apply(incoming({ revision: 2n }));
  assert.equal(store.book.gone.size, 0);
});

test('transfers.json is always written first; alone missing, nothing is owned', async () => {
  const disk = new CrashDisk();
  const store = await open(disk);
  await store.apply(incoming({ ...HOME, revision: 5n }));
  assert.deepEqual(disk.writes, ['transfers.json', 'assignment.json']);
  disk.contents.delete('transfers.json');
  const next = await open(disk.restarted());
  assert.deepEqual([owner(next, 'm'), next.revision], ['not_mine', 0n]);
});

for (const [name, code] of [
  ['transfers.json', 'transfers_file_corrupt'],
  ['assignment.json', 'assignment_file_corrupt'],
] as const) {
  test(`damage to ${name} refuses the start`, async () => {
    const disk = new CrashDisk();
    await (await open(disk)).apply(incoming(HOME));
    disk.contents.set(name, `${disk.contents.get(name)}x`);
    await assert.rejects(open(disk.restarted()), (error) => {
      assert.ok(error instanceof BigFleetError);
      assert.equal(error.code, code);
      return true;
    });
  });
}

// A transfer as donor and one as recipient, each step repeated until it is through, as redelivery
// does, with the process dying at each of its writes.
const script: readonly ((store: OwnershipStore) => Promise<void>)[] = [
  (store) => store.apply(incoming(HOME)),
  (store) => (store.book.records.has('t1') ? Promise.resolve() : store.freeze(step('t1', 'm'))),
  (store) => store.release(step('t1', 'm')),
  (store) => store.claim(step('t2', 'n', 'o')),
  (store) => store.note((book) => goneIn(book, [override('o', 't2')])),
];
const expected: readonly (readonly [string, string, string])[] = [
  ['mine', 'not_mine', 'not_mine'],
  ['frozen', 'not_mine', 'not_mine'],
  ['not_mine', 'not_mine', 'not_mine'],
  ['not_mine', 'mine', 'mine'],
  ['not_mine', 'mine', 'not_mine'],
];
const owners = (store: OwnershipStore): string[] =>
  // Adopted machines are elsewhere by their domain: only the override makes them ours.
  ['m', 'n', 'o'].map((id) => store.rules.of(idle(id, { zone: id === 'm' ? 'zone-a' : 'far' })));

test('a crash at any write of any step leaves the step or its absence, never something else', async () => {
  let crashes = 0;
  for (const [at, run] of script.entries()) {
    for (const isLastWriteKept of [false, true]) {
      for (let writesLeft = 0; writesLeft < 2; writesLeft++) {
        const disk = new CrashDisk();
        const before = await open(disk);
        await before.apply(
          incoming({
            ...HOME,
            revision: 0n,
            foreignDomains: [{ key: 'topology.kubernetes.io/zone', value: 'far', shardId: 's2' }],
          }),
        );
        const keepFar = before.assignment.foreignDomains;
        for (const earlier of script.slice(1, at)) await earlier(before);
        disk.writesLeft = writesLeft;
        disk.isLastWriteKept = isLastWriteKept;
        const work =
          at === 0 ? before.apply(incoming({ ...HOME, foreignDomains: keepFar })) : run(before);
        const failed = await work.then(
          () => false,
          () => true,
        );
        if (failed) crashes += 1;
        const after = await open(disk.restarted());
        const found = owners(after);
        const legal = [expected[Math.max(0, at - 1)], expected[at]];
        assert.ok(
          legal.some((owned) => owned !== undefined && owned.join() === found.join()),
          `step ${at}, ${writesLeft} writes, kept ${isLastWriteKept}: ${found.join()}`,
        );
        if (!failed) assert.deepEqual(found, expected[at], 'what resolved is durable');
        if (at > 0) await run(after);
        assert.deepEqual(owners(after), expected[at], 'repeated, it ends the same');
      }
    }
  }
  assert.ok(crashes >= 10, `only ${crashes} crashes`);
});
