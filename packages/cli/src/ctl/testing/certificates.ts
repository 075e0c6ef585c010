// Certificates of one throw-away CA, as files, for the handshakes of bigfleetctl's own tests.

import 'reflect-metadata';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export interface TestCa {
  /** For localhost, with this bigfleet:// name, valid so many hours from now. */
  issue(uri: string, validHours?: number): Promise<CertificateFiles>;
  remove(): void;
}

export async function createTestCa(): Promise<TestCa> {
  const nowMs = Number(realRuntime().clock.unixNanos() / 1_000_000n);
  const folder = mkdtempSync(path.join(tmpdir(), 'ctl-tls-'));
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const notBefore = new Date(nowMs - HOUR_MS);
  const ca = await X509CertificateGenerator.createSelfSigned({
    notBefore,
    notAfter: new Date(nowMs + 1_000 * HOUR_MS),
    name: 'CN=ctl test',
    keys,
    signingAlgorithm: algorithm,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  let count = 0;
  const write = (name: string, text: string): string => {
    const file = path.join(folder, `${count}-${name}`);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  return {
    issue: async (uri, validHours = 500) => {
      const leaf = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
      const certificate = await X509CertificateGenerator.create({
        notBefore,
        notAfter: new Date(nowMs + validHours * HOUR_MS),
        subject: '',
        issuer: ca.subject,
        publicKey: leaf.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        extensions: [
          new SubjectAlternativeNameExtension([
            { type: 'dns', value: 'localhost' },
            { type: 'ip', value: '127.0.0.1' },
            { type: 'url', value: uri },
          ]),
        ],
      });
      count += 1;
      const key = await crypto.subtle.exportKey('pkcs8', leaf.privateKey);
      return {
        cert: write('tls.crt', certificate.toString('pem')),
        key: write('tls.key', PemConverter.encode(key, 'PRIVATE KEY')),
        ca: write('ca.crt', ca.toString('pem')),
      };
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
