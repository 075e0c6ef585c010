// --tls-cert, --tls-key, --tls-ca, --require-tls: one meaning in every binary (security
// §1.1, §1.4). All three give mTLS, none gives plaintext, anything between is refused, so
// that a typo cannot downgrade a deployment. Bad material fails here, at start, and not at
// the first handshake.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BigFleetError } from '@bigfleet/base';
import { checkedPair, orBadMaterial } from './leaf-pair.ts';
import { TlsMaterial } from './material.ts';

export interface TlsFlags {
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly ca?: string | undefined;
  readonly requireTls?: boolean | undefined;
  /** Providers only: certificate and key without a CA is TLS without identity. */
  readonly allowServerOnly?: boolean | undefined;
  /** Where BIGFLEET_REQUIRE_TLS is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export function tlsFromFlags(flags: TlsFlags): 'plaintext' | TlsMaterial {
  const { cert = '', key = '', ca = '' } = flags;
  const given = [cert, key, ca].filter((path) => path !== '').length;
  if (given === 0) {
    if (isTlsRequired(flags)) throw required('neither certificate nor key nor CA is configured');
    return 'plaintext';
  }
  if (given === 3) return load(cert, key, ca);
  if (flags.allowServerOnly === true && given === 2 && ca === '') {
    if (isTlsRequired(flags)) throw required('a certificate and key without a CA verify nobody');
    return load(cert, key, undefined);
  }
  throw new BigFleetError(
    'tls_partial_configuration',
    `tls: partial configuration (cert=${cert} key=${key} ca=${ca}): ` +
      'set all of --tls-cert/--tls-key/--tls-ca for mTLS, or none for plaintext',
    { fields: { cert, key, ca } },
  );
}

function load(cert: string, key: string, ca: string | undefined): TlsMaterial {
  const files = { cert, key };
  const [certificatePem, keyPem] = [cert, key].map((file) =>
    orBadMaterial(file, 'cannot be read', () => readFileSync(file)),
  ) as [Buffer, Buffer];
  const pair = checkedPair(certificatePem, keyPem, files);
  return new TlsMaterial({ files, pair, ca: ca === undefined ? undefined : readCaBundle(ca) });
}

const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The one trust root of a process, read once at start (security §1.3). An empty bundle is refused: Node
 * and OpenSSL would otherwise fall back to the system's roots, or trust nobody, both silently.
 */
function readCaBundle(file: string): readonly string[] {
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

/** An unknown value of the variable means yes: the safe reading of a typo. */
export function isTlsRequired({
  requireTls,
  env = process.env,
}: Pick<TlsFlags, 'requireTls' | 'env'>): boolean {
  const variable = env['BIGFLEET_REQUIRE_TLS'] ?? '';
  return requireTls === true || !['', '0', 'false'].includes(variable.toLowerCase());
}

function required(detail: string): BigFleetError {
  return new BigFleetError('tls_required', `tls: mTLS is required: ${detail}`);
}
