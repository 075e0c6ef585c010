// One simulated shard step: List the provider, decide, apply the rails, execute. The engine is an
// argument, so the same worlds run under the oracle and under every build of the engine. A step is
// a function of the shard's state alone; time is a count of cycles.
//
// Decide never sees the order in which machines were added or roll-ups arrived: with a shuffle
// stream both lists are permuted before every cycle, and nothing may change.

import { assert, type Random } from '@bigfleet/base';
import {
  type Action,
  ActionKind,
  applyRails,
  type ConfigureBrake,
  type CycleInput,
  type CycleMemory,
  type CycleOutput,
  DEFAULT_RELEASE_POLICY,
  emptyMemory,
  type Machine,
  oracleCycle,
  type RailedActions,
  type Rails,
  railsOff,
  type ReleasePolicy,
  State,
  noBrakes,
} from '@bigfleet/engine';
import { DemandTable } from './demand-table.ts';
import { execute } from './provider/execute.ts';
import type { ProviderModel } from './provider/provider-model.ts';
import { shuffle } from './seeds.ts';

export type Decide = (input: CycleInput) => CycleOutput;

/** A shard's own default interval. */
export const CYCLE_PERIOD_MS = 10_000;
/** Cycle 0 happens here; any fixed instant does. */
const START_MS = 1_700_000_000_000;
const NANOS_PER_MS = 1_000_000n;

export interface ShardOptions {
  /** Default: the oracle. */
  readonly decide?: Decide;
  /** Default off: simulations exist to show the pathologies that rails would damp. */
  readonly rails?: Rails;
  /** Default off, as the other rails. */
  readonly brake?: ConfigureBrake;
  readonly releasePolicy?: ReleasePolicy;
  readonly demand?: DemandTable;
  readonly shuffle?: Random;
}

export interface StepResult {
  readonly cycle: number;
  readonly input: CycleInput;
  readonly output: CycleOutput;
  /** What was executed. */
  readonly actions: readonly Action[];
  readonly railed: RailedActions<Action>;
  /** Size of the shortfall ledger. */
  readonly shortfallCount: number;
}

export class SimulatedShard {
  readonly provider: ProviderModel;
  readonly demand: DemandTable;
  readonly #options: ShardOptions;
  readonly #idleSinceMs = new Map<string, number>();
  #memory: CycleMemory = emptyMemory;
  #cycle = 0;

  constructor(provider: ProviderModel, options: ShardOptions = {}) {
    this.provider = provider;
    this.demand = options.demand ?? new DemandTable();
    this.#options = options;
    provider.onChange = (machine, from) => options.brake?.changed(machine, from, false, this.nowMs);
  }

  /** Of the next step. */
  get cycle(): number {
    return this.#cycle;
  }

  get nowMs(): number {
    return START_MS + this.#cycle * CYCLE_PERIOD_MS;
  }

  get nowUnixNanos(): bigint {
    return BigInt(this.nowMs) * NANOS_PER_MS;
  }

  get memory(): CycleMemory {
    return this.#memory;
  }

  step(): StepResult {
    const { decide = oracleCycle, rails = railsOff } = this.#options;
    const input = this.#ingest();
    const output = decide(input);
    assertOnePerMachine(output.actions);
    const railed = applyRails(output.actions, (cluster) => configuredIn(input, cluster), rails);
    for (const action of railed.kept) this.#execute(action);
    this.#memory = output.memory;
    // A drain that completed at once starts its hold now, not when the next cycle looks.
    this.#stampIdle(this.provider.list());
    const cycle = this.#cycle++;
    const shortfallCount = output.memory.shortfalls.size;
    return { cycle, input, output, actions: railed.kept, railed, shortfallCount };
  }

  #execute(action: Action): void {
    const { kind, machineId } = action;
    if (kind === ActionKind.Bootstrap || kind === ActionKind.Provision) {
      this.#options.brake?.began(this.provider.get(machineId), action, this.nowMs);
    }
    execute(this.provider, action);
  }

  #isTried(machineId: string): boolean {
    if (!this.provider.has(machineId)) return false;
    const { state } = this.provider.get(machineId);
    return state === State.Creating || state === State.Configuring;
  }

  #ingest(): CycleInput {
    const { shuffle: random, releasePolicy = DEFAULT_RELEASE_POLICY } = this.#options;
    const machines = [...this.provider.list()];
    this.#stampIdle(machines);
    const needs = this.demand.rows();
    if (random !== undefined) {
      shuffle(random, machines);
      shuffle(random, needs);
    }
    return {
      nowMs: this.nowMs,
      machines,
      idleSinceMs: new Map(this.#idleSinceMs),
      needs,
      reportedClusters: new Set(this.demand.reportedClusters),
      quotaRemaining: new Map(),
      heldOff: new Set(),
      brakes: this.#options.brake?.brakes(this.nowMs, (id) => this.#isTried(id)) ?? noBrakes,
      memory: this.#memory,
      releasePolicy,
    };
  }

  /** Stamped on entry, kept while Idle, dropped on leaving or vanishing. */
  #stampIdle(machines: readonly Machine[]): void {
    const idle = new Set<string>();
    for (const { id, state } of machines) if (state === State.Idle) idle.add(id);
    for (const id of this.#idleSinceMs.keys()) if (!idle.has(id)) this.#idleSinceMs.delete(id);
    for (const id of idle) if (!this.#idleSinceMs.has(id)) this.#idleSinceMs.set(id, this.nowMs);
  }
}

function configuredIn(input: CycleInput, cluster: string): number {
  return input.machines.filter(
    (machine) => machine.state === State.Configured && machine.cluster === cluster,
  ).length;
}

function assertOnePerMachine(actions: readonly Action[]): void {
  const ids = new Set(actions.map(({ machineId }) => machineId));
  assert(ids.size === actions.length, 'a machine has at most one action', {
    actions: actions.length,
    machines: ids.size,
  });
}

/** Actions by kind, as every report wants them. */
export interface ActionCounts {
  readonly bootstraps: number;
  readonly provisions: number;
  readonly reclaims: number;
  readonly preempts: number;
  readonly deletes: number;
}

export function countActions(actions: readonly Action[]): ActionCounts {
  const of = (wanted: number): number => actions.filter(({ kind }) => kind === wanted).length;
  return {
    bootstraps: of(ActionKind.Bootstrap),
    provisions: of(ActionKind.Provision),
    reclaims: of(ActionKind.Reclaim),
    preempts: of(ActionKind.Preempt),
    deletes: of(ActionKind.Delete),
  };
}

export function churnOf(counts: ActionCounts): number {
  const { bootstraps, provisions, reclaims, preempts, deletes } = counts;
  return bootstraps + provisions + reclaims + preempts + deletes;
}
