// Proves that state files of simpler stores load without loss, and become ours at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoreImage } from '../store.ts';
import { createJournalStore } from './journal-store.ts';
import { PATH, scriptedCommit, spelled, stillRuntime } from './testing/scripted-commits.ts';
import { SimulatedDisk } from './testing/simulated-disk.ts';

const ALL = { contents: 'all', entries: 'all' } as const;

function legacyMachine(id: string, more: object = {}): object {
  return {
    id,
    state: 'Configured',
    host: { provider: 'p', ref: `i-${id}` },
    instance_type: 'm6i.large',
    zone: 'a',
    capacity_type: 'OnDemand',
    price_per_hour: 0.096,
    interruption_probability: 0,
    cluster: 'c-1',
    shard_metadata: JSON.parse('{"__proto__":"kept","nul\\u0000":"\\ud83d\\ude00"}') as object,
    ...more,
  };
}

async function loaded(document: string): Promise<{ image: StoreImage; disk: SimulatedDisk }> {
  const disk = new SimulatedDisk(new Map([['state.json', Buffer.from(document)]]));
  const store = createJournalStore({ path: PATH, runtime: stillRuntime, files: disk.files });
  const image = await store.load();
  assert.ok(image !== undefined);
  await store.commit(scriptedCommit(0));
  return { image, disk };
}

test('one JSON document of any spacing is read, and rewritten as ours before the first commit', async () => {
  const document = {
    machines: [legacyMachine('m1'), legacyMachine('m2', { allocatable: { cpu: '2' } })],
    fences: [{ shard_id: 's', machine_id: 'm1', epoch: 3, sequence: '7' }],
    ops: [{ machine_id: 'm1', kind: 'configure', operation_id: 'op-1' }],
    rev: 12,
    next_op: 99,
  };
  const { image, disk } = await loaded(JSON.stringify(document, undefined, 2));
  assert.equal(image.revision, 12);
  assert.match(image.incarnation, /^[0-9a-f]{32}$/);
  const [first, second] = image.machines;
  assert.equal(first?.cluster, 'c-1');
  assert.deepEqual(
    first?.shardMetadata,
    new Map([
      ['__proto__', 'kept'],
      ['nul\0', '😀'],
    ]),
  );
  assert.deepEqual(second?.allocatable, new Map([['cpu', '2']]));
  assert.deepEqual(image.fences, [{ shardId: 's', machineId: 'm1', epoch: 3n, sequence: 7n }]);
  assert.deepEqual(image.operations, [{ machineId: 'm1', kind: 'configure', operationId: 'op-1' }]);
  const names = [...disk.state.after(ALL).keys()].toSorted();
  assert.deepEqual(names, ['state.json', 'state.json.journal.1']);
  const again = createJournalStore({
    path: PATH,
    runtime: stillRuntime,
    files: new SimulatedDisk(disk.state.after(ALL)).files,
  });
  const reloaded = await again.load();
  assert.equal(reloaded?.incarnation, image.incarnation, 'the incarnation is kept from now on');
  assert.equal(reloaded?.machines.length, 3, 'the commit after the upgrade is there');
});

test('marks written as numbers keep every digit', async () => {
  const { image } = await loaded(
    '{"fences":[{"shard_id":"s","machine_id":"m","epoch":9223372036854775807,' +
      '"sequence":-9223372036854775808}],"rev":1}',
  );
  const [mark] = image.fences;
  assert.deepEqual([mark?.epoch, mark?.sequence], [2n ** 63n - 1n, -(2n ** 63n)]);
});

test('marks per shard alone are dropped, in both of their layouts', async () => {
  for (const fences of [[{ shard_id: 's', epoch: 4, sequence: 9 }], { s: { epoch: 4 } }, null]) {
    const { image } = await loaded(JSON.stringify({ machines: [legacyMachine('m')], fences }));
    assert.deepEqual(image.fences, []);
    assert.equal(image.machines.length, 1);
  }
});

test('records are numbered uniquely, and keep their cursor only where it still means something', async () => {
  const cases: readonly (readonly [readonly number[], string, boolean])[] = [
    [[3, 5], 'inc', true],
    [[3, 3], 'inc', false],
    [[3, 9], 'inc', false],
    [[0, 5], 'inc', false],
    [[3, 5], '', false],
  ];
  for (const [revisions, incarnation, keeps] of cases) {
    const machines = revisions.map((modified_revision, index) =>
      legacyMachine(`m${index}`, { modified_revision }),
    );
    const { image } = await loaded(JSON.stringify({ machines, rev: 8, incarnation }));
    const found = image.machines.map(({ modifiedRevision }) => modifiedRevision);
    assert.equal(image.incarnation === incarnation, keeps, JSON.stringify(revisions));
    assert.deepEqual(found, keeps ? revisions : [1, 2]);
    assert.equal(image.revision, 8);
  }
});

test('what can not be understood is refused with its reason', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['[]', /not an object/],
    ['{"machines":{}}', /machines is not a list/],
    [JSON.stringify({ machines: [legacyMachine('m', { state: 'Busy' })] }), /unknown name "Busy"/],
    [
      JSON.stringify({ machines: [legacyMachine('m', { price_per_hour: null })] }),
      /price_per_hour/,
    ],
    [JSON.stringify({ machines: [legacyMachine('m'), legacyMachine('m')] }), /one id/],
    [JSON.stringify({ ops: [{ machine_id: 'm', kind: 'reboot', operation_id: 'x' }] }), /kind/],
    [JSON.stringify({ rev: 1.5 }), /rev is not a count/],
  ];
  for (const [document, expected] of cases) {
    const disk = new SimulatedDisk(new Map([['state.json', Buffer.from(document)]]));
    const store = createJournalStore({ path: PATH, runtime: stillRuntime, files: disk.files });
    await assert.rejects(store.load(), (error: Error) => {
      assert.match(error.message, expected);
      return 'code' in error && error.code === 'store_corrupt';
    });
    assert.equal(spelled(undefined), 'first boot');
    assert.deepEqual(
      [...disk.state.after(ALL).values()],
      [Buffer.from(document)],
      'left as it was',
    );
  }
});
