// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of what shards prove after a restore.

import {
  AB,
  ABC,
  begin,
  MOVED,
  restored,
  testRefused,
  testUnchanged,
} from '../testing/command-cases.ts';

testRefused([
  {
    name: 'RestoreTransfer to an unknown shard',
    given: AB,
    command: restored('t1', 'a', 'z', ['m1']),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RestoreTransfer to itself',
    given: AB,
    command: restored('t1', 'a', 'a', ['m1']),
    code: 'invalid',
    message: /two different shards/,
  },
  {
    name: 'RestoreTransfer of nothing',
    given: AB,
    command: restored('t1', 'a', 'b', []),
    code: 'invalid',
    message: /no machine/,
  },
  {
    name: "RestoreTransfer under another's id",
    given: [...ABC, begin('t1')],
    command: restored('t1', 'b', 'c', ['m1']),
    code: 'transfer-conflict',
    message: /from a to b/,
  },
  {
    name: "RestoreTransfer of a third shard's machine",
    given: MOVED,
    command: restored('t9', 'a', 'c', ['m1']),
    code: 'override-conflict',
    message: /currently on b, asked c/,
  },
  {
    name: 'RestoreOverride of an unknown shard',
    given: AB,
    command: { kind: 'RestoreOverride', machineId: 'm', owner: 'z', transferId: 't' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'RestoreOverride against the ledger',
    given: MOVED,
    command: { kind: 'RestoreOverride', machineId: 'm1', owner: 'a', transferId: 't' },
    code: 'override-conflict',
    message: /currently on b, asked a/,
  },
  {
    name: 'RestoreOverride without a machine',
    given: AB,
    command: { kind: 'RestoreOverride', machineId: '', owner: 'a', transferId: 't' },
    code: 'invalid',
    message: /machine id is empty/,
  },
]);

testUnchanged([
  {
    name: 'RestoreTransfer of a committed one',
    given: MOVED,
    command: restored('t1', 'a', 'b', ['m1']),
  },
  {
    name: 'RestoreOverride again',
    given: MOVED,
    command: { kind: 'RestoreOverride', machineId: 'm1', owner: 'b', transferId: 'other' },
  },
]);
