// Who a peer is, as far as the transport could prove it. A value, produced once per
// connection by the transport and read by the gate and by handlers. It never comes
// from metadata or from a certificate's common name.

export type Role = 'cluster' | 'shard' | 'admin' | 'readonly';

export type PeerIdentity =
  /** Plaintext, or a Unix socket guarded by its file mode: every identity check is skipped on purpose. */
  | { readonly kind: 'unverified' }
  /** A verified chain, but not exactly one well-formed bigfleet:// SAN: may connect, may do nothing. */
  | {
      readonly kind: 'unusable';
      readonly reason: 'identity_missing' | 'identity_ambiguous' | 'identity_malformed';
      /** The bigfleet:// SANs that were presented, for the log; never more of the certificate. */
      readonly presented: readonly string[];
    }
  | VerifiedIdentity;

export interface VerifiedIdentity {
  readonly kind: 'verified';
  readonly role: Role;
  /** The cluster or shard id; empty for admin and readonly. */
  readonly id: string;
  /** The SAN as presented, byte for byte. */
  readonly san: string;
  /** May only restrict (--require-session-cn), never grant. */
  readonly commonName: string | undefined;
}

/** The remote end of a call. */
export interface Peer {
  readonly address: string;
  readonly identity: PeerIdentity;
}
