// Proves that connections are kept between calls, that dead ones are given up together, and that a new
// client certificate cuts no call short.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { Secret } from '@bigfleet/telemetry';
import type { Credentials } from '../auth/access.ts';
import { answerOf } from '../api/answer.ts';
import { HttpsTransport } from './https-transport.ts';

interface Stage {
  readonly transport: HttpsTransport;
  readonly sockets: ReadonlySet<Socket>;
  /** Ends the call to /slow. */
  readonly release: () => void;
  readonly slowCame: Promise<void>;
  readonly rotate: () => void;
  /** The connections of now are never answered on again; resolves when a request comes on one. */
  readonly strand: () => Promise<void>;
}

async function stage(t: TestContext): Promise<Stage> {
  const sockets = new Set<Socket>();
  const stranded = new Set<Socket>();
  const lost = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const came = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (stranded.has(request.socket)) {
      lost.resolve();
      return;
    }
    const isSlow = request.url === '/slow';
    if (isSlow) came.resolve();
    const due = isSlow ? released.promise : Promise.resolve();
    due.then(
      () => response.end('{}'),
      (bug: unknown) => assert.fail(String(bug)),
    );
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const certificate = (name: string): Credentials => ({
    certificate: { certPem: name, keyPem: new Secret(name) },
  });
  let current = certificate('one');
  const transport = new HttpsTransport({
    userAgent: 'test',
    access: {
      server: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
      tls: { rejectUnauthorized: true },
      credentials: { read: async () => current, forget: () => {} },
      namespace: 'default',
    },
  });
  t.after(() => {
    transport.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const rotate = (): void => {
    current = certificate('two');
  };
  const strand = (): Promise<void> => {
    for (const socket of sockets) stranded.add(socket);
    return lost.promise;
  };
  return { transport, sockets, release: released.resolve, slowCame: came.promise, rotate, strand };
}

const { signal } = new AbortController();

test('calls one after the other share a connection', async (t) => {
  const { transport, sockets } = await stage(t);
  for (let i = 0; i < 5; i++) {
    await answerOf(await transport.send({ method: 'GET', path: '/', signal }));
  }
  assert.equal(sockets.size, 1);
});

test('after one old connection that does not answer, none of the others is tried', async (t) => {
  const { transport, sockets, strand } = await stage(t);
  const get = (until: AbortSignal) =>
    transport.send({ method: 'GET', path: '/', signal: until }).then(answerOf);
  await Promise.all(Array.from({ length: 5 }, () => get(signal)));
  assert.equal(sockets.size, 5);
  const lost = strand();
  const ender = new AbortController();
  const hanging = get(ender.signal);
  await lost;
  ender.abort(new Error('enough'));
  await assert.rejects(hanging, /enough/);
  assert.deepEqual(await get(signal), { kind: 'ok', object: {} });
  assert.equal(sockets.size, 6);
});

test('a call under way outlives the certificate it began with, and its connection does not', async (t) => {
  const { transport, sockets, release, slowCame, rotate } = await stage(t);
  const slow = transport.send({ method: 'GET', path: '/slow', signal }).then(answerOf);
  await slowCame;
  rotate();
  await answerOf(await transport.send({ method: 'GET', path: '/', signal }));
  release();
  assert.deepEqual(await slow, { kind: 'ok', object: {} });
  assert.equal(sockets.size, 2);
  const [old] = sockets;
  if (old?.destroyed === false) await new Promise((closed) => old.once('close', closed));
});
