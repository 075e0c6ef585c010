// The fleets of the shard benches, built by the engine's own bench generators and carried out until
// nothing is left to do: every process builds the same one from its name, so a provider has bound
// exactly what the operators of the same shape demand.

import type { Need } from '@bigfleet/engine';
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

const SHAPES: Readonly<Record<string, (fleet: Fleet) => void>> = {
  'steady-500k': (fleet) => {
    addIdleMachines(fleet, 500_000);
    addDemand(fleet, 1);
  },
  'sessions-500k': (fleet) => {
    addIdleMachines(fleet, 500_000);
    for (const [at, cluster] of clusterNames(SESSIONS).entries()) {
      fleet.demand(cluster, demandOf(cluster, at < WIDE_CLUSTERS ? WIDE_NEEDS : NARROW_NEEDS));
    }
  },
  'local-5k': (fleet) => seedGangMix(LOCAL_5K)(fleet, createRandom(1n))(),
  'idle-5k': (fleet) => addIdleMachines(fleet, 5_000),
  'idle-500k': (fleet) => addIdleMachines(fleet, 500_000),
};

export function buildShape(name: string): Fleet {
  const seed = SHAPES[name];
  if (seed === undefined) throw new Error(`no shape is named ${name}`);
  const fleet = new Fleet({ hasRecords: false });
  seed(fleet);
  converge(fleet);
  return fleet;
}

/** The demand of one cluster, in the order of its roll-up. */
export function needsOf({ engine }: Fleet, cluster: string): readonly Need[] {
  const index = engine.inventory.clusters.find(cluster);
  return engine.needs.rowsOf(index).map(({ need }) => need);
}
