// The behaviour suite's world over the in-memory transport, under virtual time. Closing it checks
// that every timer, call, handler, listener and connection was given back.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type Runtime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type FaultPlan, noFaults } from '../../memory/faults.ts';
import { createMemoryNetwork, type MemoryNetwork } from '../../memory/network.ts';
import type { MemoryServer } from '../../memory/server.ts';
import { defaultSettings, type Settings } from '../../memory/settings.ts';
import type { ByteRouter, Channel } from '../../transport/transport.ts';
import type { OpenWorld, Served, ServeOptions, World } from './world.ts';

export interface VirtualWorldOptions {
  readonly seed: string;
  readonly settings?: Partial<Settings>;
  readonly faults?: FaultPlan;
}

const QUIET = { maxEvents: 1_000_000, maxMs: 3_600_000 };

export function openVirtualWorld(options: VirtualWorldOptions): OpenWorld {
  return async () => new VirtualWorld(options);
}

class VirtualWorld implements World {
  readonly runtime: Runtime;
  readonly limitBytes: number;
  readonly #time: VirtualRuntime;
  readonly #network: MemoryNetwork;
  readonly #channels: Channel[] = [];
  readonly #servers: MemoryServer[] = [];

  constructor({ seed, settings = {}, faults = noFaults }: VirtualWorldOptions) {
    this.#time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    this.runtime = this.#time.runtime;
    this.limitBytes = settings.maxMessageBytes ?? defaultSettings.maxMessageBytes;
    this.#network = createMemoryNetwork({ runtime: this.runtime, settings, faults });
  }

  async serve(router: ByteRouter, { stopGraceMs = 10_000 }: ServeOptions = {}): Promise<Served> {
    const host = `server-${this.#servers.length}`;
    const server = this.#network.listen(`${host}:1`, router);
    this.#servers.push(server);
    return {
      connect: () => this.#connect(`${host}:1`),
      stop: () => server.stop(stopGraceMs),
      cut: () => this.#network.apply({ kind: 'reset', a: 'client', b: host }),
    };
  }

  connectToNobody(): Channel {
    return this.#connect('nobody:1');
  }

  run(body: () => Promise<void>): Promise<void> {
    return runToEnd(this.#time, body);
  }

  async close(): Promise<void> {
    for (const channel of this.#channels) channel.close();
    for (const server of this.#servers) await this.run(() => server.stop(0));
    await this.#time.runUntilIdle(QUIET);
    const left = Object.entries(this.#network.open).filter(([, count]) => count !== 0);
    assert.deepEqual(left, [], 'something leaked');
    assert.equal(this.#time.pendingTimers, 0, 'timers are left');
  }

  #connect(to: string): Channel {
    const channel = this.#network.connect({ from: 'client', to });
    this.#channels.push(channel);
    return channel;
  }
}

// Runs a test body under virtual time. A body that waits while no event is left would hang for
// ever; here it fails at once.

const MAX_EVENTS = 1_000_000;
const MAX_STEP_MS = 24 * 3_600_000;

export async function runToEnd<T>(time: VirtualRuntime, body: () => Promise<T>): Promise<T> {
  let isDone = false;
  const work = body().finally(() => {
    isDone = true;
  });
  // Awaited below; until then a failure must not count as unhandled.
  work.catch(() => {});
  const lastEvent = time.firedEvents + MAX_EVENTS;
  for (;;) {
    const { stopped } = await time.runUntilIdle({ maxEvents: 1, maxMs: MAX_STEP_MS });
    if (isDone) return await work;
    assert.notEqual(stopped, 'idle', 'the body waits, and nothing is left to happen');
    assert.ok(time.firedEvents < lastEvent, 'the body does not end');
  }
}
