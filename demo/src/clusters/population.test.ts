// Proves that the demo's clusters ask for services, batch and gangs that the simulated provider can
// carry (but for the one that nobody can), that their Pods fill machines without a rest, that demand never
// drifts, and that one seed is one story.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { INSTANCE_TYPE_KEY, parseResources, type Resources } from '@bigfleet/engine';
import type { Pod } from '@bigfleet/kube';
import { DemandIndex, type RollupNeed } from '@bigfleet/operator';
import { deriveSpec } from '@bigfleet/pod-controller';
import { RACK_KEY as CATALOGUE_RACK_KEY } from '@bigfleet/sim';
import { CLUSTER_PLACES, type ClusterName, PROVIDERS, RACK_KEY, ZONES } from '../places.ts';
import { type Profile, PROFILE_NAMES, profiles, shardOfCluster, shardsOf } from '../profiles.ts';
import { allocatableOf, bucketsOf } from '../provider/shapes.ts';
import { deploymentOf, PRIORITY_CLASS_VALUES } from './deployment.ts';
import { type ClusterPlan, kindOf, planOf } from './plans.ts';
import { Population, type StoryStep } from './population.ts';
import type { WorkloadObject } from './workload-object.ts';
import { YOURS, yours } from './yours.ts';

const SEEDS = 20;
const STEPS = 200;

const small = profiles.small;
const clusterPlans: readonly ClusterPlan[] = small.clusters.map(planOf);

function populations(seed: string, { clusters }: Profile = small): readonly Population[] {
  const random = createRandom(seed);
  return clusters.map((name) => new Population(planOf(name), random.stream(name)));
}

/** The needs that come of the objects' Pods, through the pod controller's and the operator's own rules. */
function needsOf(objects: readonly WorkloadObject[]): readonly RollupNeed[] {
  const index = new DemandIndex();
  for (const object of objects) {
    const { template } = deploymentOf(object, object.replicas).spec;
    const pod = {
      metadata: { name: object.name, uid: object.name, resourceVersion: '1', ...template.metadata },
      spec: { ...template.spec, priority: object.priority },
    } satisfies Pod;
    const { spec, warnings } = deriveSpec(pod, new Map());
    assert.deepEqual(warnings, []);
    for (let ordinal = 0; ordinal < object.replicas; ordinal++) {
      const uid = `${object.name}-${ordinal}`;
      const refusal = index.set({
        namespace: 'default',
        name: uid,
        uid,
        resourceVersion: '1',
        spec,
        isForeign: false,
        isAcknowledged: false,
      });
      assert.equal(refusal, undefined);
    }
  }
  return index.rollup().needs;
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
});

test('in every profile each zone has one shard, and each cluster a shard that is there', () => {
  for (const name of PROFILE_NAMES) {
    const profile = profiles[name];
    const zones = shardsOf(profile).flatMap((shard) => profile.zonesOfShard[shard] ?? []);
    assert.deepEqual(zones, ZONES, name);
    for (const cluster of profile.clusters) {
      assert.ok(shardsOf(profile).includes(shardOfCluster(profile, cluster)), cluster);
    }
  }
});

for (const name of PROFILE_NAMES) {
  test(`${name}: every type on sale has more room than all needs that could use it`, () => {
    const profile = profiles[name];
    for (let seed = 0; seed < SEEDS; seed++) {
      const clusters = populations(String(seed), profile);
      for (let step = 0; step < STEPS; step++) {
        for (const cluster of clusters) cluster.next();
        if (step % 20 !== 0) continue;
        for (const [at, { objects }] of clusters.entries()) {
          const room = roomOf(profile, profile.clusters[at] ?? 'web-eu');
          for (const need of needsOf(objects)) assertRoomFor(need, seed, room);
        }
      }
    }
  });
}

test('Pods of one kind fill the machines of their types, which no other kind uses', () => {
  const owners = new Map<string, string>();
  const archetypes = clusterPlans.flatMap(({ workloads }) =>
    workloads.map(({ archetype }) => archetype),
  );
  for (const { name, instanceTypes, resources = {} } of archetypes) {
    for (const type of instanceTypes) {
      const room = allocatableOf(type);
      if (room === undefined) continue;
      // Whole machines: the two sizes of training differ in nothing else.
      const owner = name.startsWith('gpu-training') ? 'gpu-training' : name;
      assert.equal(owners.get(type) ?? owner, owner, `${type} is for one kind`);
      owners.set(type, owner);
      const unit = quanta(new Map(Object.entries(resources)));
      const counts = [...unit].map(([key, value]) => (quanta(room).get(key) ?? 0) / value);
      const fewest = Math.min(...counts);
      assert.ok(Number.isInteger(fewest) && fewest >= 1, `${name} on ${type}: ${counts.join()}`);
    }
  }
  const template = (yours['spec'] as { template: { spec: Pod['spec'] } }).template.spec;
  const own = template.nodeSelector?.[INSTANCE_TYPE_KEY] ?? '';
  assert.ok(allocatableOf(own) !== undefined && !owners.has(own), `${YOURS} runs on ${own}`);
});

test('every priority of a workload has its class', () => {
  const priorities = clusterPlans.flatMap(({ workloads }) =>
    workloads.flatMap(({ archetype }) => archetype.priorityClasses),
  );
  for (const priority of priorities) assert.ok(PRIORITY_CLASS_VALUES.includes(priority));
});

test('objects are replaced, never added: demand does not drift', () => {
  const cluster = populations('7')[1];
  assert.ok(cluster !== undefined);
  const there = new Map<string, number>();
  const tell = ({ changes }: StoryStep): void => {
    for (const { kind, object, replicas } of changes) {
      if (kind === 'end') assert.ok(there.delete(object.name));
      else assert.equal(there.has(object.name), kind === 'scale');
      if (kind !== 'end') there.set(object.name, replicas);
    }
  };
  tell(cluster.first());
  const names = [...there.keys()];
  let atMs = 0;
  for (let step = 0; step < STEPS; step++) {
    const next = cluster.next();
    assert.ok(next.atMs > atMs);
    ({ atMs } = next);
    tell(next);
  }
  assert.equal(there.size, names.length);
  assert.notDeepEqual([...there.keys()], names);
  assert.deepEqual(there, new Map(cluster.objects.map(({ name, replicas }) => [name, replicas])));
});

test('one seed is one story, told by no clock', () => {
  const story = (seed: string): unknown =>
    populations(seed).map((cluster) =>
      [cluster.first(), ...Array.from({ length: 50 }, () => cluster.next())].map(
        ({ atMs, changes }) => [
          atMs,
          changes.map(({ kind, object, replicas }) => [kind, deploymentOf(object, replicas)]),
        ],
      ),
    );
  assert.deepEqual(story('7'), story('7'));
  assert.notDeepEqual(story('7'), story('8'));
});

/** Slots of a type that a cluster can have, when others of its taste and shard have as many. */
type Room = (instanceType: string) => number;

/** Metal comes from afar; what is reserved may be taken already. */
function roomOf(profile: Profile, cluster: ClusterName): Room {
  const shard = shardOfCluster(profile, cluster);
  const { taste } = CLUSTER_PLACES[cluster];
  const rivals = profile.clusters.filter(
    (other) => CLUSTER_PLACES[other].taste === taste && shardOfCluster(profile, other) === shard,
  );
  const buckets = PROVIDERS.flatMap((provider) => bucketsOf(provider, profile.slotsPerBucket));
  const near = buckets.filter(
    ({ zone, capacityType }) =>
      capacityType === 'BareMetal' ||
      (capacityType !== 'Reserved' && profile.zonesOfShard[shard]?.includes(zone) === true),
  );
  return (instanceType) =>
    near
      .filter((bucket) => bucket.instanceType === instanceType)
      .reduce((sum, { count }) => sum + count, 0) / rivals.length;
}

/** Half of the slots of its types that hold one pod must carry it whole. */
function assertRoomFor(
  { profile, aggregateResources, minUnit }: RollupNeed,
  seed: number,
  slotsOfType: Room,
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
