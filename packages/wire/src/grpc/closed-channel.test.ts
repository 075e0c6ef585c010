// Proves that a closed channel is gone: whatever it was doing when it was closed, its peer sees no
// connection of it afterwards, and no timer of the library stays armed for it. Sockets are counted
// by a real listener, over TCP, TLS and Unix sockets.

import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  type AddressInfo,
  connect,
  createServer,
  type ListenOptions,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sleep } from '@bigfleet/base';
import {
  ChannelCredentials,
  connectivityState,
  Channel as LibraryChannel,
  Metadata,
} from '@grpc/grpc-js';
import type { Channel } from '../transport/transport.ts';
import type { GrpcChannelOptions } from './channel.ts';
import { patchedOption } from './patch-method.ts';
import {
  bytes,
  dial,
  echoPath,
  eventually,
  failsWith,
  mint,
  openServer,
  runtime,
} from './testing/fixture.ts';

let hostCount = 0;

/** Loopback, and of one peer only: a port that is free there stays free until the peer listens. */
function nextHost(): string {
  hostCount += 1;
  assert.ok(hostCount < 255);
  return `127.77.1.${hostCount}`;
}

const presets = ['session', 'provider', { timeMs: 10, timeoutMs: 1_000 }] as const;
const ways = ['tcp', 'tls', 'unix'] as const;
type Way = (typeof ways)[number];

/** Far beyond the next attempt of a channel of `dial`. */
const SETTLED_MS = 500;

/** Where a peer listens, or will. */
interface Place {
  readonly target: string;
  readonly options: Partial<GrpcChannelOptions>;
  listen(server: Server): Promise<void>;
}

async function placeOf(t: TestContext, way: Way): Promise<Place> {
  if (way === 'unix') {
    const folder = await mkdtemp(path.join(tmpdir(), 'bigfleet-closed-'));
    t.after(() => rm(folder, { recursive: true }));
    const file = path.join(folder, 'peer.sock');
    return {
      target: `unix:${file}`,
      options: {},
      listen: (server) => listening(t, server, { path: file }),
    };
  }
  const host = nextHost();
  const port = await freePort(host);
  const secured =
    way === 'tcp'
      ? {}
      : ({
          tls: await mint(t, { uris: ['bigfleet://admin'] }),
          serverIdentity: { kind: 'admin' },
        } as const);
  return {
    target: `${host}:${port}`,
    options: secured,
    listen: (server) => listening(t, server, { host, port }),
  };
}

async function freePort(host: string): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(t: TestContext, server: Server, at: ListenOptions): Promise<void> {
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(at, resolve));
}

/** Accepts and never says a word. */
class SilentPeer {
  readonly server: Server;
  readonly open: Set<Socket> = new Set();
  acceptedCount = 0;

  constructor(t: TestContext) {
    this.server = createServer((socket) => {
      this.acceptedCount += 1;
      this.open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.open.delete(socket));
      socket.resume();
    });
    t.after(() => {
      for (const socket of this.open) socket.destroy();
    });
  }
}

/** Starts a call that ends with the channel. */
function startCall(channel: Channel): Promise<unknown> {
  const call = failsWith('CANCELLED', channel.unary(echoPath, bytes('')));
  call.catch(() => {});
  return call;
}

const allPresets = presets.flatMap((keepalive) =>
  ways.map((way) => ({ keepalive, way, name: `${JSON.stringify(keepalive)} over ${way}` })),
);

describe('a peer that refused and listens after the close', { concurrency: true }, () => {
  for (const { keepalive, way, name } of allPresets) {
    it(`sees nobody: ${name}`, async (t) => {
      const { target, options, listen } = await placeOf(t, way);
      const channel = dial(t, target, { ...options, keepalive });
      await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
      channel.close();
      const peer = new SilentPeer(t);
      await listen(peer.server);
      await sleep(runtime, SETTLED_MS);
      assert.equal(peer.acceptedCount, 0);
    });
  }

  it('sees nobody with the back-off of production, and the channel that stayed open', async (t) => {
    const { target, listen } = await placeOf(t, 'tcp');
    const { initial, max } = { initial: 250, max: 10_000 };
    const channels = [...presets, 'session' as const].map((keepalive) =>
      dial(t, target, { keepalive, reconnectBackoffMs: { initial, max } }),
    );
    const refused = channels.map((each) =>
      failsWith('UNAVAILABLE', each.unary(echoPath, bytes(''))),
    );
    await Promise.all(refused);
    for (const channel of channels.slice(0, -1)) channel.close();
    const peer = new SilentPeer(t);
    await listen(peer.server);
    await sleep(runtime, 5_000);
    assert.equal(peer.acceptedCount, 1);
  });
});

describe('closed while it connects', { concurrency: true }, () => {
  for (const way of ways) {
    const phase = way === 'tls' ? 'the handshake' : 'the first word of HTTP/2';
    it(`over ${way}, before ${phase}: the connection is ended at once`, async (t) => {
      const { target, options, listen } = await placeOf(t, way);
      const peer = new SilentPeer(t);
      await listen(peer.server);
      const channel = dial(t, target, options);
      const call = startCall(channel);
      await eventually('the peer accepts', () => peer.open.size === 1);
      channel.close();
      await call;
      await eventually('the connection ends', () => peer.open.size === 0);
      await sleep(runtime, SETTLED_MS);
      assert.deepEqual([peer.acceptedCount, peer.open.size], [1, 0]);
    });
  }

  it('before TCP is answered: the attempt is given up at once', async (t) => {
    const { target, port } = await fullQueue(t);
    const channel = dial(t, target);
    const call = startCall(channel);
    await eventually('the attempt is under way', () => synSentCount(port) === 1);
    channel.close();
    await call;
    await eventually('the attempt ends', () => synSentCount(port) === 0);
  });

  for (const way of [...ways, 'name'] as const) {
    it(`over ${way}, at any moment after its first call`, async (t) => {
      const { server, address } = await openServer(t, await serving(t, way));
      const options = way === 'tls' ? (await placeOf(t, way)).options : {};
      const target = way === 'name' ? address.replace('127.0.0.1', 'localhost') : address;
      await closeAtAnyMoment(() => dial(t, target, options));
      await sleep(runtime, SETTLED_MS);
      assert.equal(server.connectionCount, 0);
    });
  }

  for (const way of ways) {
    it(`over ${way}, at any moment, to a peer that says nothing`, async (t) => {
      const { target, options, listen } = await placeOf(t, way);
      const peer = new SilentPeer(t);
      await listen(peer.server);
      await closeAtAnyMoment(() => dial(t, target, options));
      await sleep(runtime, SETTLED_MS);
      assert.equal(peer.open.size, 0);
    });
  }
});

/**
 * Turns of the event loop, then ticks, then microtasks: the library goes on with a connection in
 * one or the other, and a close may fall between any two.
 */
const moments = [0, 1, 2, 3].flatMap((turns) =>
  [0, 1, 2, 3, 4, 5].flatMap((ticks) =>
    [0, 1, 2, 3].map((microtasks) => ({ turns, ticks, microtasks })),
  ),
);

async function closeAtAnyMoment(open: () => Channel): Promise<void> {
  for (const { turns, ticks, microtasks } of moments) {
    const channel = open();
    const call = channel.unary(echoPath, bytes('')).catch(() => {});
    for (let turn = 0; turn < turns; turn += 1) await runtime.timers.turn();
    // What follows a tick without a microtask runs between two ticks.
    await new Promise<void>((resolve) => {
      afterTicks(ticks, () => {
        if (microtasks === 0) channel.close();
        resolve();
      });
    });
    for (let microtask = 0; microtask < microtasks; microtask += 1) await Promise.resolve();
    channel.close();
    await call;
  }
}

function afterTicks(count: number, then: () => void): void {
  if (count === 0) then();
  else process.nextTick(afterTicks, count - 1, then);
}

/** Listens without ever accepting, with a queue that takes nobody else: SYNs are not answered. */
async function fullQueue(t: TestContext): Promise<{ target: string; port: number }> {
  const host = nextHost();
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:net').createServer();
     server.listen({ port: 0, host: '${host}', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(workerData, 0, 0);
       process.exit();
     });`,
    { eval: true, workerData: gate },
  );
  const [port] = (await once(worker, 'message')) as [number];
  const fillers: Socket[] = [];
  t.after(async () => {
    for (const socket of fillers) socket.destroy();
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await once(worker, 'exit');
  });
  await eventually('the queue is full', () => {
    const filler = connect(port, host);
    filler.on('error', () => {});
    fillers.push(filler);
    return synSentCount(port) > 0;
  });
  for (const filler of fillers) if (filler.connecting) filler.destroy();
  await eventually('only the test asks', () => synSentCount(port) === 0);
  return { target: `${host}:${port}`, port };
}

/** Attempts of this host that the port has not answered. */
function synSentCount(port: number): number {
  const remote = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n');
  return rows.filter((row) => {
    const [, , to = '', state] = row.trim().split(/\s+/);
    return to.endsWith(remote) && state === '02';
  }).length;
}

async function serving(
  t: TestContext,
  way: Way | 'name',
): Promise<Parameters<typeof openServer>[1]> {
  if (way === 'tls') return { tls: await mint(t, { uris: ['bigfleet://admin'] }) };
  if (way !== 'unix') return {};
  return { listen: [(await placeOf(t, 'unix')).target] };
}

describe('no timer of the library stays armed', () => {
  /** So long that none of them fires while a test looks. */
  const reconnectBackoffMs = { initial: 60_000, max: 60_000 };

  async function closedAndIdle(
    channel: Channel,
    armed: ReadonlyMap<number, string>,
  ): Promise<void> {
    assert.notEqual(armed.size, 0, 'the test sees timers');
    channel.close();
    for (let turn = 0; turn < 5; turn += 1) await runtime.timers.turn();
    assert.deepEqual([...armed.values()], []);
  }

  for (const target of ['127.77.0.1:1', 'nobody.invalid:1']) {
    it(`for a channel that was closed in its back-off to ${target}`, async (t) => {
      const armed = trackTimers(t);
      const channel = dial(t, target, { reconnectBackoffMs });
      await failsWith('UNAVAILABLE', channel.unary(echoPath, bytes('')));
      await closedAndIdle(channel, armed);
    });
  }

  it('for a channel that was closed while it connects', async (t) => {
    const armed = trackTimers(t);
    const { target, listen } = await placeOf(t, 'tcp');
    const peer = new SilentPeer(t);
    await listen(peer.server);
    const channel = dial(t, target, { reconnectBackoffMs });
    const call = startCall(channel);
    await eventually('the peer accepts', () => peer.open.size === 1);
    await closedAndIdle(channel, armed);
    await call;
  });

  it('for a channel that was closed in the turn of a pick', async (t) => {
    const { server, address } = await openServer(t, { maxConnectionAgeMs: 100 });
    const armed = trackTimers(t);
    const channel = new LibraryChannel(address, ChannelCredentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': reconnectBackoffMs.initial,
      [patchedOption]: 1,
    });
    channel.getConnectivityState(true);
    await eventually('it is connected', () => server.connectionCount === 1);
    await eventually('the connection was ended', () => server.connectionCount === 0);
    assert.equal(channel.getConnectivityState(false), connectivityState.IDLE);
    const { internalChannel } = channel as unknown as {
      readonly internalChannel: { doPick(metadata: Metadata, info: object): unknown };
    };
    internalChannel.doPick(new Metadata(), {});
    channel.close();
    for (let turn = 0; turn < 5; turn += 1) await runtime.timers.turn();
    assert.deepEqual([...armed.values()], []);
    assert.equal(channel.getConnectivityState(false), connectivityState.SHUTDOWN);
    await sleep(runtime, SETTLED_MS);
    assert.equal(server.connectionCount, 0);
  });

  it('for channels that were closed when a GOAWAY had left them none and a call wanted one', async (t) => {
    const armed = trackTimers(t);
    const { server, address } = await openServer(t, { maxConnectionAgeMs: 300 });
    const channels = moments.map((_, at) => {
      const target = at % 2 === 0 ? address : address.replace('127.0.0.1', 'localhost');
      return dial(t, target, { reconnectBackoffMs });
    });
    // On a busy machine the GOAWAY comes before the first call, which is refused then.
    const isRefused = (error: unknown): void => assert.match(String(error), /refused by server/);
    const calls = channels.map((channel) => channel.unary(echoPath, bytes('')));
    await Promise.all(calls.map((call) => call.catch(isRefused)));
    await eventually('every connection was ended', () => server.connectionCount === 0);
    await closeAtAnyMoment(() => channels.pop() ?? assert.fail('one for each moment'));
    await eventually('no connection is left', () => server.connectionCount === 0);
    await eventually('no timer is left', () => armed.size === 0);
    await sleep(runtime, SETTLED_MS);
    assert.equal(server.connectionCount, 0);
  });
});

/** Timers that grpc-js's client has armed and neither cleared nor seen fire, with who armed them. */
function trackTimers(t: TestContext): ReadonlyMap<number, string> {
  const armed = new Map<number, string>();
  const client = /grpc-js.build.src.(?!server)[^\n]*/;
  const hook = createHook({
    init: (id, type) => {
      const from =
        type === 'Timeout' ? client.exec(new Error('armed').stack ?? '')?.[0] : undefined;
      if (from !== undefined) armed.set(id, from);
    },
    destroy: (id) => armed.delete(id),
  });
  hook.enable();
  t.after(() => hook.disable());
  return armed;
}
