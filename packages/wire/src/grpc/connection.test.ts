// Proves what the adapter does with connections: many streams on one, age, keepalive both ways,
// no retries, no proxy, no unbounded memory for a reader that stops, a bounded stop.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttp2Server, constants } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { deadlineOf, runWithDeadline, sleep } from '@bigfleet/base';
import {
  bytes,
  dial,
  echoPath,
  eventually,
  failsWith,
  mint,
  openServer,
  rawSocket,
  routes,
  runtime,
  streaming,
  text,
  unary,
} from './testing/fixture.ts';

const converse = streaming((requests) => requests);
const open = streaming(async function* (requests) {
  yield bytes('open');
  for await (const _ of requests);
});

/** Requests that stay open until the test ends. */
function silence(t: TestContext): AsyncIterable<Uint8Array> {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  t.after(() => end());
  return (async function* () {
    await ended;
    yield* [];
  })();
}

async function* count(to: number): AsyncIterable<Uint8Array> {
  for (let i = 0; i < to; i += 1) yield bytes(String(i));
}

describe('streams', () => {
  it('200 at once on one connection, each in order', async (t) => {
    const { server, dial } = await openServer(t, { router: routes({ '/t.T/Talk': converse }) });
    const channel = dial();
    const lengths = await Promise.all(
      Array.from({ length: 200 }, async () => {
        let seen = 0;
        for await (const message of channel.stream('/t.T/Talk', count(20))) {
          assert.equal(text(message), String(seen));
          seen += 1;
        }
        return seen;
      }),
    );
    assert.deepEqual(new Set(lengths), new Set([20]));
    assert.equal(server.connectionCount, 1);
    assert.equal(server.callCount, 0);
  });

  it('memory stays flat while a reader stands still, in either direction', async (t) => {
    const chunk = new Uint8Array(65_536);
    const counts = { server: 0, client: 0 };
    async function* flood(side: 'server' | 'client'): AsyncIterable<Uint8Array> {
      for (;;) {
        counts[side] += 1;
        yield chunk;
      }
    }
    const { dial } = await openServer(t, {
      router: routes({
        '/t.T/Down': streaming(() => flood('server')),
        '/t.T/Up': streaming(async function* (_requests, { signal }) {
          yield bytes('open');
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        }),
      }),
    });
    const channel = dial();
    const before = process.memoryUsage().arrayBuffers;
    const down = channel.stream('/t.T/Down', silence(t));
    const up = channel.stream('/t.T/Up', flood('client'));
    await down.next();
    await up.next();
    for (let seen = -1; seen !== counts.server + counts.client; await sleep(runtime, 300)) {
      seen = counts.server + counts.client;
      assert.ok(counts.server < 64 && counts.client < 64, JSON.stringify(counts));
    }
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 8 * 1024 * 1024, `${grown} bytes more`);
    for (let i = 0; i < 100; i += 1) await down.next();
    assert.ok(counts.server >= 100, 'reading lets it go on');
    await down.return?.();
    await up.return?.();
  });
});

describe('connection age', () => {
  it('GOAWAY moves new calls to a new connection and ends what stays too long', async (t) => {
    const { server, dial } = await openServer(t, {
      router: routes({ '/t.T/Open': open, [echoPath]: unary(async (request) => request) }),
      // Long enough for a busy machine to open the stream.
      maxConnectionAgeMs: 3_000,
      maxConnectionAgeGraceMs: 1_500,
    });
    const channel = dial();
    // Before the connection, whose age counts from its first moment.
    const startedMs = runtime.clock.monotonicMs();
    const session = channel.stream('/t.T/Open', silence(t));
    await session.next();
    const ended = failsWith('UNAVAILABLE', session.next());
    let answered = 0;
    let refused = 0;
    let most = 0;
    let over = false;
    ended.then(
      () => {
        over = true;
      },
      () => {},
    );
    while (!over) {
      // A call that crosses the GOAWAY on the wire is refused unprocessed; nothing else may fail.
      await channel.unary(echoPath, bytes('x')).then(
        () => {
          answered += 1;
        },
        (error: unknown) => {
          assert.match(String(error), /refused by server/);
          refused += 1;
        },
      );
      most = Math.max(most, server.connectionCount);
      await sleep(runtime, 5);
    }
    await ended;
    const livedMs = runtime.clock.monotonicMs() - startedMs;
    assert.ok(livedMs >= 4_100, `${livedMs}`); // an age varies by a tenth
    assert.ok(answered > 0 && most >= 2, `${answered} calls, ${most} connections`);
    const connections = Math.ceil(livedMs / 2_600) + 1;
    assert.ok(refused <= connections, `${refused} refused on ${connections} connections`);
  });
});

describe('keepalive', () => {
  const fast = { timeMs: 50, timeoutMs: 50 };

  it('the server drops a peer that answers no ping', async (t) => {
    const { server, address } = await openServer(t, { keepalive: fast });
    const socket = await rawSocket(t, address);
    socket.resume();
    socket.write(Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1'));
    await once(socket, 'close');
    await eventually('the peer is forgotten', () => server.connectionCount === 0);
  });

  it('the client drops a server that answers no ping, and says UNAVAILABLE', async (t) => {
    const settingsOnly = Buffer.from('\0\0\0\x04\0\0\0\0\0', 'latin1');
    const sockets = new Set<{ destroy(): void }>();
    const frozen = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.resume();
      socket.write(settingsOnly);
    });
    await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      frozen.close();
    });
    const { port } = frozen.address() as AddressInfo;
    const channel = dial(t, `127.0.0.1:${port}`, { keepalive: fast });
    await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
  });

  it('the server accepts pings at any rate, also without calls', async (t) => {
    const { server, dial } = await openServer(t);
    const channel = dial({ keepalive: { timeMs: 5, timeoutMs: 60_000 } });
    await channel.unary(echoPath, bytes(''));
    const [first] = [server.connectionCount];
    await sleep(runtime, 300);
    await channel.unary(echoPath, bytes(''));
    assert.deepEqual([first, server.connectionCount], [1, 1]);
  });
});

describe('no second attempts', () => {
  it('a refused stream is reported and not sent again', async (t) => {
    let streams = 0;
    const refusing = createHttp2Server();
    refusing.on('stream', (stream) => {
      streams += 1;
      stream.on('error', () => {});
      stream.close(constants.NGHTTP2_REFUSED_STREAM);
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const { port } = refusing.address() as AddressInfo;
    const channel = dial(t, `127.0.0.1:${port}`);
    t.after(() => refusing.close());
    await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('fenced')));
    await sleep(runtime, 50);
    assert.equal(streams, 1);
  });

  it('a proxy of the environment is not used', async (t) => {
    const names = ['http_proxy', 'https_proxy', 'grpc_proxy'];
    const before = names.map((name) => process.env[name]);
    t.after(() => {
      names.forEach((name, i) => {
        const value = before[i];
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      });
    });
    for (const name of names) process.env[name] = 'http://127.0.0.1:1';
    const { address } = await openServer(t);
    const viaName = dial(t, address.replace('127.0.0.1', 'localhost'));
    assert.equal(text(await viaName.unary(echoPath, bytes('direct'))), 'direct');
  });

  it('a unary call without a deadline gets the default one', async (t) => {
    let leftMs: number | undefined;
    const hang = unary((_request, { signal }) => {
      leftMs = (deadlineOf(signal) ?? Number.NaN) - runtime.clock.monotonicMs();
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(bytes(''))));
    });
    const { dial } = await openServer(t, { router: routes({ [echoPath]: hang }) });
    const channel = dial({ unaryDeadlineMs: 5_000 });
    await failsWith('DEADLINE_EXCEEDED', channel.unary(echoPath, bytes('')));
    assert.ok(leftMs !== undefined && leftMs <= 5_000, `${leftMs}`);
  });
});

describe('stop', () => {
  for (const secured of [false, true]) {
    it(`ends within its grace with ${secured ? 'mTLS ' : ''}streams open`, async (t) => {
      const tls = secured ? { tls: await mint(t, { uris: ['bigfleet://admin'] }) } : {};
      const { server, dial, address } = await openServer(t, {
        router: routes({ '/t.T/Open': open }),
        stopGraceMs: 200,
        ...tls,
      });
      const channel = dial({ ...tls, serverIdentity: { kind: 'admin' } });
      const sessions = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const session = channel.stream('/t.T/Open', silence(t));
          await session.next();
          return session;
        }),
      );
      const silent = await rawSocket(t, address);
      await eventually('the silent peer is connected', () => server.connectionCount === 2);
      assert.equal(server.callCount, 20);
      const ends = sessions.map((session) => failsWith('UNAVAILABLE', session.next()));
      const startedMs = runtime.clock.monotonicMs();
      await Promise.all([server.stop(), server.stop()]);
      const tookMs = runtime.clock.monotonicMs() - startedMs;
      assert.ok(tookMs >= 190, `${tookMs}`);
      assert.deepEqual([server.connectionCount, server.callCount], [0, 0]);
      await Promise.all(ends);
      silent.destroy();
    });
  }

  it('is immediate when nothing runs', async (t) => {
    const { server, dial } = await openServer(t, { stopGraceMs: 3_600_000 });
    await dial().unary(echoPath, bytes(''));
    await runWithDeadline(runtime, { ms: 60_000 }, () => server.stop());
  });
});

describe('a peer that is not there', () => {
  it('is told with its reason, and without the note that the library left empty', async (t) => {
    const { port, close } = await new Promise<{ port: number; close: () => void }>((resolve) => {
      const gone = createTcpServer();
      gone.listen(0, '127.0.0.1', () => {
        resolve({ port: (gone.address() as AddressInfo).port, close: () => gone.close() });
      });
    });
    close();
    const channel = dial(t, `127.0.0.1:${port}`);
    const { message } = await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
    assert.match(message, /ECONNREFUSED 127\.0\.0\.1:\d+$/);
  });
});
