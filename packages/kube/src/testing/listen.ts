// A test API server on 127.0.0.1, for kubectl and for processes of their own. Optionally TLS, and
// optionally a journal: an append-only file of changes that the next start reads.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { describeThrown } from '@bigfleet/base';
import type { ApiServer, Journal, JournalEntry } from './api-server/index.ts';
import { Refusal } from './api-server/status.ts';
import type { Watch } from './api-server/watch.ts';
import { PROTOBUF_TYPE, readProtobuf } from './protobuf.ts';

export interface ListenOptions {
  readonly server: ApiServer;
  /** Any free port when absent. */
  readonly port?: number | undefined;
  readonly tls?:
    | { readonly certPem: string; readonly keyPem: string; readonly caPem: string }
    | undefined;
}

export interface ListeningServer {
  readonly url: string;
  /** A kubeconfig file for kubectl and `clusterAccess`. */
  kubeconfig(token?: string): string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 16 << 20;
const IDLE_MS = 90_000;

export async function listen({ server, port = 0, tls }: ListenOptions): Promise<ListeningServer> {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    serve(server, request, response).catch((error: unknown) => failed(response, error));
  };
  const http: Server =
    tls === undefined
      ? createServer(onRequest)
      : createTlsServer({ cert: tls.certPem, key: tls.keyPem }, onRequest);
  // As long as a Go server keeps idle connections: a client's pool must not meet closed ones all the time.
  http.keepAliveTimeout = IDLE_MS;
  http.headersTimeout = IDLE_MS + 10_000;
  const sockets = new Set<Socket>();
  http.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, '127.0.0.1', resolve);
  });
  const scheme = tls === undefined ? 'http' : 'https';
  const url = `${scheme}://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return {
    url,
    kubeconfig: (token) => kubeconfigText(url, tls?.caPem, token),
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A bug of the server shows as one, and not as a broken connection that a client would try again. */
function failed(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const message = `Internal error occurred: ${describeThrown(error)}`;
  const { status } = new Refusal(500, 'InternalError', message);
  response.writeHead(500, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status));
}

function kubeconfigText(url: string, caPem: string | undefined, token: string | undefined): string {
  const ca =
    caPem === undefined
      ? []
      : [`    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}`];
  return [
    'apiVersion: v1',
    'kind: Config',
    'current-context: test',
    'clusters:',
    '- name: test',
    '  cluster:',
    `    server: ${url}`,
    ...ca,
    'contexts:',
    '- name: test',
    '  context: {cluster: test, user: test}',
    'users:',
    '- name: test',
    token === undefined ? '  user: {}' : `  user: {token: ${JSON.stringify(token)}}`,
    '',
  ].join('\n');
}

async function serve(
  server: ApiServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { body, contentType } = readable(await bodyOf(request), request.headers['content-type']);
  const { authorization = '', accept } = request.headers;
  const answer = await server.handle({
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    body,
    contentType,
    accept,
    bearerToken: authorization.startsWith('Bearer ')
      ? authorization.slice('Bearer '.length)
      : undefined,
    impersonated: impersonatedIn(request),
  });
  switch (answer.kind) {
    case 'reset':
      request.socket.destroy();
      return;
    case 'hang':
      return;
    case 'watch':
      await stream(answer.watch, response);
      return;
    case 'answer': {
      const { status, text, retryAfterSeconds } = answer;
      response.writeHead(status, {
        'content-type': answer.contentType,
        'content-length': Buffer.byteLength(text),
        ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
      });
      response.end(text);
    }
  }
}

/** Protobuf becomes JSON here; what cannot be read stays protobuf, which the server refuses with 415. */
function readable(
  bytes: Buffer,
  contentType: string | undefined,
): { readonly body: string; readonly contentType: string | undefined } {
  const object = contentType?.startsWith(PROTOBUF_TYPE) === true ? readProtobuf(bytes) : undefined;
  if (object === undefined) return { body: bytes.toString('utf8'), contentType };
  return { body: JSON.stringify(object), contentType: 'application/json' };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Uint8Array).length;
    if (length > MAX_BODY_BYTES) throw new RangeError('the request body is too large');
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks);
}

function impersonatedIn({
  headers,
}: IncomingMessage): { user: string; groups: string[] } | undefined {
  const user = headers['impersonate-user'];
  if (typeof user !== 'string') return undefined;
  const groups = headers['impersonate-group'];
  return { user, groups: typeof groups === 'string' ? groups.split(', ') : (groups ?? []) };
}

/** Events as they come; a reader that does not read is waited for, and its queue is bounded. */
async function stream(watch: Watch, response: ServerResponse): Promise<void> {
  // Broken and not ended: a watch that was made silent must let go of its reader too.
  response.once('close', () => watch.break());
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  for (;;) {
    const read = await watch.read();
    if (response.destroyed) return;
    if (read.kind === 'broken') {
      response.destroy();
      return;
    }
    if (read.kind === 'end') {
      response.end();
      return;
    }
    if (!response.write(read.text)) await drained(response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

/** A file of one change per line. A line that a crash cut off is the end of what happened. */
export function fileJournal(file: string): Journal {
  return {
    entries: existsSync(file) ? entriesOf(readFileSync(file, 'utf8')) : [],
    append: (entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`),
  };
}

function* entriesOf(text: string): IterableIterator<JournalEntry> {
  for (const line of text.split('\n')) {
    if (line === '') continue;
    try {
      yield JSON.parse(line) as JournalEntry;
    } catch {
      return;
    }
  }
}
