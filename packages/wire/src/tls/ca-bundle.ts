// The one trust root of a process, read once at start (security §1.3). An empty bundle is
// refused: Node and OpenSSL would otherwise fall back to the system's roots, or trust
// nobody, both silently.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BigFleetError } from '@bigfleet/base';
import { orBadMaterial } from './leaf-pair.ts';

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export function readCaBundle(file: string): readonly string[] {
  const blocks = readText(file).match(certificateBlock) ?? [];
  if (blocks.length === 0) throw noCertificates(file, undefined);
  for (const block of blocks) {
    const detail = 'a certificate in the CA bundle cannot be read';
    orBadMaterial(file, detail, () => new X509Certificate(block));
  }
  return blocks;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (cause) {
    throw noCertificates(file, cause);
  }
}

function noCertificates(file: string, cause: unknown): BigFleetError {
  return new BigFleetError(
    'tls_no_ca_certificates',
    `tls: ${file}: no certificates found in CA bundle`,
    { fields: { file }, cause },
  );
}
