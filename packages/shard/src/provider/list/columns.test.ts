// Proves that a decoded List crosses threads without being copied, and reads the same afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeInit, MachineListSchema } from '@bigfleet/wire';
import { ListColumns, type ListData, transferables } from './columns.ts';
import { decodeMachineList } from './decode-list.ts';
import { rowOf } from './testing/judge.ts';

const machines = Array.from({ length: 200 }, (_, index) => ({
  id: `m-${index}`,
  cluster: `c-${index % 7}`,
  labels: { zone: `z-${index % 3}`, é: '😀' },
  shardMetadata: { k: String(index) },
  host: { provider: 'p', ref: `h-${index}` },
  pricePerHour: index / 3,
}));

function columnsOf(bytes: Uint8Array): ListColumns {
  return decodeMachineList(bytes);
}

function everything(columns: ListColumns): unknown[] {
  const rows = Array.from({ length: columns.rowCount }, (_, row) => rowOf(columns, row));
  return [rows, columns.rowOf('m-9'), columns.rowOf('ghost'), [...columns.data.revision]];
}

test('a transferred List reads the same, and its buffers moved', () => {
  const encoded = encodeInit(MachineListSchema, { machines, revision: Uint8Array.of(1, 2) });
  // Of its own buffer, and as a piece of a shared one.
  const shared = Buffer.concat([Buffer.alloc(100), encoded]).subarray(100);
  for (const bytes of [Uint8Array.from(encoded), shared]) {
    const columns = columnsOf(bytes);
    const before = everything(columns);
    const transfer = transferables(columns.data);
    const moved = structuredClone<ListData>(columns.data, { transfer });
    assert.deepEqual(everything(new ListColumns(moved)), before);
    assert.equal(columns.data.rows.state.length, 0, 'handed over');
    assert.equal(bytes.length === 0, bytes !== shared, 'a shared buffer is not ours to give');
  }
});
