// The part of a kubelet that `kubectl exec` reaches through the API server: a WebSocket whose messages begin
// with the number of a stream. Only what a command without input needs; whoever asks is believed, because the
// API server has asked for their rights.

import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Outcome } from '../images/container-host.ts';
import { CertificateAuthority } from '../../toolkit/index.ts';

export interface ExecCall {
  readonly namespace: string;
  readonly pod: string;
  readonly command: readonly string[];
}

type Execute = (call: ExecCall) => Promise<Outcome>;

/** What a node says of itself so that the API server hands WebSockets through (Kubernetes 1.36). */
export const EXEC_FEATURE = 'ExtendWebSocketsToKubelet';
const PROTOCOL = 'v5.channel.k8s.io';
const HANDSHAKE = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const FINAL_BINARY = 0x82;
const FINAL_CLOSE = 0x88;
const NORMAL_CLOSURE = 1_000;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

export class ExecServer implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  /** A server does not count a connection that has changed its protocol, and waits for it all the same. */
  readonly #sockets: ReadonlySet<Duplex>;

  private constructor(server: Server, port: number, sockets: ReadonlySet<Duplex>) {
    this.#server = server;
    this.#sockets = sockets;
    this.port = port;
  }

  static async start(address: string, execute: Execute): Promise<ExecServer> {
    const authority = await CertificateAuthority.root({ commonName: 'kubelet' });
    const { certPem: cert, keyPem: key } = await authority.leaf({ ips: [address] });
    const server = createServer({ cert, key });
    const sockets = new Set<Duplex>();
    server.on('upgrade', (request, socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      serve(request, socket, execute).catch((error: unknown) =>
        socket.destroy(new Error(String(error))),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const bound = server.address();
    if (bound === null || typeof bound === 'string') throw new Error('no port for exec');
    return new ExecServer(server, bound.port, sockets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

async function serve(request: IncomingMessage, socket: Duplex, execute: Execute): Promise<void> {
  // A client that goes away in the middle is its own business.
  socket.on('error', () => socket.destroy());
  const { pathname, searchParams } = new URL(request.url ?? '', 'https://kubelet');
  const [, kind, namespace = '', pod = ''] = pathname.split('/');
  const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(/,\s*/);
  if (kind !== 'exec' || !protocols.includes(PROTOCOL)) {
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
    return;
  }
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}${HANDSHAKE}`)
    .digest('base64');
  socket.write(
    [
      'HTTP/1.1 101 Switching Protocols',
      'upgrade: websocket',
      'connection: Upgrade',
      `sec-websocket-accept: ${accept}`,
      `sec-websocket-protocol: ${PROTOCOL}`,
      '\r\n',
    ].join('\r\n'),
  );
  const { code, stdout, stderr } = await execute({
    namespace,
    pod,
    command: searchParams.getAll('command'),
  });
  socket.write(message(STDOUT, stdout));
  socket.write(message(STDERR, stderr));
  socket.write(message(STATUS, JSON.stringify(statusOf(code))));
  const reason = Buffer.alloc(2);
  reason.writeUInt16BE(NORMAL_CLOSURE);
  socket.end(frame(FINAL_CLOSE, reason));
}

function statusOf(code: number): unknown {
  if (code === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

function message(stream: number, text: string): Buffer {
  return frame(FINAL_BINARY, Buffer.concat([Buffer.from([stream]), Buffer.from(text)]));
}

function frame(first: number, body: Buffer): Buffer {
  if (body.length < LENGTH_16) return Buffer.concat([Buffer.from([first, body.length]), body]);
  if (body.length < 1 << 16) {
    const head = Buffer.from([first, LENGTH_16, 0, 0]);
    head.writeUInt16BE(body.length, 2);
    return Buffer.concat([head, body]);
  }
  const head = Buffer.from([first, LENGTH_64, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, body]);
}
