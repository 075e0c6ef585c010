// Proves when the wait of a newcomer begins: once per row that reaches it, anew when the row is written
// again or stopped reaching it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ProviderRow } from '../state/rows.ts';
import { Admissions } from './admissions.ts';

function row(): ProviderRow {
  return { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0, shards: [] };
}

it('a busy ledger does not postpone the wait; another row or a gap begins it anew', () => {
  const admissions = new Admissions();
  const [first, rewritten] = [row(), row()];
  assert.equal(admissions.since('a', first, 5), 5n);
  assert.equal(admissions.since('a', first, 9), 5n);
  assert.equal(admissions.since('b', first, 9), 9n);
  assert.equal(admissions.since('a', rewritten, 10), 10n);
  admissions.keepOnly('a', new Set(['p:1']));
  assert.equal(admissions.since('a', rewritten, 11), 10n);
  admissions.keepOnly('a', new Set());
  assert.equal(admissions.since('a', rewritten, 12), 12n);
  admissions.forget('a');
  assert.equal(admissions.since('a', rewritten, 13), 13n);
});

it('an address is fresh only if it was first registered under this leader', () => {
  const admissions = new Admissions();
  admissions.onFirstRegistered('p:1');
  assert.deepEqual([admissions.isFresh('p:1'), admissions.isFresh('p:2')], [true, false]);
});
