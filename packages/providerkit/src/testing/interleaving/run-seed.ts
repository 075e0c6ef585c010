// One seed, one order: conflicting calls of two shards, a zombie and a caller without token, store
// trouble, slow substrate, timeouts, host losses, reconciles, and sometimes a crash or a stop in
// the middle; then calm, until nothing is left to do. The history judges each event; at the end the
// store, the full list and the list that was followed by cursor must agree.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type Random, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createLogger } from '@bigfleet/telemetry';
import {
  type CallContext,
  decode,
  encodeInit,
  type FencingToken,
  ListFilterSchema,
  type Machine,
  type MachineList,
  MachineListSchema,
  MachineSchema,
} from '@bigfleet/wire';
import { createProvider } from '../../create-provider.ts';
import { encodeMachine } from '../../encoding/encode-machine.ts';
import { kindInTransit, type OperationKind } from '../../model/machine.ts';
import type { Provider } from '../../provider.ts';
import { slot } from '../scenario/world.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { ChaosBackend, ChaosStore } from './chaos.ts';
import { History } from './history.ts';
import { ask } from './questions.ts';

const MACHINES = ['m-0', 'm-1'];
const KINDS: readonly OperationKind[] = ['create', 'configure', 'drain', 'delete'];
/** Two bursts: the first, and one when results that the store refused are saved again. */
const BURST_MS = 30;
const SECOND_BURST_AT_MS = 110;
const END_MS = 220;
const options = {
  timeouts: { create: 8, configure: 8, drain: 8, delete: 8 },
  reconcileIntervalMs: 0,
  failedCleanupAfterMs: 5,
};

/** One for all runs: its making costs more than a run's calls, and nobody reads it. */
const logger = createLogger({
  clock: { monotonicMs: () => 0, unixNanos: () => 0n },
  sink: { write: () => {}, flushSync: () => {} },
  level: 'error',
});

/** Rejects on the first broken rule; resolves to a text that tells this order from others. */
export async function runSeed(seed: string): Promise<string> {
  const run = new Run(seed);
  await run.begin();
  run.plan();
  await run.finish();
  return run.history.trace.join('');
}

class Run {
  readonly history = new History();
  readonly #time: VirtualRuntime;
  readonly #random: Random;
  readonly #memory = new MemoryStore();
  readonly #broken: unknown[] = [];
  readonly #view = new Map<string, Machine>();
  readonly #sequences = new Map<string, bigint>();
  #cursor: Uint8Array = new Uint8Array(0);
  #store: ChaosStore;
  #backend: ChaosBackend;
  #provider: Provider | undefined;

  constructor(seed: string) {
    this.#time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    const { runtime } = this.#time;
    this.#random = runtime.random.stream('plan');
    this.#store = this.#newStore();
    this.#backend = this.#newBackend();
  }

  async begin(): Promise<void> {
    this.#store.calm();
    this.#start();
    await this.#time.runFor(20);
    assert.ok(this.#provider, 'the first start succeeds');
    this.#store.storm();
  }

  /** Everything at fixed times, so that virtual time gives the order. */
  plan(): void {
    const eventCount = 10 + this.#random.below(8);
    for (let i = 0; i < eventCount; i++) this.#at(this.#moment(), this.#event());
    if (this.#random.below(3) === 0) {
      const isGraceful = this.#random.below(3) === 0;
      this.#at(this.#moment(), () => this.#restart(isGraceful));
    }
  }

  #moment(): number {
    if (this.#random.below(4) > 0) return this.#random.below(BURST_MS);
    return SECOND_BURST_AT_MS + this.#random.below(END_MS - SECOND_BURST_AT_MS);
  }

  async finish(): Promise<void> {
    await this.#time.runFor(END_MS);
    this.#store.calm();
    const bounds = { maxEvents: 20_000, maxMs: 1_000_000 };
    const { stopped } = await this.#time.runUntilIdle(bounds);
    for (const error of this.#broken) throw error;
    assert.equal(stopped, 'idle', 'nothing goes on for ever');
    this.history.finished();
    assert.deepEqual(this.history.violations, []);
    await this.#agree();
  }

  async #agree(): Promise<void> {
    const image = await this.#memory.load();
    const stored = new Map<string, Machine>();
    for (const record of image?.machines ?? []) {
      assert.equal(kindInTransit(record.state), undefined, 'no machine is stuck in transit');
      stored.set(record.id, decode(MachineSchema, encodeMachine(record), 'INTERNAL'));
    }
    await this.#poll(0);
    const { machines } = await this.#list({});
    assert.deepEqual(new Map(machines.map((machine) => [machine.id, machine])), stored);
    assert.deepEqual(sorted(this.#view), sorted(stored), 'deltas add up to the full list');
  }

  #event(): () => Promise<void> {
    const dice = this.#random.below(20);
    const machineId = this.#pick(MACHINES);
    if (dice < 15) return this.#call(machineId);
    if (dice < 18) return () => this.#poll(this.#random.below(3));
    if (dice === 18) {
      return async () => {
        await this.#provider?.reconcile();
      };
    }
    return async () => {
      this.history.hostReportedLost(machineId);
      await this.#provider?.reportHostLost(machineId, 'gone');
    };
  }

  /** The token is drawn now and sent later, as a shard with many workers does. */
  #call(machineId: string): () => Promise<void> {
    const kind = this.#pick(KINDS);
    const token = this.#token();
    return async () => {
      const provider = this.#provider;
      if (provider === undefined) return;
      const acceptedBefore = this.history.acceptedOn(machineId, kind).length;
      const revisionBefore = this.history.revisionOf(machineId);
      const question = { kind, machineId, token, acceptedBefore, revisionBefore };
      const { code, operationId } = await ask(provider, question);
      // The answer of a process that is gone reached nobody.
      if (provider === this.#provider) this.history.answered(question, code, operationId);
    };
  }

  #token(): FencingToken {
    const who = this.#random.below(8);
    if (who === 0) return { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };
    const shardId = who < 5 ? 'a' : 'b';
    // The zombie of shard a: an older epoch, far ahead in numbers.
    const isZombie = who === 1;
    const key = isZombie ? 'zombie' : shardId;
    const sequenceNumber = (this.#sequences.get(key) ?? (isZombie ? 100n : 0n)) + 1n;
    this.#sequences.set(key, sequenceNumber);
    return { shardId, shardEpoch: isZombie ? 1n : 2n, sequenceNumber };
  }

  async #poll(maxResults: number): Promise<void> {
    if (this.#provider === undefined) return;
    const asked = this.#cursor;
    const { machines, revision } = await this.#list({ sinceRevision: asked, maxResults });
    for (const machine of machines) {
      assert.equal(machineProblem(machine), undefined);
      this.#view.set(machine.id, machine);
    }
    this.#cursor = revision;
    this.history.trace.push(`p${machines.length}`);
  }

  async #list(query: { sinceRevision?: Uint8Array; maxResults?: number }): Promise<MachineList> {
    const handler = this.#provider?.handlers.list;
    assert.ok(handler !== undefined && 'raw' in handler);
    const bytes = await handler.handle(encodeInit(ListFilterSchema, query), context);
    return decode(MachineListSchema, bytes, 'INTERNAL');
  }

  async #restart(isGraceful: boolean): Promise<void> {
    const old = this.#provider;
    if (old === undefined) return;
    if (isGraceful) await old.shutdown(this.#random.below(12));
    this.#provider = undefined;
    this.#store.cut();
    this.#backend.kill();
    this.history.restarted();
    this.#store = this.#newStore();
    this.#backend = this.#newBackend();
    this.#start();
  }

  #start(): void {
    const starting = createProvider({
      backend: this.#backend,
      store: this.#store,
      runtime: this.#time.runtimeFor(`kit-${this.history.restartCount}`),
      logger,
      options,
    });
    this.#supervise(
      starting.then((provider) => {
        this.#provider = provider;
      }),
    );
  }

  #newStore(): ChaosStore {
    const runtime = this.#time.runtimeFor(`store-${this.history.restartCount}`);
    return new ChaosStore(this.#memory, runtime, this.history);
  }

  #newBackend(): ChaosBackend {
    const runtime = this.#time.runtimeFor(`backend-${this.history.restartCount}`);
    const slots = MACHINES.map((id) => slot(id));
    return new ChaosBackend(slots, runtime, this.history);
  }

  #at(delayMs: number, action: () => Promise<void>): void {
    this.#time.runtime.timers.after(delayMs, () => this.#supervise(action()));
  }

  #supervise(work: Promise<void>): void {
    work.catch((error: unknown) => this.#broken.push(error));
  }

  #pick<T>(from: readonly T[]): T {
    const chosen = from[this.#random.below(from.length)];
    assert.ok(chosen !== undefined);
    return chosen;
  }
}

const context: CallContext = {
  path: '/test',
  peer: { address: 'test', identity: { kind: 'unverified' } },
  metadata: new Map(),
  signal: new AbortController().signal,
  setTrailer: () => {},
};

/** The grid of provider-contract §3, on what a reader sees. */
function machineProblem(machine: Machine): string | undefined {
  const { state, host, cluster, lastError, shardMetadata } = machine;
  const hostStates = [3, 4, 5, 6, 7];
  const boundStates = [4, 5, 6];
  const isFailed = state === 8;
  if (!isFailed && hostStates.includes(state) !== (host !== undefined)) return `host in ${state}`;
  if (!isFailed && boundStates.includes(state) !== (cluster !== '')) return `cluster in ${state}`;
  if (isFailed !== (lastError !== '')) return `last_error in ${state}`;
  if (cluster === '' && Object.keys(shardMetadata).length > 0) return 'metadata without binding';
  return undefined;
}

function sorted(machines: ReadonlyMap<string, Machine>): readonly Machine[] {
  return [...machines.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
