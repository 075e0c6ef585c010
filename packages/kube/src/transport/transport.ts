// How requests reach an API server: one interface for the network (`https-transport.ts`) and for the
// test API server in the same process under virtual time (`testing/`). Credentials are the transport's
// own business, so that nothing above it can log them.
//
// Contract for implementations: `send` resolves once the response's head is there, whatever its status,
// and rejects only when no response came. The body must be read to its end or destroyed, otherwise its
// connection is lost for others.

export interface KubeTransport {
  send(request: KubeHttpRequest): Promise<KubeHttpResponse>;
  /** Forgets cached credentials after the server refused them, so that the next request reads anew. */
  refreshCredentials(): void;
  /** Ends what is under way. Idempotent. */
  close(): void;
}

export interface KubeHttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query. */
  readonly path: string;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
  /** A watch holds its connection for minutes; it must not take one that writes wait for. */
  readonly isWatch?: boolean | undefined;
  /** Aborts the request and, after the head, the body. */
  readonly signal: AbortSignal;
}

export interface KubeHttpResponse {
  readonly status: number;
  /** Seconds of `Retry-After`, when the server sent a number. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  destroy(): void;
}
