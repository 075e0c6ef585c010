// Certificates for this package's own tests: an in-memory P-256 CA and leaves with any
// SANs, valid or not. Never shipped, never checked in; keys live as long as the test.

import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realRuntime } from '@bigfleet/base/real';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  GeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const runtime = realRuntime();

export interface LeafRequest {
  /** URI SANs, byte for byte. */
  readonly uris?: readonly string[];
  /** DNS SANs; not checked, so that hostile names can be minted. Default: localhost. */
  readonly dns?: readonly string[];
  /** Default: 127.0.0.1 and ::1. */
  readonly ips?: readonly string[];
  readonly commonName?: string;
  /** Seconds from now; a negative end is an expired certificate. Default: an hour each way. */
  readonly validFromSeconds?: number;
  readonly validToSeconds?: number;
  /** Default: both, as one leaf serves both roles. */
  readonly usages?: readonly ('server' | 'client')[];
}

export interface Leaf {
  readonly certPem: string;
  readonly keyPem: string;
  readonly der: Uint8Array;
}

export interface Pki {
  readonly caPem: string;
  leaf(request: LeafRequest): Promise<Leaf>;
}

export async function createPki(name = 'test CA'): Promise<Pki> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const ca = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    notBefore: secondsFromNow(-7_200),
    notAfter: secondsFromNow(30 * 86_400),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    caPem: ca.toString('pem'),
    leaf: (request) => issue(ca, keys.privateKey, request),
  };
}

async function issue(
  ca: X509Certificate,
  signingKey: webcrypto.CryptoKey,
  request: LeafRequest,
): Promise<Leaf> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    subject: request.commonName === undefined ? '' : `CN=${request.commonName}`,
    issuer: ca.subject,
    publicKey: keys.publicKey,
    signingKey,
    notBefore: secondsFromNow(request.validFromSeconds ?? -3_600),
    notAfter: secondsFromNow(request.validToSeconds ?? 3_600),
    signingAlgorithm: algorithm,
    extensions: leafExtensions(request),
  });
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certPem: certificate.toString('pem'),
    keyPem: PemConverter.encode(pkcs8, 'PRIVATE KEY'),
    der: new Uint8Array(certificate.rawData),
  };
}

function leafExtensions(request: LeafRequest): Extension[] {
  const usages = (request.usages ?? ['server', 'client']).map((usage) =>
    usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
  );
  const names = [
    ...(request.dns ?? ['localhost']).map((dns) => new GeneralName('dns', dns)),
    ...(request.ips ?? ['127.0.0.1', '::1']).map((ip) => new GeneralName('ip', ip)),
    ...(request.uris ?? []).map((uri) => new GeneralName('url', uri)),
  ];
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new ExtendedKeyUsageExtension(usages),
    ...(names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]),
  ];
}

function secondsFromNow(seconds: number): Date {
  return new Date(Number(runtime.clock.unixNanos() / 1_000_000n) + seconds * 1_000);
}

export interface MaterialFiles {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
  remove(): void;
}

/** Writes a leaf and a trust root the way a Secret mount presents them. */
export function writeMaterial(leaf: Leaf, caPem: string): MaterialFiles {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-pki-'));
  const files = {
    cert: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    ca: join(folder, 'ca.crt'),
  };
  writeFileSync(files.cert, leaf.certPem);
  writeFileSync(files.key, leaf.keyPem, { mode: 0o600 });
  writeFileSync(files.ca, caPem);
  return { ...files, remove: () => rmSync(folder, { recursive: true }) };
}
