// A small fleet and its demand, driven at random through every input that the shard sends, so
// that two hosts can be fed the same and compared.

import { createRandom, type Random, ZERO_BUCKET } from '@bigfleet/base';
import {
  CapacityType,
  isBound,
  isLegalTransition,
  isStateCode,
  type Machine,
  type MoveChanges,
  noAssignment,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, encodeInit, Operator, PenaltyBucket } from '@bigfleet/wire';
import type { EngineHost } from '../engine-host.ts';

const CLUSTERS = ['blue', 'green', 'red'];
const TYPES = ['small', 'large'];
const STATES: readonly StateCode[] = Object.values(State).filter(isStateCode);

export function machineOf(id: string, state: StateCode, cluster = ''): Machine {
  const hasHost = state !== State.Speculative && state !== State.Creating;
  return {
    id,
    state,
    provider: 'alpha',
    host: hasHost ? { provider: 'alpha', ref: `host-${id}` } : undefined,
    cluster: isBound(state) ? cluster : '',
    instanceType: TYPES[id.length % 2] as string,
    zone: 'zone-a',
    capacityType: CapacityType.OnDemand,
    labels: new Map([['pool', 'general']]),
    allocatable: new Map([['cpu', id.length % 2 === 0 ? 4_000 : 16_000]]),
    pricePerHour: id.length % 2 === 0 ? 0.2 : 0.7,
    interruptionProbability: 0,
    lastError: state === State.Failed ? 'lost' : '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  };
}

export function rollupOf(cluster: string, cores: number, priority = 1_000): Uint8Array {
  return encodeInit(ClusterCapacityNeedsSchema, {
    clusterId: cluster,
    timestampUnixNanos: 1n,
    needs: [
      {
        requirements: [{ key: 'pool', operator: Operator.IN, values: ['general'] }],
        aggregateResources: { cpu: String(cores) },
        minUnit: { cpu: '1' },
        priority,
        interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
        reclamationPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
      },
    ],
  });
}

/** One random input, the same for every host. Keeps its own picture of the fleet. */
export class RandomInputs {
  readonly #random: Random;
  readonly #machines = new Map<string, { state: StateCode; cluster: string }>();
  #nextId = 0;

  constructor(seed: bigint) {
    this.#random = createRandom(seed);
  }

  async apply(hosts: readonly EngineHost[], nowMs: number): Promise<void> {
    const pick = this.#random.below(10);
    if (pick < 4) this.#put(hosts, nowMs);
    else if (pick < 8) this.#move(hosts, nowMs);
    else if (pick < 9) this.#remove(hosts);
    else await this.#rollup(hosts);
  }

  #put(hosts: readonly EngineHost[], nowMs: number): void {
    const id = `m${this.#nextId++}`;
    const state = this.#oneOf([State.Speculative, State.Idle, State.Configured]);
    const machine = machineOf(id, state, this.#oneOf(CLUSTERS));
    this.#machines.set(id, { state, cluster: machine.cluster });
    for (const host of hosts) host.machines.put(machine, nowMs);
  }

  #move(hosts: readonly EngineHost[], nowMs: number): void {
    const id = this.#anyId();
    const known = id === undefined ? undefined : this.#machines.get(id);
    if (id === undefined || known === undefined) return;
    const next = STATES.filter((to) => isLegalTransition(known.state, to));
    if (next.length === 0) return;
    const to = this.#oneOf(next);
    const changes: MoveChanges = {
      ...(to === State.Failed ? { lastError: 'broken' } : {}),
      ...(to === State.Idle && known.state === State.Creating
        ? { host: { provider: 'alpha', ref: `host-${id}` } }
        : {}),
      ...(to === State.Configuring
        ? {
            cluster: this.#oneOf(CLUSTERS),
            assigned: { ...noAssignment, priority: 7, interruptionBucket: ZERO_BUCKET },
          }
        : {}),
    };
    this.#machines.set(id, { state: to, cluster: changes.cluster ?? known.cluster });
    for (const host of hosts) host.machines.move(id, to, changes, nowMs);
  }

  #remove(hosts: readonly EngineHost[]): void {
    const id = this.#anyId();
    if (id === undefined) return;
    this.#machines.delete(id);
    for (const host of hosts) host.machines.remove(id);
  }

  async #rollup(hosts: readonly EngineHost[]): Promise<void> {
    const cluster = this.#oneOf(CLUSTERS);
    const bytes = rollupOf(cluster, this.#random.below(60), this.#random.below(3) * 1_000);
    for (const host of hosts) {
      await host.applyRollup({ cluster, bytes: bytes.slice(), isGuarded: true });
    }
  }

  #anyId(): string | undefined {
    const ids = [...this.#machines.keys()];
    return ids.length === 0 ? undefined : this.#oneOf(ids);
  }

  #oneOf<T>(values: readonly T[]): T {
    return values[this.#random.below(values.length)] as T;
  }
}
