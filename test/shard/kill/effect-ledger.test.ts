// Proves that the ledger finds each kind of double actuation, and nothing in a plain life.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokenEffects, type EffectKind } from './effect-ledger.ts';

const CASES: readonly (readonly [life: readonly EffectKind[], brokenCount: number])[] = [
  [['create', 'configure', 'drain', 'configure', 'drain', 'delete', 'create'], 0],
  [['create', 'create'], 1],
  [['create', 'configure', 'configure'], 1],
  [['create', 'configure', 'drain', 'drain'], 1],
  [['configure'], 1],
  [['create', 'configure', 'delete'], 1],
];

for (const [life, brokenCount] of CASES) {
  test(`${life.join(', ')}: ${brokenCount} broken`, () => {
    const effects = life.map((kind, at) => ({ kind, machineId: 'm', operationId: `op-${at}` }));
    assert.equal(brokenEffects(effects).length, brokenCount);
  });
}

test('one operation id twice is broken, on whatever machine', () => {
  const effects = ['a', 'b'].map((machineId) => ({
    kind: 'create' as const,
    machineId,
    operationId: 'op',
  }));
  assert.equal(brokenEffects(effects).length, 1);
});
