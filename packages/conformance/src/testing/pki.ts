// One CA and one leaf for localhost, as files: what an endpoint behind mTLS and a client of it
// need. Keys live as long as the test.

import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  GeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

export interface PemFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A leaf for `localhost` and 127.0.0.1 with these URI SANs, written into `folder`. */
export async function writePki(folder: string, uris: readonly string[]): Promise<PemFiles> {
  const nowMs = Number(realRuntime().clock.unixNanos() / 1_000_000n);
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
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
    ],
  });
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const leaf = await X509CertificateGenerator.create({
    ...validity,
    subject: '',
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey: caKeys.privateKey,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension([
        new GeneralName('dns', 'localhost'),
        new GeneralName('ip', '127.0.0.1'),
        ...uris.map((uri) => new GeneralName('url', uri)),
      ]),
    ],
  });
  const files: PemFiles = {
    cert: path.join(folder, 'tls.crt'),
    key: path.join(folder, 'tls.key'),
    ca: path.join(folder, 'ca.crt'),
  };
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  writeFileSync(files.cert, leaf.toString('pem'));
  writeFileSync(files.key, PemConverter.encode(pkcs8, 'PRIVATE KEY'), { mode: 0o600 });
  writeFileSync(files.ca, ca.toString('pem'));
  return files;
}
