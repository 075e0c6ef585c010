// Proves whom a shard remembers as an owner beside itself: everybody its assignment or its transfers
// name as one, and nobody else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noAssignmentYet } from './assignment.ts';
import { otherOwners } from './held-domains.ts';
import { claimedIn, emptyBook, frozenIn, releasedIn, type TransferStep } from './transfer-book.ts';

const step = (transferId: string, peerShardId: string): TransferStep => ({
  transferId,
  peerShardId,
  machineIds: [`m-${transferId}`],
});

test('foreign domains, machines given away by the ledger or by itself; each once, sorted', () => {
  const assignment = {
    ...noAssignmentYet,
    domains: [{ key: 'zone', value: 'own', shardId: 'me' }],
    foreignDomains: [
      { key: 'zone', value: 'b', shardId: 'b' },
      { key: 'bigfleet.lucy.sh/shard', value: 'late', shardId: 'late' },
      { key: 'zone', value: 'old', shardId: '' },
    ],
    adopted: [{ machineId: 'x', transferId: 't', peerShardId: 'donor' }],
    released: [
      { machineId: 'y', transferId: 't', peerShardId: 'b' },
      { machineId: 'z', transferId: 't', peerShardId: 'c' },
    ],
  };
  const claimed = claimedIn(emptyBook, step('t1', 'giver'));
  const book = releasedIn(frozenIn(claimed, step('t2', 'frozen-for')), step('t3', 'gave-to'));
  const expected = ['b', 'c', 'frozen-for', 'gave-to', 'late'];
  assert.deepEqual(otherOwners('me', assignment, book), expected);
});

test('a shard without an assignment remembers nobody', () => {
  assert.deepEqual(otherOwners('me', noAssignmentYet, emptyBook), []);
});
