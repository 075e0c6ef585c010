// When the certificate of a server ends: a handshake with our own certificate, verified in full, and
// nothing said over it.

import { connect } from 'node:tls';
import type { TlsMaterial } from '@bigfleet/wire';
import { hostPortOf } from './target.ts';

export interface CertificateAsk {
  readonly target: string;
  readonly serverName: string;
  readonly tls: TlsMaterial;
  readonly signal: AbortSignal;
}

const MS_PER_SECOND = 1_000;

/** Unix seconds; undefined when the target speaks no TLS (a Unix socket). */
export function certificateExpiry(ask: CertificateAsk): Promise<number | undefined> {
  const parts = hostPortOf(ask.target);
  if (parts === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: parts.host,
      port: Number(parts.port),
      secureContext: ask.tls.clientContext(),
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.3',
      // A name, never an address: Node refuses those as server names.
      ...(/[A-Za-z]/.test(ask.serverName) ? { servername: ask.serverName } : {}),
    });
    const end = (): void => {
      socket.destroy(ask.signal.reason instanceof Error ? ask.signal.reason : undefined);
    };
    ask.signal.addEventListener('abort', end, { once: true });
    socket.once('secureConnect', () => {
      const { valid_to: validTo } = socket.getPeerCertificate();
      ask.signal.removeEventListener('abort', end);
      socket.end();
      const ms = Date.parse(validTo);
      resolve(Number.isNaN(ms) ? undefined : ms / MS_PER_SECOND);
    });
    socket.once('error', reject);
  });
}
