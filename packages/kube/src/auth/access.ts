// How a process reaches one cluster and who it is there: `kubeconfig.ts` and `in-cluster.ts` make it,
// the transport uses it. Secrets stay wrapped until the moment of a request.

import type { Secret } from '@bigfleet/telemetry';

export interface ClusterAccess {
  readonly server: URL;
  readonly tls: ServerVerification;
  readonly credentials: CredentialSource;
  /** The namespace that the context names; `default` when it names none. */
  readonly namespace: string;
}

export interface ServerVerification {
  /** PEM bundle; the system's authorities when absent. */
  readonly ca?: string | undefined;
  readonly servername?: string | undefined;
  readonly rejectUnauthorized: true;
}

export interface CredentialSource {
  read(signal: AbortSignal): Promise<Credentials>;
  /** The server answered 401: the next read asks the source again. */
  forget(): void;
}

export interface Credentials {
  readonly bearerToken?: Secret<string> | undefined;
  /** Base64 of user and password. */
  readonly basic?: Secret<string> | undefined;
  /** The same object until the certificate changes. */
  readonly certificate?: ClientCertificate | undefined;
}

export interface ClientCertificate {
  readonly certPem: string;
  readonly keyPem: Secret<string>;
}
