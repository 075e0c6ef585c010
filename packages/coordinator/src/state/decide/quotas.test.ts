// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of quota slices.

import { AB, setQuota, testRefused, testUnchanged, upsert } from '../testing/command-cases.ts';

testRefused([
  {
    name: 'SetQuota below zero',
    given: AB,
    command: setQuota({ a: -1 }),
    code: 'invalid',
    message: /slice of a: -1/,
  },
  {
    name: 'SetQuota above an int32',
    given: AB,
    command: setQuota({ a: 2 ** 31 }),
    code: 'invalid',
    message: /slice of a/,
  },
  {
    name: 'SetQuota of a fraction',
    given: AB,
    command: setQuota({ a: 0.5 }),
    code: 'invalid',
    message: /slice of a/,
  },
  {
    name: 'SetQuota for an unknown shard',
    given: AB,
    command: setQuota({ z: 1 }),
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SetQuota without a region',
    given: AB,
    command: setQuota({ a: 1 }, ''),
    code: 'invalid',
    message: /quota region is empty/,
  },
  {
    name: 'SetQuota without a provider',
    given: AB,
    command: { kind: 'SetQuota', provider: '', region: 'eu', perShard: new Map() },
    code: 'invalid',
    message: /quota provider is empty/,
  },
  {
    name: 'SetQuota above the declared quota',
    given: [...AB, upsert({})],
    command: setQuota({ a: 6, b: 5 }),
    code: 'quota-exceeded',
    message: /aws\/eu sums to 11, declared 10/,
  },
]);

testUnchanged([
  {
    name: 'SetQuota again',
    given: [...AB, setQuota({ b: 1, a: 2 })],
    command: setQuota({ a: 2, b: 1 }),
  },
  { name: 'SetQuota empty without a row', given: AB, command: setQuota({}) },
]);
