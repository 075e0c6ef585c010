// The identity of a session: the claimed cluster must be the one in the peer's certificate, checked
// before the session is installed, because installing first would let an impostor evict the real
// operator for a moment (security §3.1). The configured transport decides whether there is a certificate
// to check; an absent one never means plaintext.

import { type Logger, stableMessages } from '@bigfleet/telemetry';
import { type CallContext, type Denial, type PeerIdentity, RpcError, sanOf } from '@bigfleet/wire';
import type { SessionMetrics } from './metrics.ts';

export interface IdentityPolicy {
  readonly transport: 'plaintext' | 'mtls';
  /** The common name must equal the cluster id too; it only ever restricts. */
  readonly requireSessionCn: boolean;
}

/** Undefined when the peer may speak for the cluster. */
export function identityProblem(
  policy: IdentityPolicy,
  peer: CallContext['peer'],
  cluster: string,
): string | undefined {
  const { identity } = peer;
  if (identity.kind === 'unverified' && isExempt(policy, peer.address)) return undefined;
  const required = sanOf('cluster', cluster);
  if (identity.kind !== 'verified' || identity.san !== required) return `needs ${required}`;
  if (policy.requireSessionCn && identity.commonName !== cluster) {
    return `needs the common name ${cluster}`;
  }
  return undefined;
}

/** A Unix socket is guarded by its file mode, even when the process has TLS files. */
function isExempt({ transport }: IdentityPolicy, peerAddress: string): boolean {
  return transport === 'plaintext' || peerAddress.startsWith('unix:');
}

/** Names the SAN at most; never more of a certificate. */
export function presentedIdentity(identity: PeerIdentity): string {
  switch (identity.kind) {
    case 'verified':
      return identity.san;
    case 'unverified':
      return 'unauthenticated';
    case 'unusable':
      return identity.reason;
  }
}

export interface IdentityReporter {
  readonly metrics: SessionMetrics;
  readonly logger: Logger;
}

/** Every refusal is a security event. */
export function rejectIdentity(
  reporter: IdentityReporter,
  { peer, path }: CallContext,
  cluster: string,
  problem: string,
): RpcError {
  const presented = presentedIdentity(peer.identity);
  report(reporter, { cluster, presented, problem, peer: peer.address, path });
  return new RpcError('PERMISSION_DENIED', `identity_rejected: ${problem}; presented ${presented}`);
}

/** For the gate's `onDenied`: a peer without the cluster role never reaches the session handler. */
export function reportDeniedRole(reporter: IdentityReporter, denial: Denial): void {
  const { assertedId: cluster = '', presented, peerAddress: peer, path } = denial;
  report(reporter, { cluster, presented, problem: 'needs the role cluster', peer, path });
}

type Rejected = Readonly<Record<'cluster' | 'presented' | 'problem' | 'peer' | 'path', string>>;

function report({ metrics, logger }: IdentityReporter, rejected: Rejected): void {
  const { cluster, presented, problem: err, peer, path: rpc } = rejected;
  metrics.identityRejected.inc();
  const fields = { cluster, presented_identity: presented, err, peer, rpc };
  logger.log('error', stableMessages.sessionIdentityRejected.text, fields);
}
