// Proves that a state too large for one turn of the event loop is decoded in several, is the same state,
// and is refused whole when one of its rows is not ours: a leader that cannot be heard while it loads
// would lose its lease, and after it the next one, for as long as the machine is slow.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { encodeLogical } from '../store/logical-snapshot.ts';
import { FleetState } from './fleet-state.ts';
import { keyOfRow } from './keys.ts';
import { encodeRow } from './row-format.ts';
import type { Meta, Table, TableRows, LoadedState, StoredRow } from './rows.ts';

const SHARDS = 3;
const DOMAINS = 5_000;
const META: Meta = {
  schema: 1,
  clusterUid: 'uid',
  term: 4n,
  applyIndex: SHARDS + DOMAINS,
  lastCommandId: 'last',
  assignmentRevision: 9,
  ledgerGeneration: 2,
};

function stored<T extends Table>(table: T, row: TableRows[T]): StoredRow {
  return { table, key: keyOfRow(table, row), value: encodeRow(table, row) };
}

const idOf = (at: number): string => `shard-${at % SHARDS}`;

function large(): LoadedState {
  const shards = Array.from({ length: SHARDS }, (_, at) =>
    stored('shards', {
      id: idOf(at),
      address: 'here:1',
      registeredAtMs: 1,
      uid: at + 1,
      maxEpoch: 1n,
    }),
  );
  const domains = Array.from({ length: DOMAINS }, (_, at) =>
    stored('domains', {
      key: 'rack',
      value: `r-${at}`,
      shardId: idOf(at),
      shardUid: (at % SHARDS) + 1,
      state: 'ASSIGNED',
      revision: 1,
    }),
  );
  // Owners last: no order of rows may matter.
  return { meta: META, rows: [...domains, ...shards] };
}

test('in several turns, and the same state', async () => {
  const loaded = large();
  let turnCount = 0;
  const state = await FleetState.load(loaded, async () => {
    turnCount += 1;
  });
  assert.equal(turnCount, 2, '5,003 rows, 2,000 at a time');
  assert.equal(encodeLogical(state), encodeLogical(new FleetState(loaded)));
  assert.deepEqual(state.meta, META);
});

test('a small state needs no turn', async () => {
  const state = await FleetState.load({ meta: META, rows: [] }, () =>
    Promise.reject(new Error('a turn')),
  );
  assert.deepEqual(state.meta, META);
});

test('one row that is not ours refuses all of it, wherever it is', async () => {
  const { rows } = large();
  for (const at of [0, 2_500, rows.length - 1]) {
    const damaged = rows.map((row, index) => (index === at ? { ...row, value: '{}' } : row));
    await assert.rejects(
      FleetState.load({ meta: META, rows: damaged }, () => Promise.resolve()),
      (error) => error instanceof BigFleetError && error.code === 'coordinator_row_malformed',
    );
  }
});
