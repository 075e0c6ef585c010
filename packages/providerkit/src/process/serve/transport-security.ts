// How the gRPC port is protected, from the flags (security §1). A Unix socket is guarded by its file
// mode and never speaks TLS, whatever files are given; anything else follows them.

import type { Runtime } from '@bigfleet/base';
import type { FlagValues } from '@bigfleet/process/flags';
import { type Logger, type ProcessMetrics, stableMessages } from '@bigfleet/telemetry';
import { startTlsReload, tlsFromFlags, type TlsMaterial, type TlsReload } from '@bigfleet/wire';
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

export interface SecurityWatchOptions {
  readonly runtime: Runtime;
  readonly security: TransportSecurity;
  readonly logger: Logger;
  readonly processMetrics: Pick<ProcessMetrics<never>, 'transportInsecure' | 'certificateExpiry'>;
}

/** Follows the certificate files while the process runs. */
export function watchSecurity(options: SecurityWatchOptions): TlsReload | undefined {
  const { runtime, security, logger, processMetrics } = options;
  const { material, mode } = security;
  processMetrics.transportInsecure.set(mode === 'insecure' ? 1 : 0);
  if (mode === 'insecure') logger.event(stableMessages.transportPlaintext, {});
  if (material === undefined) return undefined;
  processMetrics.certificateExpiry.set(material.expiresAtUnixSeconds());
  return startTlsReload({
    runtime,
    material,
    onReloaded: (expiresAt) => {
      processMetrics.certificateExpiry.set(expiresAt);
      logger.info('certificate reloaded', { expires_unix_s: expiresAt });
    },
    onReloadFailed: (error) =>
      logger.warn('certificate could not be reloaded, the old one stays', {
        err: error instanceof Error ? error : String(error),
      }),
    onExpiringSoon: (expiresAt) =>
      logger.warn('certificate expires soon', { expires_unix_s: expiresAt }),
  });
}
