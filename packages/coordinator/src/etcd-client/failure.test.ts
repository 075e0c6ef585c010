// Proves which failures of a call mean that nothing was executed: an error read as definite that is
// not would lose or double a write.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { RpcError } from '@bigfleet/wire';
import { type EtcdFailure, failureOf, toEtcdError } from './failure.ts';

const table: readonly (readonly [RpcError | Error, EtcdFailure, BigFleetError['code']])[] = [
  [new RpcError('UNAVAILABLE', 'etcdserver: no leader'), 'elsewhere', 'etcd_unavailable'],
  [
    new RpcError('UNAVAILABLE', 'etcdserver: rpc not supported for learner'),
    'elsewhere',
    'etcd_unavailable',
  ],
  [new RpcError('UNAVAILABLE', 'etcdserver: request timed out'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('UNAVAILABLE', 'etcdserver: leader changed'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('UNAVAILABLE', 'read ECONNRESET'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('DEADLINE_EXCEEDED', 'the deadline'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('CANCELLED', 'the caller cancelled'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('INTERNAL', 'stream'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('UNKNOWN', 'context canceled'), 'ambiguous', 'etcd_unavailable'],
  [new Error('anything'), 'ambiguous', 'etcd_unavailable'],
  [
    new RpcError('OUT_OF_RANGE', 'etcdserver: mvcc: required revision has been compacted'),
    'compacted',
    'etcd_compacted',
  ],
  [
    new RpcError('RESOURCE_EXHAUSTED', 'etcdserver: mvcc: database space exceeded'),
    'no-space',
    'etcd_no_space',
  ],
  [new RpcError('RESOURCE_EXHAUSTED', 'message_too_large'), 'ambiguous', 'etcd_unavailable'],
  [new RpcError('UNAUTHENTICATED', 'etcdserver: invalid auth token'), 'token', 'etcd_refused'],
  [new RpcError('PERMISSION_DENIED', 'etcdserver: permission denied'), 'refused', 'etcd_refused'],
  [
    new RpcError('NOT_FOUND', 'etcdserver: requested lease not found'),
    'lease-not-found',
    'etcd_lease_gone',
  ],
];

for (const [error, failure, code] of table) {
  test(`${error.message} is ${failure}`, () => {
    assert.equal(failureOf(error), failure);
    const converted = toEtcdError('txn', error);
    assert.equal(converted.code, code);
    assert.equal(converted.cause, error);
  });
}

test('an error of ours keeps its identity, a deadline becomes etcd_unavailable', () => {
  const ours = new BigFleetError('etcd_lease_gone', 'gone');
  assert.equal(toEtcdError('txn', ours), ours);
  const deadline = new BigFleetError('deadline_exceeded', 'deadline passed');
  assert.equal(toEtcdError('txn', deadline).code, 'etcd_unavailable');
});
