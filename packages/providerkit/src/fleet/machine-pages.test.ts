// Proves that pages of cached bytes always say what a fresh encoding would: after any mix of adds,
// changes and removals, read in between or not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, MachineListSchema } from '@bigfleet/wire';
import fc from 'fast-check';
import type { MachineRecord } from '../model/machine.ts';
import { MachinePages } from './machine-pages.ts';

function record(id: number, price: number): MachineRecord {
  return {
    id: `m-${id}`,
    state: 'Speculative',
    instanceType: 't',
    zone: 'z'.repeat(price % 7),
    capacityType: 'OnDemand',
    pricePerHour: price,
    interruptionProbability: 0,
    resources: new Map(),
    labels: new Map(),
    lastError: '',
    cluster: '',
    shardMetadata: new Map(),
    modifiedRevision: 0,
  };
}

interface Step {
  readonly kind: 'add' | 'change' | 'remove' | 'read';
  readonly count: number;
  readonly price: number;
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom('add', 'change', 'remove', 'read'),
    count: fc.integer({ min: 1, max: 300 }),
    price: fc.nat(1_000),
  }),
  { maxLength: 30 },
);

test('reading gives exactly the present records', () => {
  fc.assert(
    fc.property(steps, (script) => {
      const pages = new MachinePages();
      const model = new Map<number, MachineRecord>();
      let nextId = 0;
      for (const step of script) {
        if (step.kind === 'read') assertSame(pages, model);
        else if (step.kind === 'add') {
          for (let i = 0; i < step.count; i++) {
            const added = record(nextId++, 1);
            const position = pages.add(added);
            assert.equal(model.has(position), false, 'a position in use is not handed out');
            model.set(position, added);
          }
        } else {
          const positions = [...model.keys()];
          const position = positions[step.count % Math.max(1, positions.length)];
          if (position === undefined) continue;
          if (step.kind === 'remove') {
            pages.remove(position);
            model.delete(position);
          } else {
            const changed = { ...(model.get(position) ?? record(0, 0)), pricePerHour: step.price };
            pages.replace(position, changed);
            model.set(position, changed);
          }
        }
      }
      assertSame(pages, model);
    }),
    { numRuns: 60 },
  );
});

function assertSame(pages: MachinePages, model: ReadonlyMap<number, MachineRecord>): void {
  const listed = new Map<string, number>();
  for (let page = 0; page < pages.pageCount; page++) {
    const { machines } = decode(MachineListSchema, pages.pageBytes(page), 'INTERNAL');
    for (const { id, pricePerHour } of machines) {
      assert.equal(listed.has(id), false, 'no machine twice');
      listed.set(id, pricePerHour);
    }
  }
  const expected = [...model.values()].map(({ id, pricePerHour }) => [id, pricePerHour] as const);
  assert.deepEqual(listed, new Map(expected));
}
