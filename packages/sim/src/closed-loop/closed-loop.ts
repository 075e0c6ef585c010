// The workhorse: clusters whose Pods react to what the engine does. Each cycle: operations mature
// and scheduled events happen; every cluster rolls up its live Pods; the shard steps; Pods on
// machines that left Configured die; controllers recreate them and pending Pods bind.
//
// Instant transitions freeze the acquirable pool at equilibrium and hide every oscillation driver,
// so every convergence test varies the dwells.

import { assert, createRandom } from '@bigfleet/base';
import {
  type Action,
  ActionKind,
  type CycleOutput,
  type Machine,
  needKey,
  type Rails,
  type ReleasePolicy,
  resourcesKey,
  satisfiesAll,
  State,
} from '@bigfleet/engine';
import { DemandTable } from '../demand-table.ts';
import { ProviderModel } from '../provider/provider-model.ts';
import { SCENARIO_SEED } from '../seeds.ts';
import { churnOf, countActions, type Decide, SimulatedShard, type StepResult } from '../step.ts';
import { Trace } from '../trace.ts';
import { ClusterModel, type ClusterOptions } from './cluster-model.ts';
import { seedMachines, type ShapeSeed } from './seed-machines.ts';
import type { Workload } from './shape.ts';
import type { CycleStats } from './stats.ts';

export interface ClusterPlan {
  readonly id: string;
  readonly workloads: readonly Workload[];
}

export interface ScaleEvent {
  readonly cycle: number;
  readonly shape: string;
  readonly replicas: number;
  /** Default: every cluster. */
  readonly cluster?: string;
}

/** Configured machines of a cluster are lost, in id order. */
export interface FaultEvent {
  readonly cycle: number;
  readonly cluster: string;
  readonly count: number;
}

export interface LoopPlan extends ClusterOptions {
  readonly name: string;
  readonly clusters: readonly ClusterPlan[];
  readonly seeds: readonly ShapeSeed[];
  readonly scales?: readonly ScaleEvent[];
  readonly faults?: readonly FaultEvent[];
  /** Every roll-up restamps its cluster's rows, and each cycle another cluster is the oldest. */
  readonly rollupArrivalStamps?: boolean;
  /** Shard steps that see a machine Creating. */
  readonly provisionDwellCycles?: number;
  /** Shard steps that see a machine Configuring. */
  readonly bootstrapDwellCycles?: number;
  readonly drainDwellCycles?: number;
  readonly deleteDwellCycles?: number;
  /** The initial fill stamps gangs on the machines that they bind. */
  readonly stampSeededGangAttribution?: boolean;
  /** Default: the production constants. */
  readonly releasePolicy?: ReleasePolicy;
  readonly rails?: Rails;
  /** Beside those of the seeds. */
  readonly machines?: readonly Machine[];
}

export interface LoopOptions {
  readonly decide?: Decide;
  readonly seed?: bigint;
  /** Default true. A loop that runs for ever must not remember every cycle of its life. */
  readonly hasLog?: boolean;
}

/** As many clusters with the same workloads, named `cluster-1` and so on. */
export function equalClusters(count: number, workloads: readonly Workload[]): ClusterPlan[] {
  return Array.from({ length: count }, (_, at) => ({ id: `cluster-${at + 1}`, workloads }));
}

/** An executed action and when. */
export interface LoggedAction extends Action {
  readonly cycle: number;
}

export class ClosedLoop {
  readonly plan: LoopPlan;
  readonly seed: bigint;
  readonly provider: ProviderModel;
  readonly clusters: readonly ClusterModel[];
  readonly trace: Trace = new Trace();
  readonly stats: CycleStats[] = [];
  readonly actions: LoggedAction[] = [];
  /** What the shard saw and decided last. */
  lastStep: StepResult | undefined;
  readonly #shard: SimulatedShard;
  readonly #rollups = new Map<string, string>();
  readonly #hasLog: boolean;
  #domains: ReadonlyMap<string, string> = new Map();

  constructor(plan: LoopPlan, options: LoopOptions = {}) {
    this.plan = plan;
    this.seed = options.seed ?? SCENARIO_SEED;
    this.#hasLog = options.hasLog ?? true;
    this.provider = new ProviderModel({
      createCycles: plan.provisionDwellCycles ?? 0,
      configureCycles: plan.bootstrapDwellCycles ?? 0,
      drainCycles: plan.drainDwellCycles ?? 0,
      deleteCycles: plan.deleteDwellCycles ?? 0,
    });
    const ids = plan.clusters.map(({ id }) => id);
    for (const seed of plan.seeds) {
      for (const machine of seedMachines(seed, ids)) this.provider.add(machine);
    }
    for (const machine of plan.machines ?? []) this.provider.add(machine);
    this.clusters = plan.clusters.map(({ id, workloads }) => new ClusterModel(id, workloads, plan));
    this.#shard = new SimulatedShard(this.provider, {
      ...options,
      ...(plan.rails === undefined ? {} : { rails: plan.rails }),
      ...(plan.releasePolicy === undefined ? {} : { releasePolicy: plan.releasePolicy }),
      demand: new DemandTable(plan.rollupArrivalStamps === true ? 'restamped' : 'first-seen'),
      shuffle: createRandom(this.seed).stream(plan.name).stream('shuffle'),
    });
    this.#fill();
    this.trace.start(plan.name, this.provider.list());
  }

  /** Of the next cycle. */
  get cycle(): number {
    return this.#shard.cycle;
  }

  get nowMs(): number {
    return this.#shard.nowMs;
  }

  cluster(id: string): ClusterModel {
    const found = this.clusters.find((cluster) => cluster.id === id);
    assert(found !== undefined, 'unknown cluster', { id });
    return found;
  }

  run(cycleCount: number): this {
    for (let cycle = 0; cycle < cycleCount; cycle++) this.runCycle();
    this.trace.end(this.plan.name, this.provider.list());
    return this;
  }

  runCycle(): CycleStats {
    const cycle = this.#shard.cycle;
    if (cycle > 0) this.provider.advance();
    const lost = this.#applyEvents(cycle);
    this.#rollUp(cycle);
    const result = this.#shard.step();
    this.lastStep = result;
    const machines = this.provider.list();
    let evicted = 0;
    for (const cluster of this.clusters) {
      evicted += cluster.evict(machines);
      cluster.recreate();
      cluster.bind(machines);
    }
    const stats = this.#observe(result, machines, { evicted, lost });
    if (!this.#hasLog) return stats;
    for (const action of result.actions) this.actions.push({ cycle, ...action });
    this.trace.cycle(result.actions, machines);
    this.stats.push(stats);
    return stats;
  }

  /** Before the first cycle every seeded machine is used as it would have been by then. */
  #fill(): void {
    const machines = this.provider.list();
    for (const cluster of this.clusters) {
      cluster.bind(machines);
      if (this.plan.stampSeededGangAttribution !== true) continue;
      for (const [id, serving] of cluster.gangMachines()) this.provider.stamp(id, serving);
    }
  }

  #applyEvents(cycle: number): number {
    for (const event of this.plan.scales ?? []) {
      if (event.cycle === cycle) this.#scale(event);
    }
    let lost = 0;
    for (const event of this.plan.faults ?? []) {
      if (event.cycle === cycle) lost += this.#lose(event);
    }
    return lost;
  }

  #scale(event: ScaleEvent): void {
    const scaled = this.clusters
      .filter(({ id }) => event.cluster === undefined || event.cluster === id)
      .map((cluster) => cluster.scale(event.shape, event.replicas));
    assert(
      scaled.some((count) => count > 0),
      'a scale event that reaches no workload',
      { shape: event.shape },
    );
  }

  #lose({ cluster, count }: FaultEvent): number {
    const victims = this.provider
      .list()
      .filter((machine) => machine.state === State.Configured && machine.cluster === cluster)
      .slice(0, count);
    for (const { id } of victims) this.provider.failMachine(id);
    return victims.length;
  }

  #rollUp(cycle: number): void {
    const count = this.clusters.length;
    this.clusters.forEach((cluster, at) => {
      const rows = cluster.rollup();
      const age = BigInt((at + cycle) % count);
      this.#shard.demand.applyRollup(cluster.id, rows, this.#shard.nowUnixNanos + age);
      const text = rows
        .map((row) => `${needKey(row)} ${resourcesKey(row.aggregate)}`)
        .sort()
        .join('\n');
      if (!this.#hasLog || this.#rollups.get(cluster.id) === text) return;
      this.#rollups.set(cluster.id, text);
      this.trace.rollup(cluster.id, rows.length);
    });
  }

  #observe(
    { cycle, actions, input, output, shortfallCount }: StepResult,
    machines: readonly Machine[],
    { evicted, lost }: { readonly evicted: number; readonly lost: number },
  ): CycleStats {
    const pods = this.clusters.map((cluster) => cluster.counts());
    const boundPods = pods.reduce((sum, { bound }) => sum + bound, 0);
    const pendingPods = pods.reduce((sum, { pending }) => sum + pending, 0);
    const counts = countActions(actions);
    return {
      cycle,
      ...counts,
      churn: churnOf(counts),
      configured: machines.filter(({ state }) => state === State.Configured).length,
      boundPods,
      pendingPods,
      livePods: boundPods + pendingPods,
      evicted,
      lost,
      shortfalls: shortfallCount,
      reclaimMatchesShortfall: reclaimsOfWanted(actions, input.machines, output),
      domainChanges: this.#domainChanges(output),
    };
  }

  /** Gangs whose chosen domain differs from the one they last had. */
  #domainChanges({ verdicts }: CycleOutput): number {
    const chosen = new Map<string, string>();
    for (const { need, sameDomain } of verdicts) {
      if (sameDomain !== undefined) chosen.set(needKey(need), sameDomain);
    }
    const changed = [...chosen].filter(([key, domain]) => {
      const before = this.#domains.get(key);
      return before !== undefined && before !== domain;
    });
    this.#domains = chosen;
    return changed.length;
  }
}

/** Reclaims of a machine that a need left unsatisfied in this very cycle could match. */
function reclaimsOfWanted(
  actions: readonly Action[],
  machines: readonly Machine[],
  { verdicts }: CycleOutput,
): number {
  const unmet = verdicts.filter(({ satisfied }) => !satisfied);
  if (unmet.length === 0) return 0;
  const byId = new Map(machines.map((machine) => [machine.id, machine]));
  return actions.filter(({ kind, machineId }) => {
    const machine = byId.get(machineId);
    if (kind !== ActionKind.Reclaim || machine === undefined) return false;
    return unmet.some(({ need }) => satisfiesAll(machine, need.profile.requirements));
  }).length;
}
