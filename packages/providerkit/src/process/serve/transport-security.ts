// How the gRPC port is protected, from the flags (security §1). A Unix socket is guarded by its file
// mode and never speaks TLS, whatever files are given; anything else follows them.

import type { FlagValues } from '@bigfleet/process/flags';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { CommonFlags } from '../common-flags.ts';

export interface TransportSecurity {
  readonly mode: 'insecure' | 'TLS' | 'mTLS' | 'unix';
  /** Absent on plaintext and Unix sockets. */
  readonly material?: TlsMaterial;
}

type TransportFlags = Pick<
  FlagValues<CommonFlags>,
  'addr' | 'tls-cert' | 'tls-key' | 'tls-ca' | 'require-tls'
>;

/** Throws the TLS errors of the catalogue: partial, unreadable or missing material. */
export function transportSecurity(flags: TransportFlags): TransportSecurity {
  if (flags.addr.startsWith('unix:')) return { mode: 'unix' };
  const material = tlsFromFlags({
    cert: flags['tls-cert'],
    key: flags['tls-key'],
    ca: flags['tls-ca'],
    requireTls: flags['require-tls'],
    allowServerOnly: true,
    env: {},
  });
  if (material === 'plaintext') return { mode: 'insecure' };
  return { mode: material.mode === 'mtls' ? 'mTLS' : 'TLS', material };
}
