// Proves that asking a provider whether it is ready leaves no connection behind, whether nobody
// listened yet or the peer accepts and says nothing: what stayed would ping the provider in the
// middle of a report.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { FreePorts } from './free-port.ts';
import { readinessProblem } from './ready.ts';

const runtime = realRuntime();
const signal = new AbortController().signal;
/** Several back-offs of a channel. */
const SETTLED_MS = 1_500;

/** Loopback, and not 127.0.0.1: nobody else's connections come from here. */
async function freeTarget(): Promise<string> {
  return (await new FreePorts(0).address()).replace('127.0.0.1', '127.77.0.2');
}

interface Peer {
  readonly open: ReadonlySet<Socket>;
  acceptedCount: number;
}

async function listenSilently(t: TestContext, target: string): Promise<Peer> {
  const open = new Set<Socket>();
  const peer: Peer = { open, acceptedCount: 0 };
  const server: Server = createServer((socket) => {
    peer.acceptedCount += 1;
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
    socket.resume();
  });
  const [host, port] = target.split(':');
  server.listen(Number(port), host);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return peer;
}

test('a provider that listens after it was asked is not connected to', async (t) => {
  const target = await freeTarget();
  assert.notEqual(await readinessProblem({ runtime, target, signal }), undefined);
  const peer = await listenSilently(t, target);
  await sleep(runtime, SETTLED_MS);
  assert.equal(peer.acceptedCount, 0);
});

test('a provider that hangs is left alone when its time is over', async (t) => {
  const target = await freeTarget();
  const peer = await listenSilently(t, target);
  assert.notEqual(await readinessProblem({ runtime, target, signal }), undefined);
  assert.equal(peer.acceptedCount, 1);
  await sleep(runtime, SETTLED_MS);
  assert.deepEqual([peer.acceptedCount, peer.open.size], [1, 0]);
});
