// Proves step 1 of the processing order: what is refused by shape alone, where each bound lies,
// and that the two options turn exactly their own rule.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { defaultOptions } from '../options.ts';
import { type ArgumentRules, refuseBadArguments } from './arguments.ts';
import type { Mutation } from '../work/work-item.ts';

const rules: ArgumentRules = { ...defaultOptions, canDelete: true };
const fixed: ArgumentRules = { ...rules, canDelete: false };
const strict: ArgumentRules = { ...rules, strictTokens: true };
const fencedOnly: ArgumentRules = { ...rules, requireFence: true };
const tight: ArgumentRules = { ...rules, maxBootstrapBlobBytes: 4, maxShardMetadataBytes: 4 };

function token(shardId: string, shardEpoch: bigint, sequenceNumber: bigint): Mutation['token'] {
  return { shardId, shardEpoch, sequenceNumber };
}

const none = token('', 0n, 0n);

function create(machineId: string, of: Mutation['token'] = none): Mutation {
  return { kind: 'create', machineId, token: of };
}

function configure(change: Partial<Mutation & { kind: 'configure' }>): Mutation {
  const blank = { clusterId: 'a', bootstrapBlob: new Uint8Array(0), shardMetadata: new Map() };
  return { kind: 'configure', machineId: 'm', token: none, ...blank, ...change };
}

const long = 'x'.repeat(1_025);
const rows: readonly (readonly [string, Mutation, ArgumentRules, string])[] = [
  ['a plain call', create('m'), rules, 'ok'],
  ['an empty id', create(''), rules, 'provider_argument'],
  ['an id of the bound', create(long.slice(1)), rules, 'ok'],
  ['an id beyond it', create(long), rules, 'provider_argument'],
  ['a shard id beyond it', create('m', token(long, 1n, 1n)), rules, 'provider_argument'],
  ['a negative epoch', create('m', token('s', -1n, 1n)), rules, 'ok'],
  ['a negative sequence', create('m', token('s', 1n, -1n)), rules, 'ok'],
  ['a negative epoch, strictly', create('m', token('s', -1n, 1n)), strict, 'provider_argument'],
  ['a negative sequence, strictly', create('m', token('s', 1n, -1n)), strict, 'provider_argument'],
  ['a negative token of no shard, strictly', create('m', token('', -1n, -1n)), strict, 'ok'],
  ['no token where one is required', create('m'), fencedOnly, 'provider_argument'],
  ['a token where one is required', create('m', token('s', 0n, 0n)), fencedOnly, 'ok'],
  ['delete', { kind: 'delete', machineId: 'm', token: none }, rules, 'ok'],
  [
    'delete of fixed capacity',
    { kind: 'delete', machineId: 'm', token: none },
    fixed,
    'delete_unsupported',
  ],
  [
    'an empty id on fixed capacity',
    { kind: 'delete', machineId: '', token: none },
    fixed,
    'provider_argument',
  ],
  [
    'a grace of 0',
    { kind: 'drain', machineId: 'm', token: none, gracePeriodSeconds: 0n },
    rules,
    'ok',
  ],
  [
    'a negative grace',
    { kind: 'drain', machineId: 'm', token: none, gracePeriodSeconds: -1n },
    rules,
    'provider_argument',
  ],
  ['an empty cluster', configure({ clusterId: '' }), rules, 'provider_argument'],
  ['a cluster name beyond the bound', configure({ clusterId: long }), rules, 'provider_argument'],
  ['a blob of the bound', configure({ bootstrapBlob: new Uint8Array(4) }), tight, 'ok'],
  ['a blob beyond it', configure({ bootstrapBlob: new Uint8Array(5) }), tight, 'provider_argument'],
  ['metadata of the bound', configure({ shardMetadata: new Map([['é', 'ab']]) }), tight, 'ok'],
  [
    'metadata beyond it',
    configure({ shardMetadata: new Map([['é', 'abc']]) }),
    tight,
    'provider_argument',
  ],
];

for (const [name, mutation, given, expected] of rows) {
  test(`${name}: ${expected}`, () => {
    assert.equal(
      codeOf(() => refuseBadArguments(mutation, given)),
      expected,
    );
  });
}

function codeOf(check: () => void): string {
  try {
    check();
    return 'ok';
  } catch (error) {
    assert.ok(error instanceof BigFleetError);
    return error.code;
  }
}
