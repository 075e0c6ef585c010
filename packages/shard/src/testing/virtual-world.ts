// Providers behind the production client, on the in-memory transport under virtual time. Closing
// the world checks that no call, connection or timer was left behind.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type ByteRouter,
  CapacityProvider,
  type Channel,
  type Handlers,
  openGate,
  Router,
  TokenSource,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, type MemoryServer } from '@bigfleet/wire/memory';
import { FakeProvider } from './fake/fake-provider.ts';
import type { PaceOptions } from './fake/pace.ts';
import { seedSpecs } from './fake/seed.ts';
import { fakeHandlers } from './fake/service.ts';
import { GrpcProvider } from '../provider/grpc-provider.ts';

const QUIET = { maxEvents: 1_000_000, maxMs: 24 * 3_600_000 };
const MAX_EVENTS = 2_000_000;

export class VirtualWorld {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'world', drain: drainMicrotasks });
  readonly network: MemoryNetwork = createMemoryNetwork({ runtime: this.time.runtime });
  readonly #servers: MemoryServer[] = [];
  readonly #channels: Channel[] = [];
  readonly #fakes: FakeProvider[] = [];

  /** A fake with `count` slots, served at `<host>:1`. */
  fake(host: string, count: number, pace: PaceOptions = {}): FakeProvider {
    const fake = new FakeProvider({ runtime: this.time.runtimeFor(host), label: host, ...pace });
    for (const spec of seedSpecs({ provider: host, count })) fake.addSpeculative(spec);
    this.#fakes.push(fake);
    this.serve(host, fakeHandlers(fake));
    return fake;
  }

  serve(host: string, handlers: Handlers<typeof CapacityProvider>): void {
    this.serveRouter(host, new Router({ gate: openGate }).add(CapacityProvider, handlers));
  }

  serveRouter(host: string, router: ByteRouter): void {
    this.#servers.push(this.network.listen(`${host}:1`, router));
  }

  client(host: string, tokens: TokenSource = new TokenSource('shard-0', 1n)): GrpcProvider {
    const channel = this.network.connect({ from: 'shard', to: `${host}:1` });
    this.#channels.push(channel);
    return new GrpcProvider({ runtime: this.time.runtime, channel, tokens });
  }

  /** Runs virtual time until `body` has ended; fails when it waits for nothing. */
  async run<T>(body: () => Promise<T>): Promise<T> {
    let isDone = false;
    const work = body().finally(() => {
      isDone = true;
    });
    // Awaited below; until then a failure must not count as unhandled.
    work.catch(() => {});
    const lastEvent = this.time.firedEvents + MAX_EVENTS;
    for (;;) {
      const { stopped } = await this.time.runUntilIdle({ maxEvents: 1, maxMs: QUIET.maxMs });
      if (isDone) return await work;
      assert.notEqual(stopped, 'idle', 'the body waits, and nothing is left to happen');
      assert.ok(this.time.firedEvents < lastEvent, 'the body does not end');
    }
  }

  async close(): Promise<void> {
    for (const fake of this.#fakes) fake.close();
    for (const channel of this.#channels) channel.close();
    for (const server of this.#servers) await this.run(() => server.stop(0));
    await this.time.runUntilIdle(QUIET);
    const left = Object.entries(this.network.open).filter(([, count]) => count !== 0);
    assert.deepEqual(left, [], 'something leaked');
    assert.equal(this.time.pendingTimers, 0, 'timers are left');
  }
}

/** `test` body with a world of its own. */
export function inWorld(body: (world: VirtualWorld) => Promise<void>): () => Promise<void> {
  return async () => {
    const world = new VirtualWorld();
    await world.run(() => body(world));
    await world.close();
  };
}
