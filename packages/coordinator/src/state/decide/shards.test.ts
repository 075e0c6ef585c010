// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of shards: coming, going, epochs.

import { AB, addShard, testRefused, testUnchanged } from '../testing/command-cases.ts';

testRefused([
  {
    name: 'AddShard without an id',
    given: [],
    command: addShard(''),
    code: 'invalid',
    message: 'ShardEntry.ID required',
  },
  {
    name: 'AddShard outside the id grammar',
    given: [],
    command: addShard('a b'),
    code: 'invalid',
    message: /shard id "a b"/,
  },
  {
    name: 'AddShard twice',
    given: AB,
    command: addShard('a'),
    code: 'shard-exists',
    message: 'coordinator: shard already registered',
  },
  {
    name: 'AddShard at no time',
    given: [],
    command: { kind: 'AddShard', id: 'a', address: '', registeredAtMs: -1 },
    code: 'invalid',
    message: /registered_at/,
  },
  {
    name: 'RemoveShard unknown',
    given: [],
    command: { kind: 'RemoveShard', id: 'a' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RemoveShard of text that is no Unicode',
    given: AB,
    command: { kind: 'RemoveShard', id: '\ud800' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RecordShardEpoch of an unknown shard',
    given: [],
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 1n },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RecordShardEpoch beyond an int64',
    given: AB,
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 2n ** 63n },
    code: 'invalid',
    message: /epoch/,
  },
]);

testUnchanged([
  {
    name: 'RecordShardEpoch of an old epoch',
    given: [...AB, { kind: 'RecordShardEpoch', shard: 'a', epoch: 3n }],
    command: { kind: 'RecordShardEpoch', shard: 'a', epoch: 3n },
  },
]);
