// A certificate chain and its key that belong together. Only coherent pairs exist as
// values: what is half-written, unreadable or mismatched never gets further than here.

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { BigFleetError } from '@bigfleet/base';

export interface LeafPair {
  readonly certificatePem: Buffer;
  readonly keyPem: Buffer;
  readonly expiresAtUnixSeconds: number;
}

export interface LeafFiles {
  readonly cert: string;
  readonly key: string;
}

/** Throws `tls_bad_material` naming the file; key content never reaches a message. */
export function checkedPair(certificatePem: Buffer, keyPem: Buffer, files: LeafFiles): LeafPair {
  const certificate = orBadMaterial(
    files.cert,
    'not a PEM certificate',
    () => new X509Certificate(certificatePem),
  );
  const key = readKey(keyPem, files.key);
  if (!certificate.checkPrivateKey(key)) {
    throw badMaterial(files.key, `the key does not belong to the certificate in ${files.cert}`);
  }
  const expiresAtUnixSeconds = certificate.validToDate.getTime() / 1000;
  return { certificatePem, keyPem, expiresAtUnixSeconds };
}

function badMaterial(file: string, detail: string, cause?: unknown): BigFleetError {
  return new BigFleetError('tls_bad_material', `tls: ${file}: ${detail}`, {
    fields: { file },
    cause,
  });
}

/** What `read` gives; what it throws becomes `tls_bad_material` of this file. */
export function orBadMaterial<T>(file: string, detail: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw badMaterial(file, detail, cause);
  }
}

/** Without the cause, which may quote the key. */
function readKey(pem: Buffer, file: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem);
  } catch {
    throw badMaterial(file, 'not an unencrypted PEM private key');
  }
}
