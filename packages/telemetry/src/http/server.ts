// The plaintext HTTP port of a process: `/metrics`, `/healthz`, `/readyz`. It has no control
// authority, and a stranger must not be able to hurt the process through it: headers within 5 s,
// small requests, few connections, no bodies. It outlives shutdown long enough to answer 503.
// Liveness is answered by the event loop alone and never depends on a peer.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { AssertionError, BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import type { Logger } from '../logs/logger.ts';
import { metricsServing } from '../logs/stable-messages.ts';
import type { MetricRegistry } from '../metrics/registry.ts';
import { createScraper } from '../metrics/scrape.ts';
import { type Answer, type AnswerOptions, answerRequest, textAnswer } from './answer.ts';
import { createDebugEndpoints } from './debug.ts';
import { formatAddress, type ListenAddress } from './listen-address.ts';
import type { ReadinessSource } from './readiness.ts';

export interface HttpServerOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly address: ListenAddress;
  /** Names must not repeat between registries. */
  readonly registries: readonly Pick<MetricRegistry, 'snapshot'>[];
  readonly readiness: ReadinessSource;
  readonly logger: Logger;
  readonly debugEndpoints?: boolean;
  /** The flag that set the address, for the error that names it. */
  readonly flag?: string;
  readonly limits?: Partial<HttpLimits>;
}

export interface HttpServer {
  /** As bound, with the real port; undefined when disabled. */
  readonly address: string | undefined;
  /** Lets running answers finish for `withinMs`, then cuts them off. */
  close(withinMs?: number): Promise<void>;
}

export const DEFAULT_LIMITS = {
  /** From the connection, or from the first byte of a further request, to the end of its headers. */
  headerTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveMs: 30_000,
  maxHeaderBytes: 8_192,
  maxConnections: 128,
  /** A connection on which nothing moves, in either direction, is cut off after this. */
  idleTimeoutMs: 90_000,
  /** How often the timeouts are looked at. */
  checkEveryMs: 1_000,
};
type HttpLimits = typeof DEFAULT_LIMITS;
const CLOSE_WITHIN_MS = 2_000;

export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  if (options.address.kind === 'disabled') {
    return { address: undefined, close: () => Promise.resolve() };
  }
  const debug = options.debugEndpoints === true ? createDebugEndpoints(options.runtime) : undefined;
  const server = limitedServer({ ...DEFAULT_LIMITS, ...options.limits });
  const { logger, readiness, registries } = options;
  const scraper = createScraper({ timers: options.runtime.timers, registries });
  const context = { server, logger, answering: { scraper, readiness, debug } };
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    respond(context, incoming, outgoing).catch(endProcess);
  });
  const address = await listen(server, options.address, options.flag ?? '--metrics-addr');
  logger.event(metricsServing, { addr: address });
  return {
    address,
    close: (withinMs = CLOSE_WITHIN_MS) => {
      debug?.stop();
      return closeServer(server, options.runtime, withinMs);
    },
  };
}

function limitedServer(limits: HttpLimits): Server {
  const server = createServer({
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.maxHeaderBytes,
    // Node looks at the timeouts this often only; its default of 30 s would make 5 s mean 35 s.
    connectionsCheckingInterval: limits.checkEveryMs,
  });
  server.maxConnections = limits.maxConnections;
  server.timeout = limits.idleTimeoutMs;
  return server;
}

function listen(
  server: Server,
  address: Extract<ListenAddress, { kind: 'listen' }>,
  flag: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      reject(listenError(error, formatAddress(address.host ?? '', address.port), flag));
    server.once('error', onError);
    server.listen({ port: address.port, host: address.host }, () => {
      server.removeListener('error', onError);
      const bound = server.address();
      // A TCP server that listens has an address object; a string is a pipe, null is not listening.
      if (bound === null || typeof bound === 'string') return reject(new Error('not listening'));
      resolve(formatAddress(bound.address, bound.port));
    });
  });
}

function listenError(error: NodeJS.ErrnoException, address: string, flag: string): BigFleetError {
  const options = { cause: error, fields: { address, flag } };
  if (error.code === 'EADDRINUSE') {
    const message =
      `cannot listen on ${address}: another process uses this port; ` +
      `stop it, or choose another address with ${flag} (0 turns it off)`;
    return new BigFleetError('address_in_use', message, options);
  }
  const message =
    `cannot listen on ${address} (${describeThrown(error)}): ` +
    `choose an address of this machine with ${flag} (0 turns it off)`;
  return new BigFleetError('listen_failed', message, options);
}

interface RequestContext {
  readonly server: Server;
  readonly logger: Logger;
  readonly answering: AnswerOptions;
}

/** Only a bug gets here; as an uncaught error it takes the way of all bugs. */
function endProcess(bug: unknown): void {
  queueMicrotask(() => {
    throw bug;
  });
}

/** The supervisor of one request. Rejects for a bug only. */
async function respond(
  context: RequestContext,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { server, logger } = context;
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort(new Error('the client has gone')));
  const hasBody = requestHasBody(incoming);
  const method = incoming.method ?? '';
  const target = incoming.url ?? '';
  try {
    const request = { method, target, hasBody, signal: gone.signal };
    const answer = await answerRequest(context.answering, request);
    await send(outgoing, answer, {
      headOnly: method === 'HEAD',
      last: hasBody || !server.listening,
    });
  } catch (thrown) {
    if (thrown instanceof AssertionError) throw thrown;
    if (gone.signal.aborted) return;
    logger.error('request failed', { target, err: describeThrown(thrown) });
    if (outgoing.headersSent) outgoing.destroy();
    else await send(outgoing, textAnswer(500, 'internal error'), { headOnly: false, last: true });
  }
}

interface SendOptions {
  readonly headOnly: boolean;
  /** Closes the connection afterwards, so that an unread body cannot pass for the next request. */
  readonly last: boolean;
}

async function send(outgoing: ServerResponse, answer: Answer, options: SendOptions): Promise<void> {
  outgoing.statusCode = answer.status;
  outgoing.setHeader('content-type', answer.contentType);
  outgoing.setHeader('cache-control', 'no-store');
  outgoing.setHeader('x-content-type-options', 'nosniff');
  if (options.last) outgoing.setHeader('connection', 'close');
  for (const [name, value] of Object.entries(answer.headers ?? {})) outgoing.setHeader(name, value);
  if (typeof answer.body !== 'string') {
    await pipeline(answer.body, outgoing);
    return;
  }
  const bytes = Buffer.from(answer.body, 'utf8');
  outgoing.setHeader('content-length', bytes.length);
  outgoing.end(options.headOnly ? undefined : bytes);
}

function requestHasBody(incoming: IncomingMessage): boolean {
  const length = incoming.headers['content-length'];
  return (
    incoming.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
  );
}

async function closeServer(
  server: Server,
  runtime: Pick<Runtime, 'timers'>,
  withinMs: number,
): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = runtime.timers.after(withinMs, () => server.closeAllConnections());
  await closed;
  timer.cancel();
}
