// Proves that an identity is exactly one well-formed bigfleet:// URI SAN, read from DER,
// whatever else a certificate carries, and that garbage never throws.

import 'reflect-metadata';
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { before, test } from 'node:test';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { identityOfCertificate, parseIdentity, sanOf } from './certificate.ts';

x509.cryptoProvider.set(webcrypto);
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
let keys: webcrypto.CryptoKeyPair;
before(async () => {
  keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
});

async function leaf(names: x509.JsonGeneralNames, subject = 'CN=leaf'): Promise<Uint8Array> {
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: subject,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return new Uint8Array(certificate.rawData);
}

test('each role', async () => {
  const rows: [string, string, string][] = [
    ['bigfleet://cluster/cluster-prod-eu-1', 'cluster', 'cluster-prod-eu-1'],
    ['bigfleet://shard/shard-0', 'shard', 'shard-0'],
    ['bigfleet://admin', 'admin', ''],
    ['bigfleet://readonly', 'readonly', ''],
  ];
  for (const [san, role, id] of rows) {
    const identity = identityOfCertificate(
      await leaf([
        { type: 'dns', value: 'bigfleet-shard.ns.svc' },
        { type: 'url', value: 'spiffe://example.org/x' },
        { type: 'url', value: san },
      ]),
    );
    assert.deepEqual(identity, { kind: 'verified', role, id, san, commonName: 'leaf' });
    assert.equal(sanOf(role as 'admin', id), san);
  }
});

test('none, two and malformed SANs give no usable identity', async () => {
  const rows: [x509.JsonGeneralNames, string, number][] = [
    [[], 'identity_missing', 0],
    [[{ type: 'dns', value: 'a' }], 'identity_missing', 0],
    [[{ type: 'url', value: 'BIGFLEET://admin' }], 'identity_missing', 0],
    [[{ type: 'url', value: 'bigfleet:/admin' }], 'identity_missing', 0],
    [
      [
        { type: 'url', value: 'bigfleet://cluster/a' },
        { type: 'url', value: 'bigfleet://admin' },
      ],
      'identity_ambiguous',
      2,
    ],
    // The same one twice, and a good one beside a bad one, are two all the same.
    [
      [
        { type: 'url', value: 'bigfleet://admin' },
        { type: 'url', value: 'bigfleet://admin' },
      ],
      'identity_ambiguous',
      2,
    ],
    [
      [
        { type: 'url', value: 'bigfleet://admin' },
        { type: 'url', value: 'bigfleet://bogus' },
      ],
      'identity_ambiguous',
      2,
    ],
    [[{ type: 'url', value: 'bigfleet://admin/' }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://cluster/a/' }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://cluster/a%2Fb' }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://cluster/' }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://cluster' }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://Admin' }], 'identity_malformed', 1],
    [[{ type: 'url', value: `bigfleet://shard/${'a'.repeat(254)}` }], 'identity_malformed', 1],
    [[{ type: 'url', value: 'bigfleet://admin, URI:bigfleet://admin' }], 'identity_malformed', 1],
  ];
  for (const [names, reason, presented] of rows) {
    const identity = identityOfCertificate(await leaf(names));
    assert.equal(identity.kind, 'unusable', JSON.stringify(names));
    assert.equal(identity.reason, reason, JSON.stringify(names));
    assert.equal(identity.presented.length, presented);
  }
});

test('a DNS name that spells another SAN stays a DNS name', async () => {
  const names: x509.JsonGeneralNames = [
    { type: 'dns', value: 'a, URI:bigfleet://admin' },
    { type: 'url', value: 'bigfleet://cluster/a' },
  ];
  const identity = identityOfCertificate(await leaf(names));
  assert.equal(identity.kind === 'verified' && identity.san, 'bigfleet://cluster/a');
});

test('a common name is never an identity; several are as good as none', async () => {
  const impostor = identityOfCertificate(await leaf([], 'CN=bigfleet://admin'));
  assert.equal(impostor.kind, 'unusable');
  const url = { type: 'url', value: 'bigfleet://admin' } as const;
  const twice = identityOfCertificate(await leaf([url], 'CN=a, CN=b'));
  assert.equal(twice.kind === 'verified' && twice.commonName, undefined);
  const absent = identityOfCertificate(await leaf([url], 'O=example'));
  assert.equal(absent.kind === 'verified' && absent.commonName, undefined);
});

test('law: every id in the grammar round-trips, no other string parses', () => {
  const id = fc.stringMatching(/^[A-Za-z0-9_.-]{1,253}$/);
  fc.assert(
    fc.property(id, (value) => {
      assert.deepEqual(parseIdentity(sanOf('cluster', value)), { role: 'cluster', id: value });
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const parsed = parseIdentity(`bigfleet://${text}`);
      if (parsed !== undefined) assert.equal(sanOf(parsed.role, parsed.id), `bigfleet://${text}`);
    }),
  );
});

test('mutated and truncated certificates never throw', async () => {
  const der = await leaf([{ type: 'url', value: 'bigfleet://cluster/a' }]);
  for (let length = 0; length < der.length; length++)
    identityOfCertificate(der.subarray(0, length));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(der.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      (edits) => {
        const copy = der.slice();
        for (const [at, byte] of edits) copy[at] = byte;
        const identity = identityOfCertificate(copy);
        assert.ok(['verified', 'unusable'].includes(identity.kind));
      },
    ),
    { numRuns: 20_000 },
  );
});
