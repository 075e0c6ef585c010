// Proves that scans in a thread answer as scans inline do, take the buffers instead of copying them,
// and survive the loss of the thread.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { ListColumns } from '../list/columns.ts';
import { encodeRecords, record } from '../reconcile/testing/world.ts';
import { noMarks, type ScanAnswer, type ScanOrder } from './list-scans.ts';
import { createInlineScans } from './scanner.ts';
import { WorkerScans } from './worker-scans.ts';

const COUNT = 2_000;

function orderOf(state: number, changes: Partial<ScanOrder> = {}): ScanOrder {
  const machines = Array.from({ length: COUNT }, (_, index) =>
    record(`machine-${index}`, index === 7 ? state : State.Idle),
  );
  const bytes = Uint8Array.from(encodeRecords(...machines));
  return { provider: 'p', bytes, isFull: true, ...noMarks, ...changes };
}

async function withScans(
  body: (scans: WorkerScans, lost: readonly BigFleetError[]) => Promise<void>,
): Promise<void> {
  const lost: BigFleetError[] = [];
  const scans = new WorkerScans({ runtime: realRuntime(), onLost: (error) => lost.push(error) });
  try {
    await body(scans, lost);
  } finally {
    await scans.close();
  }
}

function plain(answer: ScanAnswer): unknown {
  if (answer.kind === 'malformed') return answer;
  const columns = new ListColumns(answer.data);
  const ids = Array.from({ length: columns.rowCount }, (_, row) => columns.id(row));
  return { ids, rows: [...answer.rows], absent: answer.absent };
}

test('the same answers as inline, List after List', async () => {
  await withScans(async (scans, lost) => {
    const inline = createInlineScans();
    const orders: (() => ScanOrder)[] = [
      () => orderOf(State.Idle),
      () => orderOf(State.Configured),
      () => orderOf(State.Configured, { again: ['machine-9', 'gone'] }),
      () => orderOf(State.Configured, { bytes: Uint8Array.of(0x0a, 0x7f) }),
      () => orderOf(State.Configured, { isFull: false, bytes: new Uint8Array(0) }),
    ];
    for (const order of orders) {
      assert.deepEqual(plain(await scans.scan(order())), plain(await inline.scan(order())));
    }
    assert.deepEqual(lost, []);
    await inline.close();
  });
});

test('the thread ships its measurements with its answers, from early on', async () => {
  const shipped: Float64Array[] = [];
  const scans = new WorkerScans({
    runtime: realRuntime(),
    onLost: (error) => assert.fail(error),
    onThreadDeltas: (deltas) => shipped.push(deltas),
  });
  for (let at = 0; at < 10_000 && shipped.length < 2; at++) {
    await scans.scan(orderOf(State.Idle, { isFull: false, bytes: new Uint8Array(0) }));
  }
  await scans.close();
  assert.equal(shipped.length, 2);
  for (const deltas of shipped) assert.ok(deltas.some((value) => value > 0));
});

test('a large List changes hands: nothing is left here, nothing is copied there', async () => {
  await withScans(async (scans) => {
    const order = orderOf(State.Idle);
    assert.ok(order.bytes.length > Buffer.poolSize);
    const answer = await scans.scan(order);
    assert.equal(order.bytes.length, 0);
    assert.ok(answer.kind === 'scanned');
    assert.ok(answer.data.bytes.length > Buffer.poolSize);
  });
});

test('a thread that dies fails its scan; the next one has another and knows nothing', async () => {
  await withScans(async (scans, lost) => {
    assert.deepEqual(plain(await scans.scan(orderOf(State.Idle))), {
      ids: Array.from({ length: COUNT }, (_, index) => `machine-${index}`),
      rows: Array.from({ length: COUNT }, (_, row) => row),
      absent: undefined,
    });
    // No string: the scanner chokes on it as it would on a bug of its own.
    const poison = orderOf(State.Idle, { again: [7 as never] });
    await assert.rejects(scans.scan(poison), { code: 'reconcile_lost', kind: 'transient' });
    assert.equal(lost.length, 1);
    const healed = await scans.scan(orderOf(State.Idle));
    assert.ok(healed.kind === 'scanned');
    assert.deepEqual([healed.rows.length, healed.absent], [COUNT, undefined]);
  });
});

test('closing rejects what is open, and refuses what comes', async () => {
  await withScans(async (scans, lost) => {
    const open = scans.scan(orderOf(State.Idle));
    const rejected = assert.rejects(open, { code: 'reconcile_lost' });
    await scans.close();
    await rejected;
    await assert.rejects(scans.scan(orderOf(State.Idle)), { code: 'reconcile_lost' });
    assert.deepEqual(lost, [], 'an end that was asked for is no loss');
  });
});
