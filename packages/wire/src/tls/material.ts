// The TLS material of a process: one leaf pair, one trust root, both directions. Always
// TLS 1.3, always our own CA, never a session ticket: a resumed session may not show the
// peer's certificate (security §1.2).
//
// The leaf may be replaced while connections live; each handshake takes the pair of its
// moment. A pair gets in only after a secure context was built from it, because a server
// that is handed a bad one refuses everybody.

import { constants } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { type LeafFiles, orBadMaterial, type LeafPair } from './leaf-pair.ts';

export type TlsMode =
  /** Both sides present a certificate of the CA. */
  | 'mtls'
  /** Certificate and key without a CA: encryption, no identity. For development providers. */
  | 'server-only';

export interface TlsMaterialOptions {
  readonly files: LeafFiles;
  readonly pair: LeafPair;
  /** Undefined in server-only mode. */
  readonly ca: readonly string[] | undefined;
}

export class TlsMaterial {
  readonly mode: TlsMode;
  readonly files: LeafFiles;
  readonly #ca: readonly string[] | undefined;
  readonly #listeners = new Set<() => void>();
  #pair: LeafPair;
  #clientContext: SecureContext;

  constructor({ files, pair, ca }: TlsMaterialOptions) {
    this.mode = ca === undefined ? 'server-only' : 'mtls';
    this.files = files;
    this.#ca = ca;
    this.#pair = pair;
    this.#clientContext = this.#contextOf(pair);
  }

  expiresAtUnixSeconds(): number {
    return this.#pair.expiresAtUnixSeconds;
  }

  holds(certificatePem: Buffer, keyPem: Buffer): boolean {
    return this.#pair.certificatePem.equals(certificatePem) && this.#pair.keyPem.equals(keyPem);
  }

  /** Throws `tls_bad_material` and keeps the old pair when the new one cannot be used. */
  replace(pair: LeafPair): void {
    this.#clientContext = this.#contextOf(pair);
    this.#pair = pair;
    for (const listener of this.#listeners) listener();
  }

  /** Called after each replacement. Returns how to stop listening. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For handshakes that start now. */
  clientContext(): SecureContext {
    return this.#clientContext;
  }

  serverContextOptions(): SecureContextOptions {
    return this.#contextOptions(this.#pair);
  }

  /** What a server demands of its clients. */
  clientCertificatePolicy(): { requestCert: boolean; rejectUnauthorized?: true } {
    return this.mode === 'mtls'
      ? { requestCert: true, rejectUnauthorized: true }
      : { requestCert: false };
  }

  #contextOf(pair: LeafPair): SecureContext {
    return orBadMaterial(this.files.cert, 'the pair cannot be used for TLS', () =>
      createSecureContext(this.#contextOptions(pair)),
    );
  }

  #contextOptions({ certificatePem, keyPem }: LeafPair): SecureContextOptions {
    return {
      cert: certificatePem,
      key: keyPem,
      minVersion: 'TLSv1.3',
      secureOptions: constants.SSL_OP_NO_TICKET,
      ...(this.#ca === undefined ? {} : { ca: [...this.#ca] }),
    };
  }
}
