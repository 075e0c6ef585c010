// The whole system from one seed: a shard, operators of a few clusters, kit providers, the network
// between them and what happens to all of it. First a storm, then quiet, then a while in which
// nothing may happen any more.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type Random, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { Instance } from '@bigfleet/providerkit';
import type { ListMode } from '@bigfleet/shard';
import {
  createMemoryNetwork,
  EventLog,
  type FaultPlan,
  type MemoryNetwork,
} from '@bigfleet/wire/memory';
import { Cluster } from './cluster.ts';
import type { Mutant } from './mutant.ts';
import { OperatorProcess } from './operator-process.ts';
import type { Process, Surroundings } from './process.ts';
import { ProviderBook } from './provider-book.ts';
import { ProviderProcess } from './provider-process.ts';
import { ShardProcess } from './shard-process.ts';
import { Substrate } from './substrate.ts';
import { Witness } from './witness.ts';

/** A crash of one process at one externally visible step. */
export interface Strike {
  readonly step: number;
  readonly host: string;
  readonly downMs: number;
}

export interface WorldOptions {
  readonly seed: string;
  readonly clusterCount: number;
  readonly providerCount: number;
  readonly slotsPerProvider: number;
  readonly faults: FaultPlan;
  readonly strikes: readonly Strike[];
  readonly listMode: ListMode;
  readonly mutant?: Mutant | undefined;
  /** Gets every line of the history. */
  readonly sink?: (line: string) => void;
}

/** So that a peer that vanished is noticed within seconds, not minutes. */
const NETWORK = { keepaliveIdleMs: 8_000, keepaliveTimeoutMs: 2_000, dialTimeoutMs: 2_000 };

export class World {
  readonly time: VirtualRuntime;
  readonly random: Random;
  readonly network: MemoryNetwork;
  readonly log: EventLog;
  readonly witness: Witness = new Witness();
  readonly substrate: Substrate = new Substrate(this.witness);
  readonly books: Map<string, ProviderBook> = new Map();
  readonly clusters: Cluster[] = [];
  readonly providers: ProviderProcess[] = [];
  readonly operators: OperatorProcess[] = [];
  readonly shard: ShardProcess;
  isStormy = true;
  strikeCount = 0;
  readonly #strikes: Map<number, Strike>;

  constructor(options: WorldOptions) {
    this.time = createVirtualRuntime({ seed: options.seed, drain: drainMicrotasks });
    const { runtime } = this.time;
    this.random = runtime.random.stream('world');
    this.#strikes = new Map(options.strikes.map((strike) => [strike.step, strike]));
    this.log = new EventLog({
      tailLines: 60,
      sink: (line) => {
        options.sink?.(line);
        this.witness.seen();
      },
    });
    this.witness.bind(this.log);
    this.witness.onStep = (step) => this.#onStep(step);
    this.network = createMemoryNetwork({
      runtime,
      faults: options.faults,
      log: this.log,
      settings: NETWORK,
    });
    const surroundings: Surroundings = {
      network: this.network,
      witness: this.witness,
      substrate: this.substrate,
      runtimeFor: (name) => this.time.runtimeFor(name),
      isStormy: () => this.isStormy,
      clusterIds: () => this.clusters.map(({ id }) => id),
      mutant: options.mutant,
    };
    for (const name of hostsNamed('p', options.providerCount)) {
      this.#addProvider(surroundings, name, options.slotsPerProvider);
    }
    for (const name of hostsNamed('c', options.clusterCount)) {
      const cluster = new Cluster(name);
      this.clusters.push(cluster);
      this.substrate.watch(name, cluster);
      this.operators.push(new OperatorProcess(surroundings, cluster));
    }
    this.shard = new ShardProcess(surroundings, this.books, options.listMode);
    for (const process of this.processes()) process.start();
  }

  get slotCount(): number {
    return [...this.books.values()].reduce((sum, book) => sum + book.machines.size, 0);
  }

  get operationCount(): number {
    return [...this.books.values()].reduce((sum, book) => sum + book.operationCount, 0);
  }

  processes(): readonly Process[] {
    return [...this.providers, this.shard, ...this.operators];
  }

  /** Faults end, dead hosts come back, nothing is refused any more. */
  calm(): void {
    this.isStormy = false;
    this.#strikes.clear();
    this.network.cancelPlan();
    this.network.apply({ kind: 'calm' });
    for (const { host } of this.processes()) {
      if (!this.network.isUp(host)) this.network.apply({ kind: 'restart', host });
    }
  }

  close(): void {
    for (const process of this.processes()) process.kill();
    this.network.close();
    for (const operator of this.operators) operator.release();
  }

  providerOf(machineId: string): ProviderProcess {
    const found = this.providers.find(({ host }) => machineId.startsWith(`${host}-`));
    assert.ok(found !== undefined, machineId);
    return found;
  }

  #onStep(step: number): void {
    const strike = this.#strikes.get(step);
    if (strike === undefined) return;
    this.#strikes.delete(step);
    const { host, downMs } = strike;
    const { timers } = this.time.runtime;
    if (!this.network.isUp(host)) return;
    this.strikeCount += 1;
    this.processes()
      .find((process) => process.host === host)
      ?.kill();
    // Its kernel needs a moment longer than itself.
    timers.after(0, () => this.network.apply({ kind: 'crash', host }));
    timers.after(downMs, () => this.network.apply({ kind: 'restart', host }));
  }

  #addProvider(surroundings: Surroundings, name: string, slotCount: number): void {
    const slots = Array.from({ length: slotCount }, (_, i) => slot(`${name}-${i}`, i));
    const book = new ProviderBook(name, new Set(slots.map(({ id }) => id)), this.witness);
    this.books.set(name, book);
    this.providers.push(new ProviderProcess(surroundings, { book, slots }));
  }
}

export function hostsNamed(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

/** Committed capacity is held for ever, spot is given back after a minute: both ways are walked. */
function slot(id: string, index: number): Instance {
  const isSpot = index % 3 === 1;
  return {
    id,
    instanceType: 'four-cores',
    zone: 'z-1',
    capacityType: isSpot ? 'Spot' : 'Reserved',
    pricePerHour: isSpot ? 0.1 : 0.2,
    interruptionProbability: isSpot ? 0.01 : 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
  };
}
