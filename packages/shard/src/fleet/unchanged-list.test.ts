// Proves the fast path of reconcile (shard §7) at the one writer: a List that says what is known writes
// nothing anywhere and tells nobody; a fact that drifts is one write and no word to any operator.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { decodeShardMetadata, State } from '@bigfleet/engine';
import type { MachineFeed } from '../engine-host/engine-host.ts';
import { createInlineHost } from '../engine-host/inline-host.ts';
import type { IngestBatch } from '../provider/reconcile/ingest.ts';
import { reconcileList } from '../provider/reconcile/reconcile-list.ts';
import {
  type Counts,
  countsOf,
  listOf,
  record,
  type TestRecord,
} from '../provider/reconcile/testing/world.ts';
import { ShrinkGuard } from '../provider/reconcile/shrink-guard.ts';
import { Fleet } from './fleet.ts';

const STATES = Object.values(State).filter((state) => state !== State.Unspecified);
/** Every state several times, so that no row is the first or the last of its kind only. */
const MACHINES: readonly TestRecord[] = Array.from({ length: 8 * STATES.length }, (_, at) =>
  record(`m${at}`, STATES[at % STATES.length] ?? State.Idle),
);

/** A fleet that counts what reaches the engine and the operators. */
class CountedFleet {
  readonly fleet: Fleet;
  readonly #guard = new ShrinkGuard();
  #writes: string[] = [];

  constructor() {
    const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
    const { machines } = createInlineHost(runtime);
    const feed: MachineFeed = {
      put: (machine, nowMs) => this.#note(`put ${machine.id}`, () => machines.put(machine, nowMs)),
      remove: (id) => this.#note(`remove ${id}`, () => machines.remove(id)),
      move: (id, to, changes, nowMs) =>
        this.#note(`move ${id}`, () => machines.move(id, to, changes, nowMs)),
      withhold: (id, reason) => this.#note(`withhold ${id}`, () => machines.withhold(id, reason)),
    };
    const onNodeChange = (): void => void this.#writes.push('told');
    this.fleet = new Fleet({ feed, clock: runtime.clock, onNodeChange });
  }

  /** What the List caused, and how reconcile counted it. */
  list(records: readonly TestRecord[]): { writes: readonly string[]; counts: Counts } {
    this.#writes = [];
    const applied: IngestBatch[] = [];
    const batches = reconcileList({
      provider: 'p',
      columns: listOf(...records),
      known: this.fleet.known,
      nowMs: this.fleet.nowMs(),
      readAssignment: decodeShardMetadata,
      isFull: true,
      guard: this.#guard,
    });
    let step = batches.next();
    for (; step.done !== true; step = batches.next()) {
      this.fleet.apply(step.value);
      applied.push(step.value);
    }
    return { writes: this.#writes, counts: countsOf(step.value, applied) };
  }

  /** Every column, byte for byte. */
  bytes(): readonly Buffer[] {
    const columns = Object.values(this.fleet.inventory.columns).filter(ArrayBuffer.isView);
    assert.ok(columns.length > 5, 'the columns are not where they were');
    return columns.map(({ buffer, byteOffset, byteLength }) =>
      Buffer.from(Buffer.from(buffer, byteOffset, byteLength)),
    );
  }

  #note(what: string, write: () => void): void {
    this.#writes.push(what);
    write();
  }
}

test('the same List again writes nothing, in any state of a machine', () => {
  const counted = new CountedFleet();
  const first = counted.list(MACHINES);
  assert.equal(first.counts.changeCounts.inserted, MACHINES.length);
  const before = counted.bytes();
  for (const records of [MACHINES, MACHINES.toReversed()]) {
    const { writes, counts } = counted.list(records);
    assert.deepEqual(writes, []);
    assert.equal(counts.unchangedCount, MACHINES.length);
    assert.deepEqual(counted.fleet.takeWrites('p'), { touched: [], doubted: [] });
    assert.deepEqual(counted.bytes(), before);
  }
});

test('a price that drifts is one write, and no operator hears of it', () => {
  const counted = new CountedFleet();
  counted.list(MACHINES);
  const drifted = MACHINES.map((each) => (each.id === 'm3' ? { ...each, pricePerHour: 2 } : each));
  const { writes, counts } = counted.list(drifted);
  assert.deepEqual(writes, ['put m3']);
  assert.equal(counts.changeCounts.refreshed, 1);
  const { fleet } = counted;
  assert.equal(fleet.read(fleet.inventory.slotOf('m3')).pricePerHour, 2);
});
