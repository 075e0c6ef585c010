// A provider and the suite in one process under virtual time, over the in-memory network, with
// contexts as a lane makes them. One seed gives one history, and a wait of 15 seconds costs
// nothing. The provider may be killed and booted again on another port.

import {
  createRandom,
  createVirtualRuntime,
  type Runtime,
  type VirtualRuntime,
} from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { CapacityProvider, type Handlers, openGate, Router } from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { type Check, type CheckContext, CheckFailed, SkipCheck, type SkipKind } from '../check.ts';
import { endpointOver } from '../dial.ts';
import type { Endpoint } from '../endpoint.ts';
import { tamper, type Tampering } from './tamper.ts';

/** A provider's program: `boot` is a new process over the same durable state. */
export interface Subject {
  boot(runtime: Runtime): Promise<Handlers<typeof CapacityProvider>>;
  /** The running process is gone; nothing that it still tries has an effect. */
  kill(): void;
}

export type Outcome =
  | { readonly kind: 'passed'; readonly notes: readonly string[] }
  | { readonly kind: 'failed'; readonly finding: string }
  | { readonly kind: 'skipped'; readonly skip: SkipKind; readonly reason: string };

/** Of the lane; what is left out has a usual value. */
export interface JudgeOptions
  extends Partial<
    Pick<
      CheckContext,
      'capabilities' | 'durable' | 'faultTimeoutMs' | 'process' | 'scale' | 'timeScale'
    >
  > {
  readonly tampering?: Tampering;
  /** Of the check's own randomness; 1 as the runner's default. */
  readonly seed?: bigint;
}

const MAX_EVENTS = 20_000_000;
const DAY_MS = 24 * 3_600_000;
const PROVIDER_HOST = 'provider';
const latency = { minMs: 0.05, maxMs: 0.3, tailProbability: 0, tailMs: 0 };

export class World {
  readonly time: VirtualRuntime;
  readonly #subject: Subject;
  readonly #network: MemoryNetwork;
  readonly #connections: Endpoint[] = [];
  #bootCount = 0;
  #address = '';

  /** `time` when the subject's substrate lives in the same time. */
  constructor(subject: Subject, time: VirtualRuntime = createTime()) {
    this.#subject = subject;
    this.time = time;
    this.#network = createMemoryNetwork({
      runtime: this.time.runtimeFor('network'),
      faults: { profile: { ...perfectLink, latency }, events: [] },
    });
  }

  async boot(): Promise<void> {
    this.#bootCount++;
    const runtime = this.time.runtimeFor(`provider-${this.#bootCount}`);
    const handlers = await this.#subject.boot(runtime);
    this.#address = `${PROVIDER_HOST}:${9000 + this.#bootCount}`;
    const router = new Router({ gate: openGate }).add(CapacityProvider, handlers);
    this.#network.listen(this.#address, router);
  }

  /** SIGKILL and a new process on another port over the same state. */
  async killAndReboot(): Promise<Endpoint> {
    this.#network.apply({ kind: 'crash', host: PROVIDER_HOST });
    this.#network.apply({ kind: 'restart', host: PROVIDER_HOST });
    this.#subject.kill();
    await this.boot();
    return this.connect();
  }

  /** A connection of its own. */
  connect(): Endpoint {
    const runtime = this.time.runtimeFor('suite');
    const channel = this.#network.connect({ from: 'suite', to: this.#address });
    const { signal } = new AbortController();
    const endpoint = endpointOver(channel, { runtime, target: this.#address, signal });
    this.#connections.push(endpoint);
    return endpoint;
  }

  context(id: string, { tampering, seed = 1n, ...changes }: JudgeOptions = {}): CheckContext {
    const dial = (): Endpoint =>
      tampering === undefined ? this.connect() : tamper(this.connect(), tampering);
    return {
      runtime: this.time.runtimeFor(`check-${id}`),
      random: createRandom(seed).stream(id),
      endpoint: dial(),
      secondConnection: async () => dial(),
      capabilities: { delete: true, sinceRevision: true },
      timeScale: 1,
      scale: { seedCount: 0, soakMs: 1_000 },
      faultTimeoutMs: 2_000,
      signal: new AbortController().signal,
      note: () => {},
      ...changes,
    };
  }

  /** Runs one check as a lane would. A bug of the suite is thrown. */
  async judge(check: Check, options: JudgeOptions = {}): Promise<Outcome> {
    const notes: string[] = [];
    const note = (text: string): void => void notes.push(text);
    const context = { ...this.context(check.id, options), note };
    try {
      await this.run(() => check.run(context));
      return { kind: 'passed', notes };
    } catch (error) {
      if (error instanceof CheckFailed) return { kind: 'failed', finding: error.message };
      if (!(error instanceof SkipCheck)) throw error;
      return { kind: 'skipped', skip: error.kind, reason: error.message };
    } finally {
      for (const endpoint of this.#connections.splice(0)) endpoint.close();
    }
  }

  /** Virtual time runs until the body is done. */
  run<T>(body: () => Promise<T>): Promise<T> {
    return runToEnd(this.time, body);
  }

  close(): void {
    this.#subject.kill();
    this.#network.close();
  }
}

export async function createWorld(subject: Subject, time?: VirtualRuntime): Promise<World> {
  const world = new World(subject, time);
  await world.run(() => world.boot());
  return world;
}

export function createTime(seed: bigint | string = 'conformance'): VirtualRuntime {
  return createVirtualRuntime({ seed, drain: drainMicrotasks });
}

/** A body that waits while nothing is left to happen would hang for ever; here it fails. */
export async function runToEnd<T>(time: VirtualRuntime, body: () => Promise<T>): Promise<T> {
  let isDone = false;
  const work = body().finally(() => {
    isDone = true;
  });
  // Awaited below; until then a failure must not count as unhandled.
  work.catch(() => {});
  const lastEvent = time.firedEvents + MAX_EVENTS;
  for (;;) {
    const { stopped } = await time.runUntilIdle({ maxEvents: 1, maxMs: DAY_MS });
    if (isDone) return work;
    if (stopped === 'idle') throw new Error('the body waits, and nothing is left to happen');
    if (time.firedEvents > lastEvent) throw new Error('the body does not end');
  }
}
