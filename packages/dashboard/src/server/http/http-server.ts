// The port of the dashboard: web app, API, streams, metrics and probes. It changes nothing and is never
// load-bearing, but strangers reach it: requests and connections are bounded, only GET and HEAD exist, pages
// may load nothing from elsewhere and be framed by nobody, and a port that is bound to this machine alone
// answers only to this machine's names, so that no page of another origin can read it by rebinding its name.

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AssertionError, BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import { portHolder } from '@bigfleet/process';
import { formatAddress, type ListenAddress, type Logger } from '@bigfleet/telemetry';
import { isLoopback } from '@bigfleet/process/flags';
import type { Problem } from '../../api/index.ts';
import type { StreamHub } from '../stream/stream-hub.ts';
import { acceptedEncodings, type HttpAnswer, type HttpRequest, problemAnswer } from './answer.ts';
import { API, routeRequest, type RouteOptions } from './routes.ts';
import { parseStreamRequest } from './stream-request.ts';

export type Listening = Extract<ListenAddress, { kind: 'listen' }>;

export interface DashboardHttpOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly address: Listening;
  readonly routes: RouteOptions;
  readonly hub: StreamHub;
  readonly maxStreams: number;
  /** Names under which a loopback port is asked for, besides those of the machine itself. */
  readonly allowedHosts: readonly string[];
  readonly onRefusedStream: () => void;
}

export interface DashboardHttp {
  /** As bound, with the real port. */
  readonly address: string;
  close(): Promise<void>;
}

const LIMITS = {
  headerTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
  keepAliveMs: 30_000,
  maxHeaderBytes: 32_768,
  /** Besides the streams. */
  maxConnections: 512,
  /** A connection on which nothing moves is cut off: a stream beats every second. */
  idleTimeoutMs: 120_000,
  checkEveryMs: 1_000,
};
const CLOSE_WITHIN_MS = 1_000;
const COMPRESS_FROM = 1_024;
const COMPRESS_LEVEL = 4;
const toGzip = promisify(gzip);

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

const STREAM_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  // For proxies that would wait for the end of it.
  'x-accel-buffering': 'no',
};

export async function startDashboardHttp(options: DashboardHttpOptions): Promise<DashboardHttp> {
  const server = createServer({
    headersTimeout: LIMITS.headerTimeoutMs,
    requestTimeout: LIMITS.requestTimeoutMs,
    keepAliveTimeout: LIMITS.keepAliveMs,
    maxHeaderSize: LIMITS.maxHeaderBytes,
    connectionsCheckingInterval: LIMITS.checkEveryMs,
    // Judged with the other headers: what Node refuses by itself goes out without ours.
    requireHostHeader: false,
  });
  server.maxConnections = LIMITS.maxConnections + options.maxStreams;
  server.timeout = LIMITS.idleTimeoutMs;
  /** Connections that wait for an answer, or are in one: a refusal would stand in its place, or inside of it. */
  const answering = new WeakSet<Duplex>();
  const take = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = incoming;
    answering.add(socket);
    outgoing.once('close', () => answering.delete(socket));
    respond(options, incoming, outgoing).catch(endProcess);
  };
  server.on('request', take);
  server.on('checkExpectation', take);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (answering.has(socket)) socket.destroy();
    else refuseBytes(options.runtime, error, socket);
  });
  const address = await listen(server, options.address);
  return { address, close: () => closeServer(server, options.runtime) };
}

function listen(server: Server, { host, port }: Listening): Promise<string> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      reject(listenError(error, host ?? '', port));
    };
    server.once('error', onError);
    server.listen({ port, host }, () => {
      server.removeListener('error', onError);
      const bound = server.address();
      // A TCP server that listens has an address object; a string is a pipe, null is not listening.
      if (bound === null || typeof bound === 'string') return reject(new Error('not listening'));
      resolve(formatAddress(bound.address, bound.port));
    });
  });
}

function listenError(cause: NodeJS.ErrnoException, host: string, port: number): BigFleetError {
  const address = formatAddress(host, port);
  const options = { cause, fields: { address } };
  if (cause.code === 'EADDRINUSE') {
    const found = portHolder(port);
    const holder = found === undefined ? 'another process' : `${found.command} (pid ${found.pid})`;
    const message =
      `cannot listen on ${address}: ${holder} uses this port; ` +
      'stop it, or choose another address with --listen (port 0 takes a free one)';
    return new BigFleetError('address_in_use', message, options);
  }
  const message =
    `cannot listen on ${address} (${describeThrown(cause)}): ` +
    'choose an address of this machine with --listen';
  return new BigFleetError('listen_failed', message, options);
}

/** What is no request has no response to write: its answer is text. Who does not take it is cut off. */
function refuseBytes(
  { timers }: Pick<Runtime, 'timers'>,
  error: NodeJS.ErrnoException,
  socket: Duplex,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, body } = problemAnswer(bytesProblem(error));
  const lines = Object.entries({
    ...SECURITY_HEADERS,
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  const first = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  socket.end(`${[first, ...lines].join('\r\n')}\r\n\r\n${String(body)}`);
  const timer = timers.after(CLOSE_WITHIN_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
}

function bytesProblem({ code }: NodeJS.ErrnoException): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const message = `a request line and its headers have at most ${LIMITS.maxHeaderBytes} bytes`;
      return { code: 'request_too_large', message };
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { code: 'request_timeout', message: 'the request did not come to its end in time' };
    default:
      return { code: 'request_malformed', message: 'these bytes are no HTTP request' };
  }
}

/** Only a bug gets here; as an uncaught error it takes the way of all bugs. */
function endProcess(bug: unknown): void {
  queueMicrotask(() => {
    throw bug;
  });
}

async function respond(
  options: DashboardHttpOptions,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) outgoing.setHeader(name, value);
  const request = requestOf(incoming);
  try {
    const refusal = refusalOf(options, incoming, request);
    if (refusal !== undefined) return await send(outgoing, request, refusal, true);
    if (request.path === `${API}/stream`) return await openStream(options, request, outgoing);
    await send(outgoing, request, await routeRequest(options.routes, request), false);
  } catch (thrown) {
    if (thrown instanceof AssertionError) throw thrown;
    if (outgoing.destroyed) return;
    options.logger.error('request failed', { target: request.path, err: describeThrown(thrown) });
    if (outgoing.headersSent) outgoing.destroy();
    else {
      const problem = { code: 'internal', message: 'internal error: the log has its cause' };
      await send(outgoing, request, problemAnswer(problem), true);
    }
  }
}

function requestOf({ method = '', url = '', headers }: IncomingMessage): HttpRequest {
  const at = url.indexOf('?');
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    search: new URLSearchParams(at < 0 ? '' : url.slice(at + 1)),
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
  };
}

function refusalOf(
  options: DashboardHttpOptions,
  { headers, httpVersion }: IncomingMessage,
  request: HttpRequest,
): HttpAnswer | undefined {
  if (headers.host === undefined && httpVersion !== '1.0') {
    return problemAnswer({ code: 'request_malformed', message: 'the request names no host' });
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    const message = 'this process only reads: use GET or HEAD';
    return problemAnswer({ code: 'method_not_allowed', message }, { allow: 'GET, HEAD' });
  }
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  if (length !== '0' || encoding !== undefined) {
    return problemAnswer({ code: 'body_refused', message: 'request bodies are not accepted' });
  }
  if (!isAllowedHost(options, headers.host ?? '')) {
    const message =
      'this port is bound to the own machine and answers to its names only; ' +
      'name the host of a proxy in front of it with --allowed-host';
    return problemAnswer({ code: 'host_refused', message });
  }
  return undefined;
}

function isAllowedHost({ address, allowedHosts }: DashboardHttpOptions, host: string): boolean {
  const { host: bound } = address;
  if (bound === undefined || !isLoopback(formatAddress(bound, 1))) return true;
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  return isLoopback(`${name}:1`) || name === bound || allowedHosts.includes(name);
}

async function openStream(
  options: DashboardHttpOptions,
  request: HttpRequest,
  outgoing: ServerResponse,
): Promise<void> {
  const ask = parseStreamRequest(request);
  if (!ask.ok) return send(outgoing, request, problemAnswer(ask.error), false);
  if (request.method === 'HEAD') {
    outgoing.writeHead(200, STREAM_HEADERS).end();
    return;
  }
  if (options.hub.size >= options.maxStreams) {
    options.onRefusedStream();
    const message = `${options.maxStreams} streams are open already: close a tab, or raise --max-streams`;
    const answer = problemAnswer({ code: 'streams_exceeded', message }, { 'retry-after': '5' });
    return send(outgoing, request, answer, true);
  }
  outgoing.writeHead(200, STREAM_HEADERS);
  outgoing.socket?.setNoDelay(true);
  const stream = options.hub.open(ask.value, {
    write: (text) => outgoing.write(text),
    end: () => outgoing.end(),
  });
  if (stream === undefined) {
    outgoing.end();
    return;
  }
  outgoing.on('drain', () => stream.drained());
  outgoing.once('close', () => stream.close());
  // A reset of the connection: `close` follows.
  outgoing.on('error', () => stream.close());
}

async function send(
  outgoing: ServerResponse,
  request: HttpRequest,
  answer: HttpAnswer,
  isLast: boolean,
): Promise<void> {
  let body = typeof answer.body === 'string' ? Buffer.from(answer.body, 'utf8') : answer.body;
  for (const [name, value] of Object.entries(answer.headers)) outgoing.setHeader(name, value);
  if (answer.isCompressible === true) {
    outgoing.setHeader('vary', 'accept-encoding');
    if (body.length >= COMPRESS_FROM && acceptedEncodings(request).has('gzip')) {
      body = await toGzip(body, { level: COMPRESS_LEVEL });
      outgoing.setHeader('content-encoding', 'gzip');
    }
  }
  if (outgoing.destroyed) return;
  outgoing.statusCode = answer.status;
  if (isLast) outgoing.setHeader('connection', 'close');
  if (answer.status !== 304) outgoing.setHeader('content-length', body.length);
  outgoing.end(request.method === 'HEAD' || answer.status === 304 ? undefined : body);
}

async function closeServer(server: Server, { timers }: Pick<Runtime, 'timers'>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = timers.after(CLOSE_WITHIN_MS, () => server.closeAllConnections());
  await closed;
  timer.cancel();
}
