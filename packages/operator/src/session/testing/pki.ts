// Certificates for the tests of real sessions: one P-256 CA per call and leaves with one identity
// each, written to a directory that goes with the test. Keys live as long as the test.

import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Runtime } from '@bigfleet/base';
import { TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** Mints the material of one identity, such as `bigfleet://cluster/eu-1`. */
export type Mint = (identity: string) => Promise<TlsMaterial>;

export async function createMint(t: TestContext, { clock }: Runtime): Promise<Mint> {
  const directory = mkdtempSync(join(tmpdir(), 'bigfleet-operator-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const nowMs = Number(clock.unixNanos() / 1_000_000n);
  const validity = {
    notBefore: new Date(nowMs - HOUR_MS),
    notAfter: new Date(nowMs + HOUR_MS),
    signingAlgorithm: algorithm,
  };
  const caKeys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=test CA',
    keys: caKeys,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const caFile = join(directory, 'ca.crt');
  writeFileSync(caFile, ca.toString('pem'));
  let leafCount = 0;
  return async (identity) => {
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const leaf = await X509CertificateGenerator.create({
      ...validity,
      subject: 'CN=leaf',
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      extensions: [
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
        new SubjectAlternativeNameExtension([
          { type: 'ip', value: '127.0.0.1' },
          { type: 'url', value: identity },
        ]),
      ],
    });
    leafCount++;
    const cert = join(directory, `${leafCount}.crt`);
    const key = join(directory, `${leafCount}.key`);
    writeFileSync(cert, leaf.toString('pem'));
    const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    writeFileSync(key, PemConverter.encode(pkcs8, 'PRIVATE KEY'));
    const material = tlsFromFlags({ cert, key, ca: caFile, env: {} });
    if (!(material instanceof TlsMaterial)) throw new Error('expected TLS material');
    return material;
  };
}
