// Proves that with TLS the peers of a managed etcd are always pinned to a name that only coordinators
// carry: an advertised address without such a name is refused, never run without the pin.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peerTls } from './peer-tls.ts';

const tls = { cert: 'c', key: 'k', ca: 'a', requireTls: false };

const PINNED: readonly (readonly [advertised: string, allowedHost: string])[] = [
  ['c-0.bigfleet-coordinator.fleet.svc:7791', '*.bigfleet-coordinator.fleet.svc'],
  ['c-0.coordinators:7791', '*.coordinators'],
];

for (const [peerAdvertise, allowedHost] of PINNED) {
  test(`${peerAdvertise} is pinned to ${allowedHost}`, () => {
    const files = { certFile: 'c', keyFile: 'k', caFile: 'a' };
    assert.deepEqual(peerTls(tls, { peerAdvertise }), { ...files, allowedHost });
  });
}

for (const peerAdvertise of [
  '10.0.0.4:7791',
  '127.0.0.1:7791',
  '[fd00::4]:7791',
  'c-0:7791',
  'localhost:7791',
  'c-0.:7791',
]) {
  test(`${peerAdvertise} with TLS is refused; plaintext has nothing to pin`, () => {
    assert.throws(() => peerTls(tls, { peerAdvertise }), { code: 'etcd_peer_not_pinned' });
    assert.equal(peerTls({ ...tls, cert: '', key: '', ca: '' }, { peerAdvertise }), undefined);
  });
}
