// Proves that the demo's clusters ask for services, batch and gangs that the simulated provider can
// carry (but for the one that nobody can), that demand never drifts, and that one seed is one story.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { INSTANCE_TYPE_KEY, parseResources, type Resources } from '@bigfleet/engine';
import type { RollupNeed } from '@bigfleet/operator';
import { RACK_KEY as CATALOGUE_RACK_KEY } from '@bigfleet/sim';
import { RACK_KEY, type ShardName, SHARDS, ZONES, ZONES_OF_SHARD } from '../places.ts';
import { allocatableOf, mix, slotCount } from '../provider/shapes.ts';
import { clusterPlans, kindOf } from './plans.ts';
import { Population } from './population.ts';

const SEEDS = 20;
const STEPS = 200;

function populations(seed: string): readonly Population[] {
  const random = createRandom(seed);
  return clusterPlans.map((plan) => new Population(plan, random.stream(plan.id), 0));
}

test('the three clusters together run every kind of workload', () => {
  const kinds = clusterPlans.flatMap(({ workloads }) =>
    workloads.map(({ archetype }) => kindOf(archetype)),
  );
  assert.deepEqual([...new Set(kinds)].sort(), ['batch', 'gang', 'service']);
});

test('places are spelt as the catalogue spells them', () => {
  assert.equal(RACK_KEY, CATALOGUE_RACK_KEY);
  for (const { workloads } of clusterPlans) {
    for (const { archetype } of workloads) assert.deepEqual(archetype.zones, ZONES);
  }
  assert.deepEqual(
    SHARDS.flatMap((shard) => ZONES_OF_SHARD[shard]),
    ZONES,
  );
});

test('at any time every type on sale has more room than all needs that could use it', () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const clusters = populations(String(seed));
    for (let step = 0; step < STEPS; step++) {
      for (const cluster of clusters) cluster.step(step * 1_000);
      if (step % 20 !== 0) continue;
      for (const [at, { index }] of clusters.entries()) {
        const shard = clusterPlans[at]?.shard ?? 'shard-0';
        for (const need of index.rollup().needs) assertRoomFor(need, seed, shard);
      }
    }
  }
});

test('objects are replaced, never added: demand does not drift', () => {
  const cluster = populations('7')[1];
  assert.ok(cluster !== undefined);
  const objectCount = cluster.objects.length;
  const names = cluster.objects.map(({ name }) => name);
  for (let step = 0; step < STEPS; step++) cluster.step(step * 1_000);
  assert.equal(cluster.objects.length, objectCount);
  assert.notDeepEqual(
    cluster.objects.map(({ name }) => name),
    names,
  );
  assert.equal(cluster.index.requestCount, cluster.podCount);
  const wanted = cluster.objects.reduce((sum, { replicas }) => sum + replicas, 0);
  assert.equal(cluster.podCount, wanted);
});

test('an acknowledged request stays, that of an ended pod is gone', () => {
  const cluster = populations('7')[0];
  assert.ok(cluster !== undefined);
  const [first] = cluster.index.rollup().unacknowledged;
  assert.ok(first !== undefined);
  const before = cluster.index.rollup().unacknowledged.length;
  assert.equal(cluster.acknowledge(first.uid), 'acknowledged');
  assert.equal(cluster.index.rollup().unacknowledged.length, before - 1);
  assert.equal(cluster.acknowledge('nobody'), 'gone');
});

test('one seed is one story', () => {
  const story = (seed: string): unknown =>
    populations(seed).map((cluster) => {
      for (let step = 0; step < 50; step++) cluster.step(step * 1_000);
      return cluster.index.rollup().needs.map(({ aggregateResources }) => [...aggregateResources]);
    });
  assert.deepEqual(story('7'), story('7'));
  assert.notDeepEqual(story('7'), story('8'));
});

/** Half of the slots of its types that hold one pod must carry it whole; metal comes from afar. */
function assertRoomFor(
  { profile, aggregateResources, minUnit }: RollupNeed,
  seed: number,
  shard: ShardName,
): void {
  const types = profile.requirements.find(({ key }) => key === INSTANCE_TYPE_KEY)?.values ?? [];
  const sold = types.flatMap((type) => {
    const allocatable = allocatableOf(type);
    return allocatable === undefined ? [] : [{ type, room: quanta(allocatable) }];
  });
  if (sold.length === 0) return assert.deepEqual(types, ['b300-highgpu-8g']);
  const unit = quanta(minUnit);
  const fitting = sold.filter(({ room }) => covers(room, unit));
  assert.ok(fitting.length > 0, `seed ${seed}: no type holds a pod of ${types.join()}`);
  const isNear = (zone: string): boolean => ZONES_OF_SHARD[shard].includes(zone);
  const slotsOfType = (type: string): number =>
    mix.filter(
      ({ instanceType, zone, capacityType }) =>
        instanceType === type && (capacityType === 'BareMetal' || isNear(zone)),
    ).length *
    (slotCount / mix.length);
  for (const [name, wanted] of quanta(aggregateResources)) {
    const room = fitting.reduce(
      (sum, { type, room: one }) => sum + (one.get(name) ?? 0) * slotsOfType(type),
      0,
    );
    assert.ok(wanted * 2 <= room, `seed ${seed}: ${name} of ${types.join()}: ${wanted} of ${room}`);
  }
}

function quanta(quantities: ReadonlyMap<string, string>): Resources {
  const parsed = parseResources(quantities, 'allocatable');
  assert.ok(parsed.ok);
  return parsed.value;
}

function covers(room: Resources, unit: Resources): boolean {
  return [...unit].every(([name, value]) => (room.get(name) ?? 0) >= value);
}
