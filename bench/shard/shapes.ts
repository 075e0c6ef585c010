// The fleets of the shard benches, built by the engine's own bench generators and carried out until
// nothing is left to do: every process builds the same one from its name, so a provider has bound
// exactly what the operators of the same shape demand.

import { type Need, State } from '@bigfleet/engine';
import { addDemand, addIdleMachines, demandOf } from '../engine/cycle-fleet.ts';
import { converge } from '../engine/execute.ts';
import { clusterNames, Fleet } from '../engine/fleet.ts';
import { seedGangMix } from '../engine/gang-mix-fleet.ts';
import { createRandom } from '@bigfleet/base';
import { LOCAL_5K } from '../engine/local-5k.ts';

/** One machine per need, about 2 KB per roll-up. */
export const NARROW_NEEDS = 18;
export const WIDE_NEEDS = 2_000;
export const WIDE_CLUSTERS = 20;
export const SESSIONS = 5_000;
export const SCALE_UP_MACHINES = 1_000;
export const SCALE_UP_CLUSTERS = 10;

interface ShapeSeed {
  /** Apart from the demand, where that needs none: operators know of no machines. */
  readonly machines: (fleet: Fleet) => void;
  readonly demand: (fleet: Fleet) => void;
  /** The provider has the machines as they are: nothing of the demand was served yet. */
  readonly isUnserved?: boolean;
}

const SHAPES: Readonly<Record<string, ShapeSeed>> = {
  'steady-500k': {
    machines: (fleet) => addIdleMachines(fleet, 500_000),
    demand: (fleet) => addDemand(fleet, 1),
  },
  'sessions-500k': {
    machines: (fleet) => addIdleMachines(fleet, 500_000),
    demand: (fleet) => {
      for (const [at, cluster] of clusterNames(SESSIONS).entries()) {
        fleet.demand(cluster, demandOf(cluster, at < WIDE_CLUSTERS ? WIDE_NEEDS : NARROW_NEEDS));
      }
    },
  },
  'local-5k': {
    machines: () => {},
    demand: (fleet) => seedGangMix(LOCAL_5K)(fleet, createRandom(1n))(),
  },
  'scale-up-1k': {
    machines: (fleet) => addIdleMachines(fleet, SCALE_UP_MACHINES, State.Speculative),
    demand: (fleet) => {
      for (const cluster of clusterNames(SCALE_UP_CLUSTERS)) {
        fleet.demand(cluster, demandOf(cluster, SCALE_UP_MACHINES / SCALE_UP_CLUSTERS));
      }
    },
    isUnserved: true,
  },
  'idle-5k': { machines: (fleet) => addIdleMachines(fleet, 5_000), demand: () => {} },
  'idle-500k': { machines: (fleet) => addIdleMachines(fleet, 500_000), demand: () => {} },
};

export function buildShape(name: string): Fleet {
  const fleet = new Fleet({ hasRecords: false });
  const { machines, demand, isUnserved = false } = seedOf(name);
  machines(fleet);
  if (isUnserved) return fleet;
  demand(fleet);
  converge(fleet);
  return fleet;
}

/** What operators need of a shape: seconds less, and gigabytes. */
export function buildDemand(name: string): Fleet {
  const fleet = new Fleet({ hasRecords: false });
  seedOf(name).demand(fleet);
  return fleet;
}

function seedOf(name: string): ShapeSeed {
  const seed = SHAPES[name];
  if (seed === undefined) throw new Error(`no shape is named ${name}`);
  return seed;
}

/** The demand of one cluster, in the order of its roll-up. */
export function needsOf({ engine }: Fleet, cluster: string): readonly Need[] {
  const index = engine.inventory.clusters.find(cluster);
  return engine.needs.rowsOf(index).map(({ need }) => need);
}
