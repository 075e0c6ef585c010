// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of cluster bindings.

import { AB, bind, testRefused, testUnchanged } from '../testing/command-cases.ts';

testRefused([
  {
    name: 'BindCluster to an unknown shard',
    given: [],
    command: bind('a'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'BindCluster outside the grammar',
    given: AB,
    command: { kind: 'BindCluster', cluster: 'c/1', shard: 'a', force: false },
    code: 'invalid',
    message: /cluster id/,
  },
  {
    name: 'BindCluster elsewhere',
    given: [...AB, bind('a')],
    command: bind('b'),
    code: 'cluster-bound-elsewhere',
    message: 'coordinator: cluster already bound to a different shard: c1 currently on a, asked b',
  },
]);

testUnchanged([
  { name: 'BindCluster again', given: [...AB, bind('a')], command: bind('a') },
  {
    name: 'UnbindCluster of nothing',
    given: AB,
    command: { kind: 'UnbindCluster', cluster: 'c1' },
  },
]);
