// Proves the binding of a session to its certificate, apart from the gate in front of it: the
// configured transport decides what an absent certificate means.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PeerIdentity } from '@bigfleet/wire';
import { identityProblem, presentedIdentity } from '../session/identity.ts';
import { clusterIdentity } from './testing/stage.ts';

const NOBODY: PeerIdentity = { kind: 'unverified' };

test('without a certificate: plaintext and Unix sockets pass, TCP under mTLS does not', () => {
  const rows: readonly ['plaintext' | 'mtls', string, boolean][] = [
    ['plaintext', '10.0.0.1:1', true],
    ['plaintext', 'unix:/run/shard.sock', true],
    ['mtls', 'unix:/run/shard.sock', true],
    ['mtls', '10.0.0.1:1', false],
    ['mtls', 'unknown', false],
  ];
  for (const [transport, address, isAdmitted] of rows) {
    const policy = { transport, requireSessionCn: true };
    const problem = identityProblem(policy, { address, identity: NOBODY }, 'blue');
    assert.equal(problem === undefined, isAdmitted, `${transport} ${address}`);
  }
});

test('a certificate that is presented counts on a plaintext shard too', () => {
  const policy = { transport: 'plaintext', requireSessionCn: false } as const;
  const peer = { address: 'a', identity: clusterIdentity('green') };
  assert.match(identityProblem(policy, peer, 'blue') ?? '', /needs bigfleet:\/\/cluster\/blue/);
  assert.equal(identityProblem(policy, peer, 'green'), undefined);
});

test('logs name the SAN at most', () => {
  assert.equal(presentedIdentity(clusterIdentity('a', 'secret CN')), 'bigfleet://cluster/a');
  assert.equal(presentedIdentity(NOBODY), 'unauthenticated');
  const two: PeerIdentity = {
    kind: 'unusable',
    reason: 'identity_ambiguous',
    presented: ['bigfleet://admin'],
  };
  assert.equal(presentedIdentity(two), 'identity_ambiguous');
});
