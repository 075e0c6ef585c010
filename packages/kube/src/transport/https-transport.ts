// The network. Two agents, both keeping connections alive: one for calls, one for watches, because a
// watch occupies its connection for minutes and a cluster has several. A TLS handshake per status
// patch was what the common client paid; here a connection lives as long as its credentials do.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { ClusterAccess, Credentials } from '../auth/access.ts';
import type { KubeHttpRequest, KubeHttpResponse, KubeTransport } from './transport.ts';

export interface HttpsTransportOptions {
  readonly access: ClusterAccess;
  /** Program and version, for the audit log of the API server. */
  readonly userAgent: string;
}

const MAX_CALL_CONNECTIONS = 64;
/** A dead peer is noticed by the kernel even when nobody writes. */
const TCP_KEEPALIVE_MS = 30_000;

export class HttpsTransport implements KubeTransport {
  readonly #options: HttpsTransportOptions;
  #agents: AgentPair | undefined;
  readonly #open = new Set<ClientRequest>();
  #isClosed = false;

  constructor(options: HttpsTransportOptions) {
    this.#options = options;
  }

  async send(order: KubeHttpRequest): Promise<KubeHttpResponse> {
    const credentials = await this.#options.access.credentials.read(order.signal);
    order.signal.throwIfAborted();
    if (this.#isClosed) throw new BigFleetError('cancelled', 'the transport is closed');
    const { call, agent } = this.#opened(order, credentials);
    this.#open.add(call);
    let answer: IncomingMessage | undefined;
    call.once('response', (message) => {
      answer = message;
    });
    // An old connection died, or leads nowhere any more: those beside it would be tried one after the
    // other, each for a whole timeout. Before the caller learns of it, who may try again at once.
    const suspectOthers = (): void => {
      if (call.reusedSocket && answer?.complete !== true) closeIdle(agent);
    };
    call.once('error', suspectOthers);
    call.once('close', () => {
      this.#open.delete(call);
      suspectOthers();
    });
    return headOf(call, order);
  }

  /** Node throws at once for a certificate that is none and for a token that no header can carry. */
  #opened(
    order: KubeHttpRequest,
    credentials: Credentials,
  ): { readonly call: ClientRequest; readonly agent: HttpAgent } {
    const { server } = this.#options.access;
    try {
      const { calls, watches } = this.#agentsFor(credentials);
      const url = new URL(joinPaths(server.pathname, order.path), server);
      const open = server.protocol === 'https:' ? httpsRequest : request;
      const agent = order.isWatch === true ? watches : calls;
      const call = open(url, {
        method: order.method,
        agent,
        headers: this.#headers(order, credentials),
        signal: order.signal,
      });
      return { call, agent };
    } catch (error) {
      const problem = `credentials that cannot be sent: ${describeThrown(error)}`;
      throw new BigFleetError('kubeconfig_invalid', problem, { cause: error });
    }
  }

  refreshCredentials(): void {
    this.#options.access.credentials.forget();
  }

  close(): void {
    this.#isClosed = true;
    for (const call of this.#open) call.destroy();
    this.#agents?.calls.destroy();
    this.#agents?.watches.destroy();
  }

  #headers(order: KubeHttpRequest, credentials: Credentials): Record<string, string> {
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
    };
    if (order.body !== undefined) {
      headers['content-type'] = order.contentType ?? 'application/json';
      headers['content-length'] = String(Buffer.byteLength(order.body));
    }
    if (credentials.bearerToken !== undefined) {
      headers['authorization'] = `Bearer ${credentials.bearerToken.reveal()}`;
    } else if (credentials.basic !== undefined) {
      headers['authorization'] = `Basic ${credentials.basic.reveal()}`;
    }
    return headers;
  }

  /** New agents when the client certificate changed: a connection is who its handshake said. */
  #agentsFor(credentials: Credentials): AgentPair {
    const current = this.#agents;
    if (current !== undefined && current.certificate === credentials.certificate) return current;
    const { server, tls } = this.#options.access;
    const shared = { keepAlive: true, keepAliveMsecs: TCP_KEEPALIVE_MS };
    const secure = {
      ...shared,
      ...tls,
      cert: credentials.certificate?.certPem,
      key: credentials.certificate?.keyPem.reveal(),
    };
    const make = (maxSockets: number): HttpAgent =>
      server.protocol === 'https:'
        ? new HttpsAgent({ ...secure, maxSockets })
        : new HttpAgent({ ...shared, maxSockets });
    this.#agents = {
      certificate: credentials.certificate,
      calls: make(MAX_CALL_CONNECTIONS),
      watches: make(Infinity),
    };
    if (current !== undefined) retire(current.calls);
    return this.#agents;
  }
}

/** Closes idle connections now and the others after their call: `destroy` would cut calls short. */
function retire(agent: HttpAgent): void {
  agent.maxFreeSockets = 0;
  closeIdle(agent);
}

function closeIdle(agent: HttpAgent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}

interface AgentPair {
  readonly certificate: Credentials['certificate'];
  readonly calls: HttpAgent;
  readonly watches: HttpAgent;
}

function headOf(call: ClientRequest, order: KubeHttpRequest): Promise<KubeHttpResponse> {
  return new Promise((resolve, reject) => {
    call.once('response', (message) => resolve(responseOf(message, order)));
    // The listener stays: a socket that fails after the head must not end the process.
    call.on('error', (error) => reject(failureOf(error, order)));
    call.end(order.body);
  });
}

function responseOf(message: IncomingMessage, order: KubeHttpRequest): KubeHttpResponse {
  const seconds = Number(message.headers['retry-after']);
  return {
    status: message.statusCode ?? 0,
    retryAfterSeconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
    body: bodyOf(message, order),
    destroy: () => message.destroy(),
  };
}

/** A body that breaks off is as unreachable as a server that never answered. */
async function* bodyOf(
  message: IncomingMessage,
  order: KubeHttpRequest,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of message) yield chunk as Uint8Array;
  } catch (error) {
    throw failureOf(error, order);
  }
}

function failureOf(error: unknown, order: KubeHttpRequest): unknown {
  if (order.signal.aborted) return order.signal.reason;
  const path = order.path.split('?')[0] ?? '';
  return new BigFleetError(
    'kube_unreachable',
    `${order.method} ${path}: ${describeThrown(error)}`,
    {
      cause: error,
    },
  );
}

/** A server's address may have a path of its own: a proxy in front of many clusters. */
function joinPaths(base: string, path: string): string {
  return base.endsWith('/') ? base.slice(0, -1) + path : base + path;
}
