// Mints certificates for tests, in memory, anew on each run: P-256 (or RSA) CAs and leaves with
// arbitrary names, uses and validity, well-formed or hostile on purpose. No key is ever checked
// in. This is the only file that imports the X.509 library; it hands out PEM and DER.
// Times are explicit offsets from now, because an expired certificate is a fixture here.

import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { unixMs } from './real-time.ts';

export type KeyKind = 'p256' | 'p384' | 'rsa2048';
export type KeyUse = 'serverAuth' | 'clientAuth';

const HOUR_MS = 3_600_000;
/** Long enough for any run; the start lies back so that a clock a little behind accepts it. */
const DEFAULT_VALIDITY: Validity = { fromMs: -HOUR_MS, toMs: 24 * HOUR_MS };

/** Relative to now. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface CaSpec {
  readonly commonName?: string;
  readonly key?: KeyKind;
  readonly validity?: Validity;
}

export interface LeafSpec {
  /** No subject at all when absent. */
  readonly commonName?: string;
  /** Kubernetes reads them as groups. */
  readonly organizations?: readonly string[];
  /** Written byte for byte, however malformed. */
  readonly uris?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  /** Both when absent; an empty list leaves the extension out. */
  readonly uses?: readonly KeyUse[];
  readonly validity?: Validity;
  readonly key?: KeyKind;
}

export interface Leaf {
  /** The leaf, followed by its intermediates: what goes into tls.crt. */
  readonly certPem: string;
  readonly keyPem: string;
  /** The root that it chains to: what goes into ca.crt. */
  readonly caPem: string;
  /** The leaf alone. */
  readonly der: Uint8Array;
}

/** A root or an intermediate: signs leaves and further CAs. Its key never leaves memory. */
export class CertificateAuthority {
  readonly #certificate: X509Certificate;
  readonly #keys: webcrypto.CryptoKeyPair;
  /** From this CA up to, not including, the root. */
  readonly #intermediates: string;
  /** The root's certificate. */
  readonly caPem: string;

  private constructor(
    certificate: X509Certificate,
    keys: webcrypto.CryptoKeyPair,
    parent: CertificateAuthority | undefined,
  ) {
    const pem = pemText(certificate);
    this.#certificate = certificate;
    this.#keys = keys;
    this.#intermediates = parent === undefined ? '' : pem + parent.#intermediates;
    this.caPem = parent?.caPem ?? pem;
  }

  /** A self-signed root. */
  static async root(spec: CaSpec = {}): Promise<CertificateAuthority> {
    const keys = await generateKeys(spec.key ?? 'p256');
    const name = subjectName(spec.commonName ?? 'bigfleet test ca');
    const certificate = await X509CertificateGenerator.create({
      ...(await caFields(spec, keys)),
      subject: name,
      issuer: name,
      signingKey: keys.privateKey,
    });
    return new CertificateAuthority(certificate, keys, undefined);
  }

  /** A CA below this one; its leaves carry the chain. */
  async intermediate(spec: CaSpec = {}): Promise<CertificateAuthority> {
    const keys = await generateKeys(spec.key ?? 'p256');
    const certificate = await X509CertificateGenerator.create({
      ...(await caFields(spec, keys)),
      subject: subjectName(spec.commonName ?? 'bigfleet test intermediate'),
      issuer: this.#certificate.subjectName,
      signingKey: this.#keys.privateKey,
    });
    return new CertificateAuthority(certificate, keys, this);
  }

  async leaf(spec: LeafSpec): Promise<Leaf> {
    const keys = await generateKeys(spec.key ?? 'p256');
    const certificate = await X509CertificateGenerator.create({
      ...validityFields(spec.validity),
      publicKey: keys.publicKey,
      subject: leafSubject(spec),
      issuer: this.#certificate.subjectName,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: signing(this.#keys.privateKey),
      extensions: [
        ...leafExtensions(spec),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
        await AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
      ],
    });
    return {
      certPem: pemText(certificate) + this.#intermediates,
      keyPem: await privateKeyPem(keys),
      caPem: this.caPem,
      der: new Uint8Array(certificate.rawData),
    };
  }
}

/** A leaf that vouches for itself; its `caPem` is itself. */
export async function selfSignedLeaf(spec: LeafSpec): Promise<Leaf> {
  const keys = await generateKeys(spec.key ?? 'p256');
  const certificate = await X509CertificateGenerator.create({
    ...validityFields(spec.validity),
    publicKey: keys.publicKey,
    subject: subjectName(spec.commonName),
    issuer: subjectName(spec.commonName),
    signingKey: keys.privateKey,
    signingAlgorithm: signing(keys.privateKey),
    extensions: leafExtensions(spec),
  });
  const pem = pemText(certificate);
  return {
    certPem: pem,
    keyPem: await privateKeyPem(keys),
    caPem: pem,
    der: new Uint8Array(certificate.rawData),
  };
}

type CaFields = Omit<
  Parameters<typeof X509CertificateGenerator.create>[0],
  'subject' | 'issuer' | 'signature'
> & { readonly publicKey: webcrypto.CryptoKey };

async function caFields(spec: CaSpec, keys: webcrypto.CryptoKeyPair): Promise<CaFields> {
  return {
    ...validityFields(spec.validity),
    publicKey: keys.publicKey,
    signingAlgorithm: signing(keys.privateKey),
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  };
}

function leafExtensions(spec: LeafSpec): Extension[] {
  const names: JsonGeneralName[] = [
    ...(spec.dnsNames ?? []).map((value) => ({ type: 'dns', value }) as const),
    ...(spec.uris ?? []).map((value) => ({ type: 'url', value }) as const),
    ...(spec.ips ?? []).map((value) => ({ type: 'ip', value }) as const),
  ];
  const uses = spec.uses ?? ['serverAuth', 'clientAuth'];
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  ];
  if (uses.length > 0) {
    extensions.push(new ExtendedKeyUsageExtension(uses.map((use) => ExtendedKeyUsage[use])));
  }
  if (names.length > 0) extensions.push(new SubjectAlternativeNameExtension(names));
  return extensions;
}

function validityFields(validity: Validity = DEFAULT_VALIDITY): {
  notBefore: Date;
  notAfter: Date;
} {
  const now = unixMs();
  return { notBefore: new Date(now + validity.fromMs), notAfter: new Date(now + validity.toMs) };
}

/** As a structure, never as text: a common name may hold commas and equals signs. */
function subjectName(commonName: string | undefined): { CN: string[] }[] {
  return commonName === undefined ? [] : [{ CN: [commonName] }];
}

function leafSubject({ commonName, organizations = [] }: LeafSpec): Record<string, string[]>[] {
  return [...organizations.map((name) => ({ O: [name] })), ...subjectName(commonName)];
}

const KEY_ALGORITHMS = {
  p256: { name: 'ECDSA', namedCurve: 'P-256' },
  p384: { name: 'ECDSA', namedCurve: 'P-384' },
  rsa2048: {
    name: 'RSASSA-PKCS1-v1_5',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
    hash: 'SHA-256',
  },
} as const satisfies Record<KeyKind, object>;

async function generateKeys(kind: KeyKind): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHMS[kind], true, ['sign', 'verify']);
}

function signing(key: webcrypto.CryptoKey): { name: string; hash: string } {
  return { name: key.algorithm.name, hash: 'SHA-256' };
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return `${PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`;
}

function pemText(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
