// Proves that the proxy passes bytes unchanged and in order, and that each fault shows to the two
// ends as itself: delay, trickle, silence, reset, refusal, per direction, until healed.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { eventually } from './eventually.ts';
import { startFaultProxy } from './fault-proxy.ts';
import { HANG_MS, monotonicMs, sleep, withDeadline } from './real-time.ts';

const SILENCE_MS = 150;
let echo: Server;
let targetPort: number;
const accepted = new Set<Socket>();

before(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => accepted.delete(socket));
    socket.pipe(socket);
  });
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  targetPort = (echo.address() as AddressInfo).port;
});

after(() => {
  for (const socket of accepted) socket.destroy();
  echo.close();
});

class Client {
  readonly socket: Socket;
  received = '';
  news: string[] = [];

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (data) => {
      this.received += data.toString('latin1');
    });
    this.socket.on('error', (error) => {
      this.news.push('code' in error ? String(error.code) : error.message);
    });
    this.socket.on('end', () => this.news.push('end'));
  }

  async expect(text: string): Promise<void> {
    await eventually(() => this.received.endsWith(text), {
      what: `receive ${text}`,
      everyMs: 2,
    });
  }

  async expectNews(text: string): Promise<void> {
    await eventually(() => this.news.includes(text), {
      what: `news ${text}`,
      everyMs: 2,
    });
  }
}

test('two megabytes pass unchanged, under latency and throttling too', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  proxy.fault('both', { latencyMs: 5, bytesPerSecond: 20 * 1024 * 1024 });
  const sent = randomBytes(2 * 1024 * 1024);
  const socket = connect(proxy.port, '127.0.0.1');
  const digest = createHash('sha256');
  const done = (async () => {
    for await (const chunk of socket) digest.update(chunk as Buffer);
  })();
  socket.end(sent);
  await withDeadline('echo', HANG_MS, () => done);
  assert.equal(digest.digest('hex'), createHash('sha256').update(sent).digest('hex'));
  await eventually(() => proxy.connectionCount === 0, { what: 'closed' });
});

test('latency adds up over both directions but does not stop the flow', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  const client = new Client(proxy.port);
  client.socket.write('warm');
  await client.expect('warm');
  proxy.fault('both', { latencyMs: 1_000 });
  const startMs = monotonicMs();
  // A hundred that waited for each other would need longer than any wait here lasts.
  const chunks = Array.from({ length: 100 }, (_, n) => `<${n}>`);
  for (const chunk of chunks) {
    client.socket.write(chunk);
    await sleep(5);
  }
  await client.expect(chunks.join(''));
  const tookMs = monotonicMs() - startMs;
  assert.ok(tookMs >= 2_000, `${tookMs} ms is faster than the delay`);
  client.socket.destroy();
});

test('throttling spreads bytes over time', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  proxy.fault('up', { bytesPerSecond: 10_000 });
  const client = new Client(proxy.port);
  const startMs = monotonicMs();
  client.socket.write(`${'x'.repeat(3_000)}end`);
  await once(client.socket, 'data');
  assert.ok(client.received.length < 3_000, `${client.received.length} at once`);
  await client.expect('end');
  assert.ok(monotonicMs() - startMs >= 200);
  client.socket.destroy();
});

for (const direction of ['up', 'down', 'both'] as const) {
  test(`silence ${direction}: nothing arrives, nobody is told, healing delivers`, async () => {
    await using proxy = await startFaultProxy({ targetPort });
    const client = new Client(proxy.port);
    client.socket.write('one');
    await client.expect('one');
    proxy.fault(direction, { silent: true });
    client.socket.write('two');
    await sleep(SILENCE_MS);
    assert.equal(client.received, 'one');
    assert.deepEqual(client.news, []);
    await proxy.heal();
    await client.expect('onetwo');
    client.socket.destroy();
  });
}

test('stranded connections stay silent after healing while new ones work', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  const stranded = new Client(proxy.port);
  stranded.socket.write('one');
  await stranded.expect('one');
  proxy.strand();
  stranded.socket.write('two');
  await proxy.heal();
  const later = new Client(proxy.port);
  later.socket.write('three');
  await later.expect('three');
  assert.equal(stranded.received, 'one');
  assert.deepEqual(stranded.news, []);
  stranded.socket.destroy();
  later.socket.destroy();
});

test('under silence new clients are accepted but the server sees none of them', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  proxy.fault('both', { silent: true });
  const before = new Set(accepted);
  const client = new Client(proxy.port);
  await once(client.socket, 'connect');
  client.socket.write('early');
  await sleep(SILENCE_MS);
  assert.deepEqual(
    [...accepted].filter((socket) => !before.has(socket)),
    [],
  );
  await proxy.heal();
  await client.expect('early');
  client.socket.destroy();
});

test('silence hides an orderly close and a reset until healed', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  for (const [close, news] of [
    [(socket: Socket) => socket.end(), 'end'],
    [(socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  ] as const) {
    const known = new Set(accepted);
    const client = new Client(proxy.port);
    client.socket.write('x');
    await client.expect('x');
    proxy.fault('down', { silent: true });
    const server = [...accepted].find((socket) => !known.has(socket));
    assert.ok(server !== undefined);
    close(server);
    await sleep(SILENCE_MS);
    assert.deepEqual(client.news, []);
    await proxy.heal();
    await client.expectNews(news);
    client.socket.destroy();
  }
});

test('reset cuts open connections, refuse turns new ones away, heal accepts again', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  const cut = new Client(proxy.port);
  cut.socket.write('x');
  await cut.expect('x');
  proxy.reset();
  await cut.expectNews('ECONNRESET');

  const kept = new Client(proxy.port);
  kept.socket.write('kept');
  await kept.expect('kept');
  proxy.refuse();
  const turned = new Client(proxy.port);
  await turned.expectNews('ECONNREFUSED');
  kept.socket.write('+');
  await kept.expect('kept+');

  await proxy.heal();
  const again = new Client(proxy.port);
  again.socket.write('again');
  await again.expect('again');
  for (const client of [kept, again]) client.socket.destroy();
});

test('a dead target shows as a reset, not as a hang', async () => {
  await using proxy = await startFaultProxy({ targetPort: 1 });
  const client = new Client(proxy.port);
  await client.expectNews('ECONNRESET');
});

test('a full pipe pushes back on the sender instead of growing', async () => {
  await using proxy = await startFaultProxy({ targetPort });
  proxy.fault('up', { silent: true });
  const client = new Client(proxy.port);
  await once(client.socket, 'connect');
  const chunk = Buffer.alloc(64 * 1024, 'y');
  // Far more than the queue and both kernel buffers hold.
  for (let n = 0; n < 512; n += 1) client.socket.write(chunk);
  await sleep(SILENCE_MS);
  assert.ok(
    client.socket.writableLength > 16 * 1024 * 1024,
    `${client.socket.writableLength} left`,
  );
  client.socket.destroy();
});
