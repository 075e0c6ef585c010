// Proves that the TLS flags of every binary mean one thing, and that a partial set, missing or bad
// material stops the process at start with a stable code (security §1.1, §1.2, §8, threat 38).

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { BigFleetError, type ErrorCode } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { createPki, type MaterialFiles, writeMaterial } from '../testing/pki.ts';
import { type TlsFlags, tlsFromFlags } from './flags.ts';
import { TlsMaterial } from './material.ts';

const env = {};

async function files(t: TestContext): Promise<MaterialFiles> {
  const { leaf, caPem } = await createPki();
  const written = writeMaterial(await leaf({ uris: ['bigfleet://admin'] }), caPem);
  t.after(() => written.remove());
  return written;
}

function refusal(flags: TlsFlags, code: ErrorCode): BigFleetError {
  try {
    tlsFromFlags({ env, ...flags });
  } catch (error) {
    assert.ok(error instanceof BigFleetError, String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail('it was accepted');
}

describe('TLS flags', () => {
  it('none: plaintext', () => {
    assert.equal(tlsFromFlags({ env }), 'plaintext');
    assert.equal(tlsFromFlags({ env, cert: '', key: '', ca: '' }), 'plaintext');
  });

  it('all three: mTLS, with the expiry of the leaf', async (t) => {
    const material = tlsFromFlags({ env, ...(await files(t)) });
    assert.ok(material instanceof TlsMaterial);
    assert.equal(material.mode, 'mtls');
    const hour = 3_600;
    const now = Number(realRuntime().clock.unixNanos() / 1_000_000_000n);
    assert.ok(Math.abs(material.expiresAtUnixSeconds() - now - hour) < 60);
  });

  const partial = [
    { cert: '/c' },
    { key: '/k' },
    { ca: '/a' },
    { cert: '/c', key: '/k' },
    { cert: '/c', ca: '/a' },
    { key: '/k', ca: '/a' },
  ];
  for (const flags of partial) {
    it(`partial ${JSON.stringify(flags)}: refused, naming the three values`, () => {
      const { cert = '', key = '', ca = '' }: TlsFlags = flags;
      assert.equal(
        refusal(flags, 'tls_partial_configuration').message,
        `tls: partial configuration (cert=${cert} key=${key} ca=${ca}): set all of ` +
          '--tls-cert/--tls-key/--tls-ca for mTLS, or none for plaintext',
      );
    });
  }

  it('certificate and key alone: only where a provider allows it, and then without identity', async (t) => {
    const { cert, key } = await files(t);
    const material = tlsFromFlags({ env, cert, key, allowServerOnly: true });
    assert.ok(material instanceof TlsMaterial);
    assert.equal(material.mode, 'server-only');
    for (const flags of partial.filter((flags) => !('cert' in flags && 'key' in flags))) {
      refusal({ ...flags, allowServerOnly: true }, 'tls_partial_configuration');
    }
  });

  it('--require-tls and its variable refuse everything but mTLS', async (t) => {
    const { cert, key, ca } = await files(t);
    refusal({ requireTls: true }, 'tls_required');
    refusal({ requireTls: true, cert, key, allowServerOnly: true }, 'tls_required');
    for (const value of ['1', 'true', 'yes', 'fasle']) {
      refusal({ env: { BIGFLEET_REQUIRE_TLS: value } }, 'tls_required');
    }
    for (const value of ['', '0', 'false', 'FALSE']) {
      assert.equal(tlsFromFlags({ env: { BIGFLEET_REQUIRE_TLS: value } }), 'plaintext');
    }
    assert.notEqual(tlsFromFlags({ env, requireTls: true, cert, key, ca }), 'plaintext');
  });
});

describe('TLS material at start', () => {
  const broken: readonly (readonly [string, keyof TlsFlags, string | undefined, ErrorCode])[] = [
    ['an empty CA bundle', 'ca', '', 'tls_no_ca_certificates'],
    ['a CA bundle of comments', 'ca', '# nothing here\n', 'tls_no_ca_certificates'],
    ['a missing CA bundle', 'ca', undefined, 'tls_no_ca_certificates'],
    ['a CA bundle with a broken certificate', 'ca', pem('CERTIFICATE', 'AAAA'), 'tls_bad_material'],
    ['an empty certificate file', 'cert', '', 'tls_bad_material'],
    ['a certificate that is not PEM', 'cert', 'hello', 'tls_bad_material'],
    ['a missing certificate file', 'cert', undefined, 'tls_bad_material'],
    ['an empty key file', 'key', '', 'tls_bad_material'],
    ['a broken key', 'key', pem('PRIVATE KEY', 'AAAA'), 'tls_bad_material'],
    ['a missing key file', 'key', undefined, 'tls_bad_material'],
  ];
  for (const [name, which, content, code] of broken) {
    it(`${name}: ${code}, naming the file`, async (t) => {
      const good = await files(t);
      const path = `${good.ca}.broken`;
      if (content !== undefined) writeFileSync(path, content);
      const error = refusal({ ...good, [which]: path }, code);
      assert.equal(error.fields['file'], path);
      assert.ok(error.message.includes(path));
      if (code === 'tls_no_ca_certificates') {
        assert.match(error.message, /no certificates found in CA bundle/);
      }
    });
  }

  it('a key of another certificate: tls_bad_material, and no key in the text', async (t) => {
    const [mine, other] = [await files(t), await files(t)];
    const error = refusal({ ...mine, key: other.key }, 'tls_bad_material');
    assert.match(error.message, /does not belong to the certificate/);
    assert.doesNotMatch(error.message, /BEGIN/);
  });
});

function pem(label: string, body: string): string {
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}
