// Proves what is refused, and with which words, and what is already so (coordinator §2.4) of the provider registry and homes.

import {
  AB,
  long,
  setQuota,
  SHRUNK,
  testRefused,
  testUnchanged,
  type RefusedCase,
  upsert,
} from '../testing/command-cases.ts';

testRefused([
  {
    name: 'UpsertProvider without a name',
    given: [],
    command: upsert({ name: '' }),
    code: 'invalid',
    message: 'ProviderEntry.Name required',
  },
  {
    name: 'UpsertProvider with a bad shard',
    given: [],
    command: upsert({ shards: ['ok', 'no/no'] }),
    code: 'invalid',
    message: /shard id "no\/no"/,
  },
  {
    name: 'UpsertProvider with too many shards',
    given: [],
    command: upsert({ shards: Array.from({ length: 1_025 }, (_, i) => `s${i}`) }),
    code: 'invalid',
    message: /more than 1024/,
  },
  {
    name: 'UpsertProvider with a negative quota',
    given: [],
    command: upsert({ declaredQuota: -1 }),
    code: 'invalid',
    message: /declared quota/,
  },
  {
    name: 'UpsertProvider with an endless name',
    given: [],
    command: upsert({ name: long }),
    code: 'invalid',
    message: /longer than/,
  },
  {
    name: 'UpsertProvider below its slices',
    given: [...AB, upsert({}), setQuota({ a: 4, b: 6 })],
    command: upsert({ declaredQuota: 9 }),
    code: 'quota-exceeded',
    message: /declared quota 9 is below/,
  },
  {
    name: 'UpsertProvider below slices and what a move owes',
    given: SHRUNK,
    command: upsert({ declaredQuota: 9 }),
    code: 'quota-exceeded',
    message: /sum to 10/,
  },
  ...[
    '',
    'host',
    'host:',
    'host:0',
    'host:65536',
    'u@host:1',
    'host:1?x',
    'unix:',
    'unix:rel',
    'http://h:1',
    'ho st:1',
    '\ud800:1',
  ].map(
    (address): RefusedCase => ({
      name: `UpsertProvider at ${JSON.stringify(address)}`,
      given: [],
      command: upsert({ address }),
      code: 'invalid',
      message: /address/,
    }),
  ),
  {
    name: 'RemoveProvider unknown',
    given: [],
    command: { kind: 'RemoveProvider', name: 'aws' },
    code: 'provider-not-found',
    message: 'coordinator: provider not found',
  },
  {
    name: 'RemoveProvider with a quota row',
    given: [...AB, upsert({}), setQuota({ a: 1 })],
    command: { kind: 'RemoveProvider', name: 'aws' },
    code: 'provider-in-use',
    message: /quota row aws\/eu/,
  },
  {
    name: 'SetProviderHome of an unknown shard',
    given: [],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' },
    code: 'shard-not-found',
    message: 'coordinator: shard not found',
  },
  {
    name: 'SetProviderHome without an address',
    given: AB,
    command: { kind: 'SetProviderHome', providerAddress: '', shard: 'a' },
    code: 'invalid',
    message: /provider address is empty/,
  },
  {
    name: 'SetProviderHome from itself',
    given: [...AB, { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' }],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: 'a' },
    code: 'invalid',
    message: /a cannot take over from itself/,
  },
  {
    name: 'SetProviderHome from what cannot be a shard',
    given: AB,
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: '' },
    code: 'invalid',
    message: /shard/,
  },
]);

testUnchanged([
  {
    name: 'UpsertProvider again, shards in another order',
    given: [upsert({ shards: ['x', 'a'] })],
    command: upsert({ shards: ['a', 'x', 'a'] }),
  },
  {
    name: 'SetProviderHome of a live home',
    given: [...AB, { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' }],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'b' },
  },
  {
    name: 'SetProviderHome from a shard that is not the home any more',
    given: [
      ...AB,
      { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a' },
      { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'b', from: 'a' },
    ],
    command: { kind: 'SetProviderHome', providerAddress: 'x:1', shard: 'a', from: 'c' },
  },
]);
