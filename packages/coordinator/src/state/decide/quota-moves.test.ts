// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of moves of quota.

import {
  AB,
  begin,
  move,
  setQuota,
  SHRUNK,
  testRefused,
  testUnchanged,
  upsert,
} from '../testing/command-cases.ts';

testRefused([
  {
    name: 'MoveQuota of nothing',
    given: SHRUNK,
    command: move('GROW', 0),
    code: 'invalid',
    message: /of nothing/,
  },
  {
    name: 'MoveQuota unknown',
    given: AB,
    command: move('SHRINK'),
    code: 'transfer-not-found',
    message: 'coordinator: transfer not found',
  },
  {
    name: 'MoveQuota in a transfer of machines',
    given: [...AB, begin('t1')],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /moves machines/,
  },
  {
    name: 'MoveQuota between other shards',
    given: [...AB, begin('t1', 'b', 'a', 2)],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /from b to a/,
  },
  {
    name: 'MoveQuota of another count',
    given: SHRUNK,
    command: move('GROW', 3),
    code: 'transfer-conflict',
    message: /another quota/,
  },
  {
    name: 'SHRINK below zero',
    given: [...AB, upsert({}), setQuota({ a: 1 }), begin('t1', 'a', 'b', 2)],
    command: move('SHRINK'),
    code: 'quota-exceeded',
    message: /a holds 1/,
  },
  {
    name: 'SHRINK without a row',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('SHRINK'),
    code: 'quota-exceeded',
    message: /a holds 0/,
  },
  {
    name: 'SHRINK after the donor went',
    given: [...AB, setQuota({ a: 5 }), begin('t1', 'a', 'b', 2), { kind: 'RemoveShard', id: 'a' }],
    command: move('SHRINK'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SHRINK again after RESTORE',
    given: [...SHRUNK, move('RESTORE')],
    command: move('SHRINK'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'GROW without SHRINK',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /not shrunk/,
  },
  {
    name: 'GROW after RESTORE',
    given: [...SHRUNK, move('RESTORE')],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'GROW after the recipient went',
    given: [...SHRUNK, { kind: 'RemoveShard', id: 'b' }],
    command: move('GROW'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'GROW after the row was set by hand',
    given: [...SHRUNK, setQuota({ a: 2, b: 8 })],
    command: move('GROW'),
    code: 'transfer-conflict',
    message: /RESTORED/,
  },
  {
    name: 'RESTORE without SHRINK',
    given: [...AB, begin('t1', 'a', 'b', 2)],
    command: move('RESTORE'),
    code: 'transfer-conflict',
    message: /not shrunk/,
  },
  {
    name: 'RESTORE after GROW',
    given: [...SHRUNK, move('GROW')],
    command: move('RESTORE'),
    code: 'transfer-conflict',
    message: /GROWN/,
  },
]);

testUnchanged([
  { name: 'SHRINK again', given: SHRUNK, command: move('SHRINK') },
  { name: 'GROW again', given: [...SHRUNK, move('GROW')], command: move('GROW') },
  { name: 'RESTORE again', given: [...SHRUNK, move('RESTORE')], command: move('RESTORE') },
  {
    name: 'RESTORE after the row was set by hand',
    given: [...SHRUNK, setQuota({ a: 2 })],
    command: move('RESTORE'),
  },
]);
