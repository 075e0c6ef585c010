// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of domains.

import {
  AB,
  assign,
  DOMAIN,
  testRefused,
  testUnchanged,
  unassign,
} from '../testing/command-cases.ts';

testRefused([
  {
    name: 'AssignDomain to an unknown shard',
    given: [],
    command: assign('a'),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'AssignDomain without a key',
    given: AB,
    command: { kind: 'AssignDomain', domain: { key: '', value: 'x' }, shard: 'a' },
    code: 'invalid',
    message: /topology key is empty/,
  },
  {
    name: 'AssignDomain without a value',
    given: AB,
    command: { kind: 'AssignDomain', domain: { key: 'x', value: '' }, shard: 'a' },
    code: 'invalid',
    message: /topology value is empty/,
  },
  {
    name: 'AssignDomain of another',
    given: [...AB, assign('a')],
    command: assign('b'),
    code: 'domain-assigned-elsewhere',
    message:
      'coordinator: domain already assigned to another shard: rack=r1 currently on a, asked b',
  },
  {
    name: 'AssignDomain while another releases',
    given: [...AB, assign('a'), unassign],
    command: assign('b'),
    code: 'domain-releasing',
    message: /: rack=r1 currently on a, asked b$/,
  },
]);

testUnchanged([
  { name: 'AssignDomain again', given: [...AB, assign('a')], command: assign('a') },
  { name: 'UnassignDomain of nothing', given: AB, command: unassign },
  { name: 'UnassignDomain again', given: [...AB, assign('a'), unassign], command: unassign },
  {
    name: 'UnassignDomain of a dead row',
    given: [...AB, assign('a'), { kind: 'RemoveShard', id: 'a' }],
    command: unassign,
  },
  {
    name: 'DomainReleased of an assigned domain',
    given: [...AB, assign('a')],
    command: { kind: 'DomainReleased', domain: DOMAIN, shard: 'a' },
  },
  {
    name: 'DomainReleased by another shard',
    given: [...AB, assign('a'), unassign],
    command: { kind: 'DomainReleased', domain: DOMAIN, shard: 'b' },
  },
]);
