// Proves that each certificate fixture is what its name says: OpenSSL, through a real TLS 1.3
// handshake, accepts or refuses it as told, and its names are in the DER byte for byte.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { before, test } from 'node:test';
import { connect, createServer, type TLSSocket } from 'node:tls';
import {
  FIXTURE_NAMES,
  fixtureIdentity,
  fixtureVerdict,
  mintPki,
  type TestPki,
} from './pki-fixtures.ts';
import { CertificateAuthority, type Leaf } from './pki.ts';
import { HANG_MS, unixMs, withDeadline } from './real-time.ts';

let pki: TestPki;
before(async () => {
  pki = await mintPki();
});

type Handshake = { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly why: string };

/** What the server decides about `client`, with `ca` as the only trust root on both sides. */
async function handshake(server: Leaf, client: Leaf, ca: string): Promise<Handshake> {
  const listener = createServer({
    cert: server.certPem,
    key: server.keyPem,
    ca,
    minVersion: 'TLSv1.3',
    requestCert: true,
    rejectUnauthorized: true,
  });
  const decided = new Promise<Handshake>((resolve) => {
    listener.on('secureConnection', (socket: TLSSocket) => {
      resolve({ kind: 'accepted' });
      socket.end();
    });
    listener.on('tlsClientError', (error) => {
      resolve({ kind: 'refused', why: 'code' in error ? String(error.code) : error.message });
    });
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const { port } = listener.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', ca, cert: client.certPem, key: client.keyPem });
  // Refusals are read on the server's side; in TLS 1.3 the client may not even notice.
  socket.on('error', () => {});
  try {
    return await withDeadline('handshake', HANG_MS, () => decided);
  } finally {
    socket.destroy();
    listener.close();
  }
}

for (const name of FIXTURE_NAMES) {
  const verdict = fixtureVerdict(name);
  test(`fixture ${name}: ${verdict}`, async () => {
    const result = await handshake(await pki.fixture('shard'), await pki.fixture(name), pki.caPem);
    assert.equal(
      result.kind,
      verdict === 'refused' ? 'refused' : 'accepted',
      JSON.stringify(result),
    );
    const identity = fixtureIdentity(name);
    assert.equal(identity !== undefined, verdict === 'identity');
    if (identity !== undefined) {
      assert.deepEqual(bigfleetUris(await pki.fixture(name)), [identity]);
    }
  });
}

/** URI entries of the SubjectAltName, cut from the DER: context tag 6, short lengths only. */
function bigfleetUris(leaf: Leaf): readonly string[] {
  const text = Buffer.from(leaf.der).toString('latin1');
  const found: string[] = [];
  for (let at = text.indexOf('\x86'); at !== -1; at = text.indexOf('\x86', at + 1)) {
    const length = text.charCodeAt(at + 1);
    const value = text.slice(at + 2, at + 2 + length);
    if (/^bigfleet:\/\//i.test(value)) found.push(value);
  }
  return found;
}

test('malformed identities are in the certificate exactly as written', async () => {
  const cases = [
    ['twoIdentities', ['bigfleet://admin', 'bigfleet://readonly']],
    ['sameIdentityTwice', ['bigfleet://admin', 'bigfleet://admin']],
    ['percentEncoded', ['bigfleet://cluster/a%2Fb']],
    ['trailingSlash', ['bigfleet://cluster/c-1/']],
    ['upperCaseScheme', ['BIGFLEET://admin']],
    ['emptyId', ['bigfleet://cluster/']],
    ['zeroIdentities', []],
    ['identityInCommonName', []],
    ['dnsInjection', []],
  ] as const;
  for (const [name, uris] of cases) {
    assert.deepEqual(bigfleetUris(await pki.fixture(name)), uris, name);
  }
});

test('the injected DNS name holds the text that a naive reader takes for a URI entry', async () => {
  const { der } = await pki.fixture('dnsInjection');
  const printed = new X509Certificate(der).subjectAltName ?? '';
  assert.match(printed, /URI:bigfleet:\/\/admin/);
  assert.ok(printed.split(', ').length >= 2, printed);
  assert.ok(Buffer.from(der).includes('x.test, URI:bigfleet://admin'));
});

test('each refused certificate has exactly one flaw', async () => {
  const authority = new X509Certificate(pki.caPem);
  const now = unixMs();
  const flaws: Record<string, string[]> = {};
  for (const name of [
    ...FIXTURE_NAMES.filter((n) => fixtureVerdict(n) === 'refused'),
    'admin',
  ] as const) {
    const leaf = new X509Certificate((await pki.fixture(name)).certPem);
    flaws[name] = [
      ...(leaf.validFromDate.getTime() > now ? ['early'] : []),
      ...(leaf.validToDate.getTime() < now ? ['late'] : []),
      ...(leaf.issuer === authority.subject ? [] : ['issuer']),
      ...(leaf.issuer !== authority.subject || leaf.verify(authority.publicKey)
        ? []
        : ['signature']),
      ...(leaf.keyUsage?.includes('1.3.6.1.5.5.7.3.2') ? [] : ['use']),
    ];
  }
  assert.deepEqual(flaws, {
    expired: ['late'],
    notYetValid: ['early'],
    wrongCa: ['signature'],
    selfSigned: ['issuer'],
    withoutClientAuth: ['use'],
    admin: [],
  });
});

test('a leaf below an intermediate needs its chain in tls.crt', async () => {
  const server = await pki.fixture('shard');
  const leaf = await pki.fixture('intermediate');
  const alone = { ...leaf, certPem: leaf.certPem.slice(0, leaf.certPem.indexOf('-----END') + 26) };
  assert.equal((await handshake(server, leaf, pki.caPem)).kind, 'accepted');
  assert.equal((await handshake(server, alone, pki.caPem)).kind, 'refused');
});

test('keys, common names and CA flags are as asked', async () => {
  const kinds = [
    ['cluster', 'ec', 'prime256v1', 'CN=c-1'],
    ['p384', 'ec', 'secp384r1', undefined],
    ['rsa', 'rsa', undefined, undefined],
    ['noCommonName', 'ec', 'prime256v1', undefined],
  ] as const;
  for (const [name, type, curve, subject] of kinds) {
    const certificate = new X509Certificate((await pki.fixture(name)).certPem);
    assert.equal(certificate.publicKey.asymmetricKeyType, type);
    assert.equal(certificate.publicKey.asymmetricKeyDetails?.namedCurve, curve);
    assert.equal(certificate.subject || undefined, subject);
    assert.equal(certificate.ca, false);
  }
  assert.equal(new X509Certificate(pki.caPem).ca, true);
  const [ours, theirs] = [pki.caPem, pki.wrongCa.caPem].map((pem) => new X509Certificate(pem));
  assert.equal(ours?.subject, theirs?.subject);
  assert.notEqual(ours?.fingerprint256, theirs?.fingerprint256);
});

test('host names of a server leaf are checked against DNS and IP entries', async () => {
  const ca = await CertificateAuthority.root();
  const leaf = await ca.leaf({ dnsNames: ['*.bigfleet-shard.ns.svc'], ips: ['198.18.0.1'] });
  const certificate = new X509Certificate(leaf.certPem);
  assert.equal(certificate.checkHost('a.bigfleet-shard.ns.svc'), '*.bigfleet-shard.ns.svc');
  assert.equal(certificate.checkHost('bigfleet-shard.ns.svc'), undefined);
  assert.equal(certificate.checkIP('198.18.0.1'), '198.18.0.1');
});

test('nothing is shared between two runs', async () => {
  const other = await mintPki();
  assert.notEqual(other.caPem, pki.caPem);
  assert.equal((await pki.fixture('shard')).keyPem, (await pki.fixture('shard')).keyPem);
  assert.notEqual((await other.fixture('shard')).keyPem, (await pki.fixture('shard')).keyPem);
});
