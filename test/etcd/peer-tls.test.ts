// Proves of the managed peer port with real etcd over TLS: a certificate that carries the
// coordinators' name is heard; one of the same authority without that name, a foreign one and none
// at all are refused (security §1.5). Three replicas over TLS: managed.long.ts.

import assert from 'node:assert/strict';
import { get } from 'node:https';
import { test } from 'node:test';
import {
  HANG_MS,
  CertificateAuthority,
  createPemDir,
  eventually,
  type Leaf,
} from '../toolkit/index.ts';
import { ManagedReplicas } from './managed-replicas.ts';

const allowedHost = '*.coordinators.test';
const ips = ['127.0.0.1'];

/** The status of `GET /version` at the peer port, or the error of the connection. */
async function answerTo(peerAddress: string, ca: string, leaf?: Leaf): Promise<string> {
  const own = leaf === undefined ? {} : { cert: leaf.certPem, key: leaf.keyPem };
  const options = { ca, ...own, agent: false, timeout: HANG_MS };
  return new Promise((resolve) => {
    const request = get(`https://${peerAddress}/version`, options, (response) => {
      response.resume();
      resolve(`status ${response.statusCode}`);
    });
    request.on('timeout', () => request.destroy(new Error('silence')));
    request.on('error', ({ message }) => resolve(message));
  });
}

test('the peer port answers coordinators and nobody else', async () => {
  const ca = await CertificateAuthority.root();
  const foreign = await CertificateAuthority.root({ commonName: 'another ca' });
  const ours = await ca.leaf({ dnsNames: [allowedHost], ips });
  await using files = await createPemDir(ours);
  const { certFile, keyFile, caFile } = files;
  await using fleet = new ManagedReplicas({ certFile, keyFile, caFile, allowedHost });
  const zero = await fleet.add('c-0');
  await zero.start({ bootstrap: true });
  await eventually(() => zero.leadership !== undefined, { what: 'a leader' });

  const { peerAddress } = zero;
  assert.equal(await answerTo(peerAddress, ca.caPem, ours), 'status 200');
  const refused: readonly (readonly [string, Leaf | undefined])[] = [
    ['a shard of the same authority', await ca.leaf({ dnsNames: ['shard-0.shards.test'], ips })],
    ['a name below the pinned one', await ca.leaf({ dnsNames: ['x.coordinators.test'], ips })],
    ['another authority', await foreign.leaf({ dnsNames: [allowedHost], ips })],
    ['no certificate', undefined],
  ];
  for (const [who, leaf] of refused) {
    assert.match(await answerTo(peerAddress, ca.caPem, leaf), /alert|ECONNRESET|hang up/, who);
  }
});
