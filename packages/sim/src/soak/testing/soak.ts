// The soak: thousands of cycles of random roll-ups over one fleet. It checks invariants, not
// behaviour: nothing is lost, nothing is stuck, every decision is sound, and the volume of actions
// stays in proportion to the changes of demand.

import { assert, bucketOfDollars, type Random } from '@bigfleet/base';
import {
  CapacityType,
  createProfile,
  INSTANCE_TYPE_KEY,
  isStable,
  type Machine,
  type Need,
  noAssignment,
  Operator,
  type Resources,
  State,
} from '@bigfleet/engine';
import { uniformInt } from '../../catalogue/distributions.ts';
import { type Dwell, instant, ProviderModel } from '../../provider/provider-model.ts';
import { printSeed, SOAK_SEED, soakRandom } from '../../seeds.ts';
import { type Decide, SimulatedShard } from '../../step.ts';
import { decisionViolations } from './invariants.ts';

export interface SoakOptions {
  readonly decide?: Decide;
  readonly seed?: bigint;
  readonly dwell?: Dwell;
  /** Default 1,000. */
  readonly idleCount?: number;
  /** Default 2,000. */
  readonly speculativeCount?: number;
  /** Default 30. */
  readonly clusterCount?: number;
}

const CHURN_EVERY_CYCLES = 5;
const WITHDRAW_EVERY_CYCLES = 35;
const MACHINES_MAX = 50;
const PRIORITY_END = 1_000_000;
const INSTANCE_TYPE = 'm6i.xlarge';
const SHAPE: Resources = new Map([
  ['cpu', 4000],
  ['memory', 16 * 1024 * 1024],
]);
/** A changed roll-up lets go of at most its machines, takes as many, and those are given back. */
const ACTIONS_PER_CHANGE = 3 * MACHINES_MAX;

export class Soak {
  readonly seed: bigint;
  readonly #random: Random;
  readonly #provider: ProviderModel;
  readonly #shard: SimulatedShard;
  readonly #clusters: readonly string[];
  readonly #seededCount: number;
  #actionCount = 0;
  #changeCount = 0;

  constructor(options: SoakOptions = {}) {
    const { idleCount = 1000, speculativeCount = 2000, clusterCount = 30 } = options;
    this.seed = options.seed ?? SOAK_SEED;
    this.#random = soakRandom(this.seed).stream('roll-ups');
    this.#provider = new ProviderModel(options.dwell ?? instant);
    for (let at = 1; at <= idleCount; at++) this.#provider.add(idleMachine(at));
    for (let at = 1; at <= speculativeCount; at++) this.#provider.add(speculativeMachine(at));
    this.#seededCount = idleCount + speculativeCount;
    this.#clusters = Array.from({ length: clusterCount }, (_, at) => `cluster-${at + 1}`);
    this.#shard = new SimulatedShard(this.#provider, {
      ...(options.decide === undefined ? {} : { decide: options.decide }),
      shuffle: soakRandom(this.seed).stream('shuffle'),
    });
  }

  get cycle(): number {
    return this.#shard.cycle;
  }

  get actionCount(): number {
    return this.#actionCount;
  }

  /** One cycle with its share of churn; every decision is checked. */
  runCycle(): void {
    const { cycle } = this.#shard;
    if (cycle % CHURN_EVERY_CYCLES === 0) this.#rollUp(uniformInt(this.#random, 1, MACHINES_MAX));
    if (cycle % WITHDRAW_EVERY_CYCLES === WITHDRAW_EVERY_CYCLES - 1) this.#rollUp(0);
    this.#step();
  }

  /** Demand stays as it is until every hold and operation has run out. */
  settle(cycleCount: number): void {
    for (let cycle = 0; cycle < cycleCount; cycle++) this.#step();
  }

  /** What must hold after settling; every violation in words. */
  endViolations(): string[] {
    const machines = this.#provider.list();
    const found = machines
      .filter(({ state }) => !isStable(state))
      .map(({ id, state }) => `${id} is left in state ${state}`);
    if (machines.length !== this.#seededCount) {
      found.push(`${machines.length} machines, ${this.#seededCount} were seeded`);
    }
    const bound = ACTIONS_PER_CHANGE * this.#changeCount;
    if (this.#actionCount > bound) found.push(`${this.#actionCount} actions, bound ${bound}`);
    return found;
  }

  #step(): void {
    this.#provider.advance();
    const result = this.#shard.step();
    this.#actionCount += result.actions.length;
    const violations = decisionViolations(result);
    assert(violations.length === 0, 'unsound decision', {
      seed: printSeed(this.seed),
      cycle: result.cycle,
      first: violations[0] ?? '',
    });
  }

  #rollUp(machineCount: number): void {
    const cluster = this.#clusters[this.#random.below(this.#clusters.length)];
    assert(cluster !== undefined, 'a soak has clusters');
    const priority = this.#random.below(PRIORITY_END);
    const rows = machineCount === 0 ? [] : [demand(cluster, machineCount, priority)];
    this.#shard.demand.applyRollup(cluster, rows, this.#shard.nowUnixNanos);
    this.#changeCount++;
  }
}

function demand(cluster: string, machineCount: number, priority: number): Need {
  return {
    cluster,
    profile: createProfile({
      requirements: [{ key: INSTANCE_TYPE_KEY, operator: Operator.In, values: [INSTANCE_TYPE] }],
      spread: [],
      priority,
      interruptionBucket: bucketOfDollars(0),
      reclamationBucket: bucketOfDollars(0),
    }),
    aggregate: new Map([...SHAPE].map(([name, value]) => [name, value * machineCount])),
    minUnit: SHAPE,
    group: '',
    arrivalUnixNanos: 0n,
  };
}

function idleMachine(at: number): Machine {
  const id = `idle-${String(at).padStart(5, '0')}`;
  return {
    ...speculativeMachine(at),
    id,
    state: State.Idle,
    host: { provider: 'fake', ref: `host-${id}` },
    capacityType: CapacityType.BareMetal,
    pricePerHour: 0,
    interruptionProbability: 0,
  };
}

function speculativeMachine(at: number): Machine {
  return {
    id: `spec-${String(at).padStart(5, '0')}`,
    state: State.Speculative,
    provider: 'fake',
    host: undefined,
    cluster: '',
    instanceType: INSTANCE_TYPE,
    zone: `zone-${'abc'[at % 3]}`,
    capacityType: CapacityType.OnDemand,
    labels: new Map(),
    allocatable: SHAPE,
    pricePerHour: 6,
    interruptionProbability: 0.05,
    lastError: '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  };
}
