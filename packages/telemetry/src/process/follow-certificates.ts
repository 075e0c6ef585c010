// The TLS files of the process: read at start, followed while it runs (security §1).

import type { Runtime } from '@bigfleet/base';
import { startTlsReload, type TlsMaterial } from '@bigfleet/wire';
import type { Logger } from '../logs/logger.ts';
import { transportPlaintext } from '../logs/stable-messages.ts';
import type { ProcessMetrics } from './process-metrics.ts';

export interface CertificateOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly tls: TlsMaterial | undefined;
  readonly metrics: Pick<ProcessMetrics<never>, 'transportInsecure' | 'certificateExpiry'>;
}

export function followCertificates(options: CertificateOptions): { stop(): void } {
  const { runtime, logger, tls, metrics } = options;
  metrics.transportInsecure.set(tls === undefined ? 1 : 0);
  if (tls === undefined) {
    logger.event(transportPlaintext, {});
    return { stop: () => {} };
  }
  metrics.certificateExpiry.set(tls.expiresAtUnixSeconds());
  return startTlsReload({
    runtime,
    material: tls,
    onReloaded: (expiresAt) => {
      metrics.certificateExpiry.set(expiresAt);
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
