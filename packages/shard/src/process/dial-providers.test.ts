// Proves that the keepalive of the settings reaches the wire on every connection to a provider: the
// one of main, and the one of the reconcile thread.

import assert from 'node:assert/strict';
import { createServer, type Http2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { World } from '../provider/reconcile/testing/world.ts';
import { durableFile } from '../rails/durable-file.ts';
import { LIBRARY_SETTINGS } from './shard-options.ts';
import { dialProviders } from './dial-providers.ts';
import type { ProcessSettings } from './process-settings.ts';

const runtime = realRuntime();
const keepalive = { timeMs: 30, timeoutMs: 5_000, withoutCalls: false };

/** Speaks HTTP/2, takes every call and answers none. */
class HangingProvider {
  /** Pings by connection. */
  readonly pings: Map<Http2Session, number> = new Map();
  address = '';

  async start(t: TestContext): Promise<void> {
    const server = createServer();
    server.on('session', (session) => {
      this.pings.set(session, 0);
      session.on('ping', () => this.pings.set(session, (this.pings.get(session) ?? 0) + 1));
      session.on('error', () => {});
    });
    server.on('stream', (stream) => stream.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      for (const session of this.pings.keys()) session.destroy();
      server.close();
    });
    this.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  get pingedCount(): number {
    return [...this.pings.values()].filter((pings) => pings > 2).length;
  }
}

function settingsOf(address: string): ProcessSettings {
  return {
    shardId: 'shard-0',
    listen: '127.0.0.1:0',
    metricsAddress: { kind: 'disabled' },
    dataDir: '',
    providers: { kind: 'flags', targets: [{ name: 'a', address }] },
    isProviderShared: false,
    providerKeepalive: keepalive,
    epochFloor: 0n,
    recordsDir: '',
    auditLog: '',
    traceSamples: '',
    hasDebugEndpoints: false,
    tls: { cert: '', key: '', ca: '', requireTls: false },
    shard: LIBRARY_SETTINGS,
    build: { version: '', revision: '' },
  };
}

async function eventually(what: string, holds: () => boolean): Promise<void> {
  for (let poll = 0; poll < 6_000; poll += 1) {
    if (holds()) return;
    await sleep(runtime, 20);
  }
  assert.fail(`never happened: ${what}`);
}

test('both connections are pinged as the settings say', async (t) => {
  const provider = new HangingProvider();
  await provider.start(t);
  const dialled = await dialProviders({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    settings: settingsOf(provider.address),
    epoch: 1n,
    tls: undefined,
    providersFile: durableFile('unread'),
    onThreadDeltas: () => {},
  });
  t.after(() => dialled.close());
  const source = dialled.connected.get('a')?.source ?? assert.fail('it is connected');
  const stop = new AbortController();
  const onMain = assert.rejects(source.provider.get('m', { signal: stop.signal }));
  await eventually('main is pinging', () => provider.pingedCount === 1);
  const inThread = source.refresh({
    known: new World().known,
    nowMs: 0,
    readAssignment: () => assert.fail('no row arrives'),
    apply: () => {},
    signal: stop.signal,
  });
  await eventually('the thread is pinging', () => provider.pingedCount === 2);
  assert.equal(provider.pings.size, 2);
  stop.abort(new Error('seen enough'));
  await onMain;
  assert.equal((await inThread).kind, 'failed');
});
