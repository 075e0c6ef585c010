// The process's TLS material on its way to another thread: the pair in use now, as plain data. Only
// main reads the files and follows them, so a thread that starts while they are half-written gets
// the last coherent pair, as every connection does.

import { assert } from '@bigfleet/base';
import { TlsMaterial } from '@bigfleet/wire';

type LeafPair = Parameters<TlsMaterial['replace']>[0];

export interface TlsParcel {
  readonly files: TlsMaterial['files'];
  readonly certificatePem: Uint8Array;
  readonly keyPem: Uint8Array;
  readonly expiresAtUnixSeconds: number;
  readonly ca: readonly string[] | undefined;
}

export function packTls(material: TlsMaterial): TlsParcel {
  const { cert, key, ca } = material.serverContextOptions();
  assert(Buffer.isBuffer(cert) && Buffer.isBuffer(key), 'a leaf is a pair of buffers');
  return {
    files: material.files,
    certificatePem: cert,
    keyPem: key,
    expiresAtUnixSeconds: material.expiresAtUnixSeconds(),
    ca: Array.isArray(ca) ? ca.map(String) : undefined,
  };
}

export function unpackTls(parcel: TlsParcel): TlsMaterial {
  return new TlsMaterial({ files: parcel.files, pair: pairOf(parcel), ca: parcel.ca });
}

export function pairOf({ certificatePem, keyPem, expiresAtUnixSeconds }: TlsParcel): LeafPair {
  return {
    certificatePem: Buffer.from(certificatePem),
    keyPem: Buffer.from(keyPem),
    expiresAtUnixSeconds,
  };
}
