// One gRPC stream on a TLS connection of its own, HTTP/2 written by hand: thousands of operators share
// two cores with the shard that is measured, and a client library costs more per roll-up than the
// shard does. The shard sees what every client sends: preface, settings, one POST, DATA frames within
// its flow-control windows. Anything that is not an open stream (a status, a reset, GOAWAY, the end
// of the socket) ends it with an error; nothing is retried.

import { connect, type TLSSocket } from 'node:tls';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const FRAME_HEADER_BYTES = 9;
const GRPC_HEADER_BYTES = 5;
const MAX_FRAME_BYTES = 16_384;
const DEFAULT_WINDOW_BYTES = 65_535;
/** What the shard may send before it hears from us: more than it sends in a run. */
const OUR_WINDOW_BYTES = 2 ** 30;
const STREAM = 1;

const Type = {
  Data: 0,
  Headers: 1,
  Reset: 3,
  Settings: 4,
  Ping: 6,
  GoAway: 7,
  WindowUpdate: 8,
} as const;
const ACK = 0x1;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;
const INITIAL_WINDOW_SIZE = 0x4;

export interface H2StreamOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
  readonly onMessage: (message: Buffer) => void;
  /** Once. */
  readonly onEnd: (error: Error) => void;
}

export class H2Stream {
  readonly #options: H2StreamOptions;
  readonly #socket: TLSSocket;
  #received: Buffer = Buffer.alloc(0);
  #message: Buffer = Buffer.alloc(0);
  #connectionWindow = DEFAULT_WINDOW_BYTES;
  #streamWindow = DEFAULT_WINDOW_BYTES;
  #initialWindow = DEFAULT_WINDOW_BYTES;
  /** Bytes of messages that found no window. */
  #waiting: Buffer[] = [];
  #isEnded = false;

  constructor(options: H2StreamOptions) {
    this.#options = options;
    const { host, port, cert, key, ca } = options;
    this.#socket = connect({
      host,
      port,
      cert,
      key,
      ca,
      ALPNProtocols: ['h2'],
      servername: 'localhost',
    });
    this.#socket.setNoDelay(true);
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#socket.on('error', (error: Error) => this.#end(error));
    this.#socket.on('close', () => this.#end(new Error('the connection ended')));
    this.#socket.write(
      Buffer.concat([
        PREFACE,
        settings(INITIAL_WINDOW_SIZE, OUR_WINDOW_BYTES),
        frame(Type.WindowUpdate, 0, 0, uint32(OUR_WINDOW_BYTES)),
        frame(Type.Headers, END_HEADERS, STREAM, requestHeaders(options.path)),
      ]),
    );
  }

  /** The frames of a message, made once: `send` takes them as often as they are sent. */
  static framesOf(message: Uint8Array): Buffer {
    const body = Buffer.alloc(GRPC_HEADER_BYTES + message.length);
    body.writeUInt32BE(message.length, 1);
    body.set(message, GRPC_HEADER_BYTES);
    return body;
  }

  /** What `framesOf` made. */
  send(body: Buffer): void {
    this.#waiting.push(body);
    this.#pump();
  }

  #pump(): void {
    const out: Buffer[] = [];
    for (;;) {
      const body = this.#waiting[0];
      const room = Math.min(this.#connectionWindow, this.#streamWindow, MAX_FRAME_BYTES);
      if (body === undefined || room <= 0) break;
      const piece = body.subarray(0, room);
      if (piece.length === body.length) this.#waiting.shift();
      else this.#waiting[0] = body.subarray(room);
      this.#connectionWindow -= piece.length;
      this.#streamWindow -= piece.length;
      out.push(frame(Type.Data, 0, STREAM, piece));
    }
    if (out.length > 0)
      this.#socket.write(out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out));
  }

  #onData(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    let at = 0;
    while (!this.#isEnded && this.#received.length - at >= FRAME_HEADER_BYTES) {
      const length = this.#received.readUIntBE(at, 3);
      const end = at + FRAME_HEADER_BYTES + length;
      if (this.#received.length < end) break;
      const [type, flags] = [this.#received[at + 3]!, this.#received[at + 4]!];
      const isOurs = this.#received.readUInt32BE(at + 5) === STREAM;
      this.#onFrame(type, flags, isOurs, this.#received.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    this.#received = this.#received.subarray(at);
  }

  #onFrame(type: number, flags: number, isOurs: boolean, payload: Buffer): void {
    switch (type) {
      case Type.Data:
        return this.#onBody(payload);
      case Type.Settings:
        if ((flags & ACK) === 0) this.#onSettings(payload);
        return;
      case Type.Ping:
        if ((flags & ACK) === 0) this.#socket.write(frame(Type.Ping, ACK, 0, payload));
        return;
      case Type.WindowUpdate:
        if (isOurs) this.#streamWindow += payload.readUInt32BE(0);
        else this.#connectionWindow += payload.readUInt32BE(0);
        return this.#pump();
      case Type.Headers:
        if ((flags & END_STREAM) !== 0) this.#end(new Error('the shard ended the session'));
        return;
      case Type.Reset:
      case Type.GoAway:
        return this.#end(new Error(`the shard sent frame type ${type}`));
    }
  }

  #onSettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== INITIAL_WINDOW_SIZE) continue;
      const size = payload.readUInt32BE(at + 2);
      this.#streamWindow += size - this.#initialWindow;
      this.#initialWindow = size;
    }
    this.#socket.write(frame(Type.Settings, ACK, 0, Buffer.alloc(0)));
    this.#pump();
  }

  #onBody(payload: Buffer): void {
    let rest = this.#message.length === 0 ? payload : Buffer.concat([this.#message, payload]);
    while (rest.length >= GRPC_HEADER_BYTES) {
      const end = GRPC_HEADER_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) break;
      this.#options.onMessage(rest.subarray(GRPC_HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
    this.#message = rest;
  }

  #end(error: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#waiting = [];
    this.#socket.destroy();
    this.#options.onEnd(error);
  }
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  bytes.writeUIntBE(payload.length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  bytes.writeUInt32BE(stream, 5);
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}

function settings(id: number, value: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(id, 0);
  payload.writeUInt32BE(value, 2);
  return frame(Type.Settings, 0, 0, payload);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** HPACK without a table of its own: two indexed fields of the static table, four literals. */
function requestHeaders(path: string): Buffer {
  const METHOD_POST = 0x83;
  const SCHEME_HTTPS = 0x87;
  return Buffer.concat([
    Buffer.from([METHOD_POST, SCHEME_HTTPS, 0x04]),
    text(path),
    Buffer.from([0x01]),
    text('localhost'),
    Buffer.from([0x00]),
    text('content-type'),
    text('application/grpc'),
    Buffer.from([0x00]),
    text('te'),
    text('trailers'),
  ]);
}

/** Shorter than 127 bytes, not Huffman-coded. */
function text(value: string): Buffer {
  return Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
}
