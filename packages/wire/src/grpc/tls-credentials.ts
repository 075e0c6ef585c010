// Channel credentials that take the material of the moment at each handshake, so that a
// rotated leaf is used from the next connection on and established ones stay. Built on
// grpc-js's connector hook because its own constructors take no minimum version, and its
// own connector sends an IP address as the TLS server name, which RFC 6066 forbids.

import { isIP, type Socket } from 'node:net';
import { connect, type PeerCertificate } from 'node:tls';
import { CallCredentials, ChannelCredentials, type experimental } from '@grpc/grpc-js';
import type { TlsMaterial } from '../tls/material.ts';
import { type ServerIdentityRule, serverIdentityError } from '../tls/server-identity.ts';
import { handshakeTimeoutMs } from './limits.ts';

export interface TlsChannelOptions {
  readonly material: TlsMaterial;
  readonly rule: ServerIdentityRule;
  /** What the certificate is checked against: the target's host, or the name given instead. */
  readonly host: string;
}

type Connector = experimental.SecureConnector;

export class TlsChannelCredentials extends ChannelCredentials {
  readonly #options: TlsChannelOptions;

  constructor(options: TlsChannelOptions) {
    super();
    this.#options = options;
  }

  override _isSecure(): boolean {
    return true;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(
    _target: unknown,
    _options: unknown,
    callCredentials: CallCredentials = CallCredentials.createEmpty(),
  ): Connector {
    return {
      connect: (socket) => handshake(socket, this.#options),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials,
      destroy: () => {},
    };
  }
}

function handshake(
  socket: Socket,
  { material, rule, host }: TlsChannelOptions,
): Promise<experimental.SecureConnectResult> {
  return new Promise((resolve, reject) => {
    const secured = connect({
      socket,
      secureContext: material.clientContext(),
      minVersion: 'TLSv1.3',
      ALPNProtocols: ['h2'],
      servername: isIP(host) === 0 ? host : '',
      checkServerIdentity: (_name: string, leaf: PeerCertificate) =>
        serverIdentityError(leaf.raw, host, rule),
    });
    secured.setTimeout(handshakeTimeoutMs, () => {
      secured.destroy(new Error('the TLS handshake timed out'));
    });
    secured.once('error', reject);
    secured.once('close', () =>
      reject(new Error('the server closed the connection during the handshake')),
    );
    secured.once('secureConnect', () => {
      secured.setTimeout(0);
      secured.removeAllListeners('timeout');
      if (secured.alpnProtocol === 'h2') resolve({ socket: secured, secure: true });
      else secured.destroy(new Error('the server does not speak HTTP/2 over TLS'));
    });
  });
}
