// A decision record as a shard writes it: the real engine buys so many machines for one need.

import { assert } from '@bigfleet/base';
import { Engine } from '@bigfleet/engine';
import { buildRollup, profileOf, realisticDev, seedMachines, shapeOf } from '@bigfleet/sim';

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
