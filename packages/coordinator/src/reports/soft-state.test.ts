// Proves when the wait of a newcomer begins: once per row that reaches it, anew when the row is written
// again or stopped reaching it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ProviderRow } from '../state/rows.ts';
import { SoftState } from './soft-state.ts';

function row(): ProviderRow {
  return { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0, shards: [] };
}

it('a busy ledger does not postpone the wait; another row or a gap begins it anew', () => {
  const soft = new SoftState();
  const [first, rewritten] = [row(), row()];
  assert.equal(soft.waitsSince('a', first, 5), 5n);
  assert.equal(soft.waitsSince('a', first, 9), 5n);
  assert.equal(soft.waitsSince('b', first, 9), 9n);
  assert.equal(soft.waitsSince('a', rewritten, 10), 10n);
  soft.keepWaits('a', new Set(['p:1']));
  assert.equal(soft.waitsSince('a', rewritten, 11), 10n);
  soft.keepWaits('a', new Set());
  assert.equal(soft.waitsSince('a', rewritten, 12), 12n);
  soft.forget('a');
  assert.equal(soft.waitsSince('a', rewritten, 13), 13n);
});

it('an address is fresh only if it was first registered under this leader', () => {
  const soft = new SoftState();
  soft.onFirstRegistered('p:1');
  assert.deepEqual([soft.isFresh('p:1'), soft.isFresh('p:2')], [true, false]);
});
