// A fleet under measurement: one engine, its clusters, and counters that walk what was built.
// Machines go in through the engine's own choke-point and a refusal stops the bench: earlier
// benches built records that violate the machine invariant and timed an empty inventory.

import { assert, type Random } from '@bigfleet/base';
import {
  ActionKind,
  type Assignment,
  CapacityType,
  type CapacityTypeCode,
  Engine,
  type EngineOptions,
  type Machine,
  type Need,
  noAssignment,
  type Resources,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { keep, type Shape } from '../harness/index.ts';

const PROVIDER = 'bench';

/** Racks are the domain of gangs in every catalogue. */
export const RACK_KEY = 'topology.bigfleet/rack';

export interface MachinePlan {
  readonly state: StateCode;
  readonly instanceType: string;
  readonly zone: string;
  /** Default: no label at all. */
  readonly rack?: string;
  readonly allocatable: Resources;
  /** Bound machines only. */
  readonly cluster?: string;
  readonly assigned?: Assignment;
  /** Default: bare metal at price 0 without interruptions. */
  readonly capacityType?: CapacityTypeCode;
  readonly pricePerHour?: number;
  readonly interruptionProbability?: number;
}

/** Adds the machines of a shape; what it returns adds the demand. */
export type SeedFleet = (fleet: Fleet, random: Random) => () => void;

export class Fleet {
  readonly engine: Engine;
  /** In the order in which they were named. */
  readonly clusters: string[] = [];
  nowMs = 1_767_225_600_000;
  #machineCount = 0;
  readonly #rackLabels = new Map<string, ReadonlyMap<string, string>>();

  constructor(options: EngineOptions) {
    this.engine = new Engine(options);
  }

  add(plan: MachinePlan): void {
    const ordinal = String(this.#machineCount++).padStart(8, '0');
    const hasHost = plan.state !== State.Speculative && plan.state !== State.Creating;
    const machine: Machine = {
      id: flat(`machine-${ordinal}`),
      state: plan.state,
      provider: PROVIDER,
      host: hasHost ? { provider: PROVIDER, ref: flat(`host-${ordinal}`) } : undefined,
      cluster: plan.cluster ?? '',
      instanceType: plan.instanceType,
      zone: plan.zone,
      capacityType: plan.capacityType ?? CapacityType.BareMetal,
      labels: this.#labels(plan.rack),
      allocatable: plan.allocatable,
      pricePerHour: plan.pricePerHour ?? 0,
      interruptionProbability: plan.interruptionProbability ?? 0,
      lastError: '',
      assigned: plan.assigned ?? noAssignment,
      intendedCluster: '',
      withheld: undefined,
    };
    const put = this.engine.inventory.put(machine, this.nowMs);
    assert(put.ok, 'the inventory refused a machine of the shape', { id: machine.id });
  }

  /** The first roll-up of a cluster. */
  demand(cluster: string, needs: readonly Need[]): void {
    this.clusters.push(cluster);
    this.engine.applyRollup(cluster, needs);
  }

  /** One cycle and its finished record: a record that is only encoded when read would be free. */
  cycle(): void {
    this.engine.cycle({ nowMs: this.nowMs });
    keep(this.engine.record);
  }

  /** Decides everything anew, whatever changed. */
  fullPass(): void {
    this.engine.cycle({ nowMs: this.nowMs, isFullPass: true });
    keep(this.engine.record);
  }

  /** Ages of unmet demand, which would park gangs after eight passes and change the work. */
  forgetAges(): void {
    this.engine.parking.restore(noAges, () => -1);
    this.engine.shortfalls.restore(noShortfalls);
  }

  #labels(rack: string | undefined): ReadonlyMap<string, string> {
    if (rack === undefined) return noLabels;
    let labels = this.#rackLabels.get(rack);
    if (labels === undefined) {
      labels = new Map([[RACK_KEY, rack]]);
      this.#rackLabels.set(rack, labels);
    }
    return labels;
  }
}

const noLabels: ReadonlyMap<string, string> = new Map();
const noAges: ReadonlyMap<string, number> = new Map();
const noShortfalls = new Map();

/** As a decoder makes it: V8 keeps concatenated text as a tree, which is slow to read. */
export function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

export function clusterNames(count: number): string[] {
  return Array.from({ length: count }, (_, at) => flat(`cluster-${String(at).padStart(5, '0')}`));
}

const STATE_NAMES: readonly [string, StateCode][] = [
  ['idle', State.Idle],
  ['speculative', State.Speculative],
  ['configured', State.Configured],
  ['configuring', State.Configuring],
  ['draining', State.Draining],
];

/** What exists: machines by state, rows, clusters with demand. Counted, slot by slot. */
export function countFleet({ engine }: Fleet): Shape {
  const { inventory, needs } = engine;
  const byState = new Map<number, number>();
  for (let slot = 0; slot < inventory.slotCount; slot++) {
    const state = inventory.columns.state[slot]!;
    byState.set(state, (byState.get(state) ?? 0) + 1);
  }
  let rows = 0;
  let gangs = 0;
  let clusters = 0;
  for (const cluster of needs.clusters()) {
    clusters += 1;
    for (const { need } of needs.rowsOf(cluster)) {
      rows += 1;
      if (need.profile.same !== undefined) gangs += 1;
    }
  }
  const states = STATE_NAMES.map(([name, state]) => [name, byState.get(state) ?? 0] as const);
  return {
    machines: inventory.slotCount - (byState.get(State.Unspecified) ?? 0),
    ...Object.fromEntries(states.filter(([, count]) => count > 0)),
    clusters,
    needs: rows,
    gangs,
  };
}

const KIND_NAMES: readonly [string, number][] = [
  ['bootstraps', ActionKind.Bootstrap],
  ['provisions', ActionKind.Provision],
  ['reclaims', ActionKind.Reclaim],
  ['preempts', ActionKind.Preempt],
  ['deletes', ActionKind.Delete],
];

/** What the last cycle decided: actions by kind, and the normalised needs that it left open. */
export function countDecisions({ engine }: Fleet): Shape {
  const { actions } = engine;
  const byKind = new Map<number, number>();
  for (let at = 0; at < actions.length; at++) {
    const kind = actions.kind[at]!;
    byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
  }
  const kinds = KIND_NAMES.map(([name, kind]) => [name, byKind.get(kind) ?? 0] as const);
  return {
    actions: actions.length,
    ...Object.fromEntries(kinds.filter(([, count]) => count > 0)),
    unsatisfied: engine.normalisedRows().filter((row) => !row.result.isSatisfied).length,
  };
}
