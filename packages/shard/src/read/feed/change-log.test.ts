// Proves that the shared log keeps what it may and no more, by count and by bytes, that a frame is
// encoded once for all who see the same, and that merged deltas say what the single ones said.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encodeInit, WatchFrameSchema, WatchRequestSchema } from '@bigfleet/wire';
import { ChangeLog } from './change-log.ts';
import { type CycleChanges, mergeChanges } from './cycle-changes.ts';
import { decodeCursor } from './frames.ts';
import { Selection } from './selection.ts';

function changesOf(cycle: number, more: Partial<CycleChanges> = {}): CycleChanges {
  return {
    cycle,
    atUnixNanos: BigInt(cycle),
    actions: {},
    shortfallCount: 0,
    dollarsPerHour: 0,
    machines: [],
    needs: [],
    records: [],
    rowBytes: 0,
    ...more,
  };
}

function wanting(machines: boolean, clusterIds: string[] = []): Selection {
  const bytes = encodeInit(WatchRequestSchema, { machines, clusterIds });
  return new Selection(decode(WatchRequestSchema, bytes, 'INTERNAL'));
}

test('256 deltas are kept, and the base moves behind them', () => {
  const log = new ChangeLog(7n);
  log.restart(10);
  assert.deepEqual([log.holds(9), log.holds(10), log.holds(11)], [false, true, false]);
  for (let cycle = 11; cycle <= 10 + 256; cycle++) log.append(changesOf(cycle));
  assert.equal(log.since(10)?.length, 256);
  log.append(changesOf(267));
  assert.equal(log.since(10), undefined);
  assert.equal(log.since(11)?.length, 256);
  assert.equal(log.since(267)?.length, 0);
});

test('64 MiB are kept, also when a single cycle is as large', () => {
  const log = new ChangeLog(7n);
  const megabytes = (count: number): Partial<CycleChanges> => ({ rowBytes: count << 20 });
  for (let cycle = 1; cycle <= 4; cycle++) log.append(changesOf(cycle, megabytes(20)));
  assert.equal(log.since(0), undefined);
  assert.equal(log.since(1)?.length, 3);
  log.append(changesOf(5, megabytes(65)));
  assert.equal(log.deltaCount, 0);
  assert.equal(log.since(4), undefined);
  assert.equal(log.since(5)?.length, 0);
});

test('how far behind counts records only for who reads them', () => {
  const log = new ChangeLog(7n);
  log.append(changesOf(1, { rowBytes: 10, records: [new Uint8Array(5)] }));
  log.append(changesOf(2, { rowBytes: 100 }));
  assert.deepEqual(log.behind(0, false), { deltaCount: 2, bytes: 110 });
  assert.deepEqual(log.behind(0, true), { deltaCount: 2, bytes: 115 });
  assert.deepEqual(log.behind(1, true), { deltaCount: 1, bytes: 100 });
});

test('who sees the same gets the same bytes, encoded once', () => {
  const log = new ChangeLog(7n);
  const changes = changesOf(1, { machines: [{ id: 'gone', cluster: '', bytes: undefined }] });
  log.append(changes);
  const frame = log.frameOf(changes, wanting(true));
  assert.equal(log.frameOf(changes, wanting(true)), frame);
  assert.notEqual(log.frameOf(changes, wanting(false)), frame);
  const { frame: read, cursor } = decode(WatchFrameSchema, frame, 'INTERNAL');
  assert.ok(read.case === 'delta');
  assert.deepEqual(read.value.machinesRemoved, ['gone']);
  assert.deepEqual(decodeCursor(cursor), { epoch: 7n, cycle: 1, rows: 1 });
  const filtered = wanting(true, ['blue']);
  assert.notEqual(log.frameOf(changes, filtered), log.frameOf(changes, filtered));
});

test('a merged delta has the last word about each row, and all actions and records', () => {
  const bytes = (value: number): Uint8Array => Uint8Array.of(value);
  const ref = { cluster: 'blue', fingerprint: 'f', group: '' };
  const merged = mergeChanges([
    changesOf(1, {
      machines: [
        { id: 'a', cluster: '', bytes: bytes(1) },
        { id: 'b', cluster: '', bytes: bytes(2) },
      ],
      needs: [{ ref, bytes: bytes(3) }],
      actions: { Bootstrap: 2 },
      records: [bytes(9)],
    }),
    changesOf(2, {
      machines: [{ id: 'a', cluster: '', bytes: undefined }],
      needs: [{ ref, bytes: undefined }],
      actions: { Bootstrap: 1, Reclaim: 4 },
      records: [bytes(8)],
      shortfallCount: 3,
    }),
  ]);
  assert.equal(merged?.cycle, 2);
  assert.equal(merged.shortfallCount, 3);
  assert.deepEqual(
    merged.machines.map(({ id, bytes: row }) => [id, row?.[0]]),
    [
      ['a', undefined],
      ['b', 2],
    ],
  );
  assert.deepEqual(merged.needs, [{ ref, bytes: undefined }]);
  assert.deepEqual(merged.actions, { Bootstrap: 3, Reclaim: 4 });
  assert.deepEqual(merged.records, [bytes(9), bytes(8)]);
});
