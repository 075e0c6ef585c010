// Proves that no bytes on the port stop a server: oversized messages, malformed frames, garbage,
// wrong protocols, hostile paths, early resets; each is refused and the next caller is served.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from 'node:http2';
import { describe, it, type TestContext } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { maxMessageBytes } from './limits.ts';
import {
  bytes,
  echoPath,
  eventually,
  type Opened,
  openServer,
  rawSocket,
  routes,
  streaming,
  text,
  unary,
} from './testing/fixture.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const emptySettings = frame(0x04, 0, 0, Buffer.alloc(0));

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

async function assertServes({ dial }: Opened): Promise<void> {
  assert.equal(text(await dial().unary(echoPath, bytes('alive'))), 'alive');
}

/** A raw HTTP/2 request; resolves with the headers that end it. */
async function request(
  t: TestContext,
  address: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<IncomingHttpHeaders> {
  const session = connectHttp2(`http://${address}`);
  t.after(() => session.destroy());
  const stream = session.request({ ':method': 'POST', te: 'trailers', ...headers });
  stream.end(body);
  stream.resume();
  const [response]: [IncomingHttpHeaders] = (await once(stream, 'response')) as [
    IncomingHttpHeaders,
  ];
  if (response['grpc-status'] !== undefined || String(response[':status']) !== '200')
    return response;
  const [trailers]: [IncomingHttpHeaders] = (await once(stream, 'trailers')) as [
    IncomingHttpHeaders,
  ];
  return trailers;
}

describe('oversized messages', () => {
  it('are refused at their length, before a byte of them is stored', async (t) => {
    const opened = await openServer(t);
    const claim = Buffer.alloc(5);
    claim.writeUInt32BE(maxMessageBytes + 1, 1);
    const headers = { ':path': echoPath, 'content-type': 'application/grpc' };
    const answer = await request(t, opened.address, headers, claim);
    assert.equal(answer['grpc-status'], String(status.RESOURCE_EXHAUSTED));
    assert.match(String(answer['grpc-message']), /^message_too_large/);
    await assertServes(opened);
  });

  it('of 256 MiB + 1 from an unlimited client get code 8 without being held', async (t) => {
    let runs = 0;
    const opened = await openServer(t, {
      router: routes({
        [echoPath]: unary(async (message) => {
          runs += 1;
          return message;
        }),
      }),
    });
    const client = new Client(opened.address, credentials.createInsecure(), {
      'grpc.max_send_message_length': -1,
    });
    t.after(() => client.close());
    const large = Buffer.alloc(maxMessageBytes + 1);
    const before = process.memoryUsage().arrayBuffers;
    const error = await new Promise<ServiceError | null>((resolve) => {
      const identity = (message: Buffer): Buffer => message;
      client.makeUnaryRequest(echoPath, identity, identity, large, new Metadata(), resolve);
    });
    assert.equal(error?.code, status.RESOURCE_EXHAUSTED);
    assert.match(error?.details ?? '', /message_too_large/);
    assert.equal(runs, 0);
    // The client's own framed copy is one; a server that buffered would add a second.
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 1.5 * maxMessageBytes, `${grown} bytes more`);
    await assertServes(opened);
  });

  it('of exactly 256 MiB pass', async (t) => {
    const size = unary(async (message) => bytes(String(message.length)));
    const { dial } = await openServer(t, { router: routes({ [echoPath]: size }) });
    const answer = await dial({ unaryDeadlineMs: 120_000 }).unary(
      echoPath,
      new Uint8Array(maxMessageBytes),
    );
    assert.equal(text(answer), String(maxMessageBytes));
  });
});

describe('malformed input', () => {
  const inputs: Readonly<Record<string, Buffer>> = {
    'random bytes': Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 197) & 0xff)),
    'an HTTP/1.1 request': Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    'a TLS ClientHello': Buffer.from('16030100c8010000c40303', 'hex'),
    'a preface and garbage': Buffer.concat([preface, Buffer.alloc(256, 0xff)]),
    'a frame above the size limit': Buffer.concat([preface, emptySettings, Buffer.alloc(9, 0xff)]),
    'DATA on stream 0': Buffer.concat([preface, emptySettings, frame(0, 0, 0, Buffer.alloc(8))]),
    'HEADERS that HPACK cannot read': Buffer.concat([
      preface,
      emptySettings,
      frame(1, 4, 1, Buffer.alloc(32, 0xff)),
    ]),
    'SETTINGS of a wrong length': Buffer.concat([preface, frame(4, 0, 0, Buffer.alloc(5))]),
    'a WINDOW_UPDATE of zero': Buffer.concat([
      preface,
      emptySettings,
      frame(8, 0, 0, Buffer.alloc(4)),
    ]),
    'CONTINUATION without HEADERS': Buffer.concat([
      preface,
      emptySettings,
      frame(9, 4, 1, Buffer.alloc(4)),
    ]),
  };
  for (const [name, input] of Object.entries(inputs)) {
    it(`${name}: the connection ends, the server lives`, async (t) => {
      const opened = await openServer(t);
      const socket = await rawSocket(t, opened.address);
      socket.resume();
      const closed = once(socket, 'close');
      socket.write(input);
      await closed;
      await eventually('the connection was forgotten', () => opened.server.connectionCount === 0);
      await assertServes(opened);
    });
  }

  it('a truncated message is a failed call', async (t) => {
    let runs = 0;
    const count = unary(async (message) => {
      runs += 1;
      return message;
    });
    const opened = await openServer(t, {
      router: routes({ [echoPath]: count, '/t.T/Other': count }),
    });
    const headers = { ':path': echoPath, 'content-type': 'application/grpc' };
    const answer = await request(t, opened.address, headers, Buffer.from([0, 0, 0, 0, 9, 1, 2]));
    assert.notEqual(answer['grpc-status'], '0');
    assert.equal(runs, 0);
    await assertServes(opened);
  });

  it('a body that is not gRPC is refused as such', async (t) => {
    const opened = await openServer(t);
    const headers = { ':path': echoPath, 'content-type': 'application/json' };
    const answer = await request(t, opened.address, headers, Buffer.from('{}'));
    assert.equal(Number(answer[':status']), constants.HTTP_STATUS_UNSUPPORTED_MEDIA_TYPE);
    await assertServes(opened);
  });

  for (const path of [
    '/',
    '/a',
    '//',
    '/t.T/Echo/',
    '/t.T/%00',
    '/t.T/\u00e9\u00ff',
    '/__proto__/constructor',
  ]) {
    it(`path ${JSON.stringify(path)} is UNIMPLEMENTED`, async (t) => {
      const opened = await openServer(t);
      const headers = { ':path': path, 'content-type': 'application/grpc' };
      const answer = await request(t, opened.address, headers, Buffer.alloc(5));
      assert.equal(answer['grpc-status'], String(status.UNIMPLEMENTED));
      await assertServes(opened);
    });
  }

  for (const timeout of ['x', '-1S', '99999999999S', '1']) {
    it(`grpc-timeout ${timeout} does no harm`, async (t) => {
      const opened = await openServer(t);
      const headers = {
        ':path': echoPath,
        'content-type': 'application/grpc',
        'grpc-timeout': timeout,
      };
      const answer = await request(t, opened.address, headers, Buffer.alloc(5));
      assert.ok(answer['grpc-status'] !== undefined);
      await assertServes(opened);
    });
  }

  it('a caller that outstays its own deadline is answered DEADLINE_EXCEEDED', async (t) => {
    let reason: unknown;
    const hang = unary(async (message, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reason = signal.reason;
      return message;
    });
    const opened = await openServer(t, { router: routes({ '/t.T/Hang': hang }) });
    const headers = {
      ':path': '/t.T/Hang',
      'content-type': 'application/grpc',
      'grpc-timeout': '50m',
    };
    const answer = await request(t, opened.address, headers, Buffer.alloc(5));
    assert.equal(answer['grpc-status'], String(status.DEADLINE_EXCEEDED));
    await eventually('the handler is told', () => reason !== undefined);
    assert.equal(reason instanceof BigFleetError && reason.code, 'deadline_exceeded');
    assert.equal(opened.server.callCount, 0);
  });

  it('a flood of opened and reset streams leaves no call behind', async (t) => {
    const wait = streaming(async function* (requests) {
      for await (const _ of requests);
      yield bytes('never');
    });
    const opened = await openServer(t, {
      router: routes({ '/t.T/Wait': wait, [echoPath]: unary(async (message) => message) }),
    });
    const session = connectHttp2(`http://${opened.address}`);
    t.after(() => session.destroy());
    session.on('error', () => {});
    for (let i = 0; i < 500 && !session.closed; i += 1) {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/t.T/Wait',
        'content-type': 'application/grpc',
      });
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await eventually('no call is left', () => opened.server.callCount === 0);
    await assertServes(opened);
  });
});
