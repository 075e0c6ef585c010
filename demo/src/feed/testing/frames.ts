// Frames of the live feed for tests, from the few fields that matter. Through the wire's own codec, so
// that they have the defaults that a real frame has. Records are what the real engine writes.

import { assert } from '@bigfleet/base';
import { Engine } from '@bigfleet/engine';
import { buildRollup, profileOf, realisticDev, seedMachines, shapeOf } from '@bigfleet/sim';
import {
  decode,
  encodeInit,
  type MachineState,
  type WatchFrame,
  WatchFrameSchema,
} from '@bigfleet/wire';

type FrameInit = NonNullable<Parameters<typeof encodeInit<typeof WatchFrameSchema>>[1]['frame']>;

export function frame(init: FrameInit): WatchFrame {
  return decode(WatchFrameSchema, encodeInit(WatchFrameSchema, { frame: init }), 'INTERNAL');
}

export interface NeedSketch {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly priority?: number;
  readonly types?: readonly string[];
  /** Operators and values about the type, instead of one of `types`. */
  readonly typeRules?: readonly (readonly [operator: number, values: readonly string[]])[];
  readonly satisfied?: boolean;
  readonly provisionCount?: number;
  readonly lacks?: Readonly<Record<string, string>>;
  readonly reasonCode?: string;
}

export interface MachineSketch {
  readonly id: string;
  readonly state: MachineState;
  readonly cluster?: string;
  readonly intended?: string;
  readonly fingerprint?: string;
}

function needInit(sketch: NeedSketch): object {
  const { cluster, fingerprint, priority = 100, types = [], satisfied = true } = sketch;
  const key = 'node.kubernetes.io/instance-type';
  const rules = sketch.typeRules ?? [[1, types] as const];
  const requirements = rules.map(([operator, values]) => ({ key, operator, values: [...values] }));
  return {
    clusterId: cluster,
    profileFingerprint: fingerprint,
    need: { priority, requirements },
    satisfied,
    provisionCount: sketch.provisionCount ?? 0,
    residualDeficit: { resources: { ...sketch.lacks } },
    reasonCode: sketch.reasonCode ?? '',
  };
}

function machineInit({ id, state, cluster, intended, fingerprint }: MachineSketch): object {
  return {
    machineId: id,
    state,
    clusterId: cluster ?? '',
    intendedClusterId: intended ?? '',
    needFingerprint: fingerprint ?? '',
  };
}

export function snapshot(
  machines: readonly MachineSketch[],
  needs: readonly NeedSketch[],
): readonly WatchFrame[] {
  const value = { machines: machines.map(machineInit), needs: needs.map(needInit) };
  return [
    frame({ case: 'hello', value: { shardId: 'shard-0', cycle: 1n } }),
    frame({ case: 'snapshot', value }),
    frame({ case: 'snapshotEnd', value: { machines: machines.length, needs: needs.length } }),
  ];
}

export interface DeltaSketch {
  readonly cycle: number;
  readonly machines?: readonly MachineSketch[];
  readonly removedMachines?: readonly string[];
  readonly needs?: readonly NeedSketch[];
  readonly removedNeeds?: readonly NeedSketch[];
  readonly dollarsPerHour?: number;
}

export function delta(sketch: DeltaSketch): WatchFrame {
  const { cycle, machines = [], removedMachines = [], needs = [], removedNeeds = [] } = sketch;
  return frame({
    case: 'delta',
    value: {
      cycle: BigInt(cycle),
      machinesChanged: machines.map(machineInit),
      machinesRemoved: [...removedMachines],
      needsChanged: needs.map(needInit),
      needsRemoved: removedNeeds.map(({ cluster, fingerprint }) => ({
        clusterId: cluster,
        profileFingerprint: fingerprint,
      })),
      dollarsPerHour: sketch.dollarsPerHour ?? 0,
    },
  });
}

/** A decision record: the engine buys so many machines for one need. */
export function recordOf(provisionCount: number): Uint8Array {
  const archetype = realisticDev.archetypes.find(({ name }) => name === 'cpu-batch');
  assert(archetype !== undefined, 'the catalogue has cpu-batch');
  const shape = shapeOf(archetype);
  const tier = { count: provisionCount, pricePerHour: 0.5 };
  const engine = new Engine();
  for (const [at, machine] of seedMachines(
    { shape, density: 1, speculative: [tier] },
    [],
  ).entries()) {
    const id = `machine-${String(at).padStart(3, '0')}`;
    assert(engine.inventory.put({ ...machine, id }, 0).ok, 'a seed machine is valid');
  }
  const request = { profile: profileOf(shape), group: '', resources: shape.perPod };
  const needs = buildRollup(
    'web-eu',
    Array.from({ length: provisionCount }, () => request),
  );
  engine.needs.replace(engine.inventory.clusterIndex('web-eu'), needs);
  engine.markReported('web-eu');
  engine.cycle({ nowMs: 1_000 });
  return engine.record.slice();
}
