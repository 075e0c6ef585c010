// Two certificates of one throw-away CA, as files, for the client's own mTLS test.

import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import { TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const hourMs = 3_600_000;

export interface TestLeaves {
  /** TLS material of a leaf for localhost with this URI SAN; none when it is empty. */
  leaf(uri: string): Promise<TlsMaterial>;
  remove(): void;
}

export async function createLeaves(): Promise<TestLeaves> {
  const nowMs = Number(realRuntime().clock.unixNanos() / 1_000_000n);
  const validity = { notBefore: new Date(nowMs - hourMs), notAfter: new Date(nowMs + hourMs) };
  const caKeys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=test',
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-shard-'));
  let count = 0;
  const leaf = async (uri: string): Promise<TlsMaterial> => {
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const names = [
      { type: 'dns', value: 'localhost' } as const,
      { type: 'ip', value: '127.0.0.1' } as const,
      ...(uri === '' ? [] : [{ type: 'url', value: uri } as const]),
    ];
    const certificate = await X509CertificateGenerator.create({
      ...validity,
      subject: '',
      issuer: ca.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [new SubjectAlternativeNameExtension(names)],
    });
    const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    const write = (name: string, text: string): string => {
      const file = join(folder, `${count}-${name}`);
      writeFileSync(file, text, { mode: 0o600 });
      return file;
    };
    count += 1;
    const material = tlsFromFlags({
      cert: write('tls.crt', certificate.toString('pem')),
      key: write('tls.key', PemConverter.encode(key, 'PRIVATE KEY')),
      ca: write('ca.crt', ca.toString('pem')),
    });
    if (!(material instanceof TlsMaterial)) throw new Error('three files are mTLS');
    return material;
  };
  return { leaf, remove: () => rmSync(folder, { recursive: true }) };
}
