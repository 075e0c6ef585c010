// Proves that the input digest tells histories apart by every fact that a decision may depend on,
// by their order, and by nothing that differs between processes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketOfDollars } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import { cores, machine, type MachineInit, need } from '../testing/build.ts';
import { Inventory } from './inventory.ts';

const served = need({ wants: cores(1), cluster: 'a', priority: 7, group: 'g', interruption: 4 });
const base: MachineInit = { id: 'm', state: 'Configured', serves: served, rack: 'r1' };

function digestOf(...machines: readonly Machine[]): string {
  const inventory = new Inventory();
  for (const each of machines) assert.ok(inventory.put(each, 0).ok);
  return `${inventory.digest.high} ${inventory.digest.low}`;
}

test('every fact of a machine is in the digest', () => {
  const variants: Readonly<Record<string, Machine>> = {
    base: machine(base),
    id: machine({ ...base, id: 'n' }),
    state: machine({ ...base, state: 'Configuring' }),
    cluster: machine({ ...base, cluster: 'b' }),
    withheld: machine({ ...base, withheld: 'transfer_frozen' }),
    'why withheld': machine({ ...base, withheld: 'not_owned' }),
    price: machine({ ...base, price: 2 }),
    probability: machine({ ...base, probability: 0.5 }),
    size: machine({ ...base, has: cores(2) }),
    rack: machine({ ...base, rack: 'r2' }),
    priority: machine({ ...base, assigned: { priority: 8 } }),
    'interruption penalty': machine({
      ...base,
      assigned: { interruptionBucket: bucketOfDollars(64) },
    }),
    'reclamation penalty': machine({
      ...base,
      assigned: { reclamationBucket: bucketOfDollars(64) },
    }),
    fingerprint: machine({ ...base, assigned: { needFingerprint: 'another' } }),
    group: machine({ ...base, assigned: { group: 'h' } }),
  };
  const seen = new Map<string, string>();
  for (const [what, variant] of Object.entries(variants)) {
    const digest = digestOf(variant);
    assert.equal(seen.get(digest), undefined, `${what} is not in the digest`);
    seen.set(digest, what);
  }
});

test('for whom a machine is created, and since when one is idle, are in the digest', () => {
  const created = { ...base, state: 'Creating' } as const;
  assert.notEqual(
    digestOf(machine({ ...created, cluster: 'a' })),
    digestOf(machine({ ...created, cluster: 'b' })),
  );
  const since = (sinceMs: number): string => {
    const inventory = new Inventory();
    inventory.put(machine({ id: 'm' }), sinceMs);
    return `${inventory.digest.high} ${inventory.digest.low}`;
  };
  assert.notEqual(since(1), since(2));
});

test('the order of writes and a removal change it; the same history gives the same', () => {
  const x = machine({ id: 'x' });
  const y = machine({ id: 'y', price: 3 });
  assert.equal(digestOf(x, y), digestOf(x, y));
  assert.notEqual(digestOf(x, y), digestOf(y, x));
  const inventory = new Inventory();
  inventory.put(x, 0);
  const before = inventory.digest.low;
  inventory.remove('x');
  assert.notEqual(inventory.digest.low, before);
});
