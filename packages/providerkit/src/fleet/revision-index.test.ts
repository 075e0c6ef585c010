// Proves that the index ordered by revision agrees with a naive scan under any order of assignment,
// application and abandonment, that the head never passes what is pending or not durable, and that
// compaction loses nothing and keeps the index in proportion to the fleet.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MachineRecord } from '../model/machine.ts';
import { RevisionIndex } from './revision-index.ts';

type Step = { readonly kind: 'assign' | 'apply' | 'abandon' | 'save'; readonly pick: number };

const script = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('assign', 'apply', 'apply', 'abandon', 'save'),
    pick: fc.nat(1_000),
  }),
  { maxLength: 60 },
);

test('head, order and liveness are those of a naive model', () => {
  fc.assert(
    fc.property(script, fc.nat(5), (steps, startAt) => {
      const index = new RevisionIndex(startAt);
      const pending: { id: string; revision: number }[] = [];
      const live = new Map<string, MachineRecord>();
      let last = startAt;
      let durable = startAt;
      for (const { kind, pick } of steps) {
        if (kind === 'assign') {
          const id = `m-${pick % 7}`;
          // One section per machine: a machine has one number on its way at most.
          if (pending.some((p) => p.id === id)) continue;
          last++;
          assert.equal(index.assign(), last);
          pending.push({ id, revision: last });
        } else if (kind === 'save') {
          durable = Math.max(durable, last - (pick % 3));
          index.saved(last - (pick % 3));
        } else {
          const [chosen] = pending.splice(pick % Math.max(1, pending.length), 1);
          if (chosen === undefined) continue;
          if (kind === 'apply') show(index, live, chosen.id, chosen.revision);
          else index.abandon(chosen.revision);
        }
        const lowest = Math.min(...pending.map(({ revision }) => revision - 1));
        assert.equal(index.head, Math.min(durable, last, lowest));
        assert.deepEqual(liveAfter(index, startAt + 2), naive(live, startAt + 2));
      }
    }),
  );
});

test('compaction keeps live and pending entries and bounds the rest', () => {
  const index = new RevisionIndex(0);
  const live = new Map<string, MachineRecord>();
  for (let i = 0; i < 100; i++) show(index, live, `m-${i}`, index.assign());
  const onItsWay = index.assign();
  for (let i = 0; i < 50_000; i++) {
    show(index, live, 'm-1', index.assign());
    index.compact(live.size);
  }
  assert.ok(index.length <= 1_100, `${index.length} entries for 100 machines`);
  assert.deepEqual(liveAfter(index, 0), naive(live, 0));
  show(index, live, 'm-5', onItsWay);
  assert.deepEqual(liveAfter(index, 0), naive(live, 0));
  const gone = live.get('m-7');
  assert.ok(gone !== undefined);
  live.delete('m-7');
  index.forget(gone);
  assert.deepEqual(liveAfter(index, 0), naive(live, 0));
});

function show(
  index: RevisionIndex,
  live: Map<string, MachineRecord>,
  id: string,
  modifiedRevision: number,
): void {
  const record = { ...anyRecord, id, modifiedRevision };
  index.show(record, live.get(id));
  live.set(id, record);
}

function liveAfter(index: RevisionIndex, since: number): readonly string[] {
  const ids: string[] = [];
  for (let at = index.firstAfter(since); at < index.length; at++) {
    const record = index.recordAt(at);
    if (record === undefined) continue;
    assert.equal(record.modifiedRevision, index.revisionAt(at));
    ids.push(record.id);
  }
  return ids;
}

function naive(live: ReadonlyMap<string, MachineRecord>, since: number): readonly string[] {
  return [...live.values()]
    .filter(({ modifiedRevision }) => modifiedRevision > since)
    .toSorted((a, b) => a.modifiedRevision - b.modifiedRevision)
    .map(({ id }) => id);
}

const anyRecord: MachineRecord = {
  id: '',
  state: 'Speculative',
  instanceType: 'small',
  zone: 'zone-a',
  capacityType: 'OnDemand',
  pricePerHour: 1,
  interruptionProbability: 0,
  resources: new Map(),
  labels: new Map(),
  lastError: '',
  cluster: '',
  shardMetadata: new Map(),
  modifiedRevision: 0,
};
