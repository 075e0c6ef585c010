// Who a dialled server must be (security §3.2). A host name alone would let any leaf of
// the CA act as any server whose name it carries, so the dialer also demands the server's
// bigfleet:// SAN. Providers carry none and are held to their host name.

import { isIP } from 'node:net';
import { X509Certificate } from 'node:crypto';
import { identityOfCertificate, sanOf } from '../identity/certificate.ts';
import type { PeerIdentity } from '../identity/identity.ts';

export type ServerIdentityRule =
  | { readonly kind: 'admin' }
  /** Without an id: any shard. */
  | { readonly kind: 'shard'; readonly id?: string }
  | { readonly kind: 'host-name-only' };

/** Undefined when the leaf may serve under this host name; otherwise why not. */
export function serverIdentityError(
  leaf: Uint8Array,
  host: string,
  rule: ServerIdentityRule,
): Error | undefined {
  const certificate = new X509Certificate(leaf);
  if (!matchesHost(certificate, host)) {
    return new Error(
      `identity_denied: the server's certificate is not for host ${JSON.stringify(host)}`,
    );
  }
  const identity = identityOfCertificate(leaf);
  if (satisfies(identity, rule)) return undefined;
  return new Error(
    `identity_denied: the server presents ${presented(identity)}, required is ${required(rule)}`,
  );
}

/** Subject alternative names only: a common name is free text. */
function matchesHost(certificate: X509Certificate, host: string): boolean {
  if (isIP(host) !== 0) return certificate.checkIP(host) !== undefined;
  return certificate.checkHost(host, { subject: 'never', partialWildcards: false }) !== undefined;
}

function satisfies(identity: PeerIdentity, rule: ServerIdentityRule): boolean {
  switch (rule.kind) {
    case 'host-name-only':
      return true;
    case 'admin':
      return identity.kind === 'verified' && identity.role === 'admin';
    case 'shard':
      return (
        identity.kind === 'verified' &&
        identity.role === 'shard' &&
        (rule.id === undefined || identity.id === rule.id)
      );
  }
}

function presented(identity: PeerIdentity): string {
  if (identity.kind === 'verified') return identity.san;
  if (identity.kind === 'unverified') return 'no certificate';
  const sans =
    identity.presented.length === 0 ? 'no bigfleet:// SAN' : identity.presented.join(' ');
  return `${sans} (${identity.reason})`;
}

function required(rule: ServerIdentityRule): string {
  switch (rule.kind) {
    case 'admin':
      return sanOf('admin', '');
    case 'shard':
      return rule.id === undefined ? 'bigfleet://shard/<any id>' : sanOf('shard', rule.id);
    case 'host-name-only':
      return 'a matching host name';
  }
}
