// Proves what a trial may be told and how a wrong word is answered, and that the gang is one: Pods that the
// pod controller ties to one rack, one to a machine that is sold in racks of its size.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { INSTANCE_TYPE_KEY, parseResources } from '@bigfleet/engine';
import type { Pod } from '@bigfleet/kube';
import { deriveSpec } from '@bigfleet/pod-controller';
import { parseYaml } from '@bigfleet/process';
import { RACK_KEY } from '../places.ts';
import { profiles } from '../profiles.ts';
import { allocatableOf, bucketsOf, RACK_TYPE } from '../provider/shapes.ts';
import { TRIALS } from '../view/try.ts';
import { parseTrialOptions, trialUsage } from './options.ts';

test('options come from flags, then from variables of make, and are held to their bounds', () => {
  const given = parseTrialOptions('zone', ['--for=45s'], { ZONE: 'zone-b', FOR: '10s', N: '7' });
  assert.deepEqual(given.ok && given.value, {
    demo: undefined,
    count: undefined,
    zone: 'zone-b',
    shard: undefined,
    factor: undefined,
    forMs: 45_000,
  });
  const refused: readonly (readonly [(typeof TRIALS)[number], readonly string[], RegExp])[] = [
    ['scale', ['--n=41'], /^N=41: Pods, from 0 to 40$/],
    ['scale', ['--n=two'], /^N=two: Pods/],
    ['scale', ['--zone=zone-a'], /zone/],
    ['zone', ['--zone=zone-x'], /^ZONE=zone-x: one of zone-a, zone-b, zone-c$/],
    ['zone', ['--for=ever'], /^FOR=ever: say 30s/],
    ['spot', ['--factor=0'], /^FACTOR=0: from 0.1 to 100$/],
  ];
  for (const [trial, args, pattern] of refused) {
    const parsed = parseTrialOptions(trial, args, {});
    assert.match(parsed.ok ? '' : parsed.problem, pattern, args.join());
  }
});

test('every trial says how it is used', () => {
  for (const trial of TRIALS) assert.match(trialUsage(trial), /^usage: make try-\w+ \[/);
  assert.equal(trialUsage('gang'), 'usage: make try-gang [N=4] [DEMO=dir]');
  assert.equal(trialUsage('shard'), 'usage: make try-shard [SHARD=shard-0|shard-1] [DEMO=dir]');
});

interface GangFile {
  readonly spec: {
    readonly replicas: number;
    readonly template: { readonly metadata: Partial<Pod['metadata']>; readonly spec: Pod['spec'] };
  };
}

test('the gang is tied to one rack, which holds it, one Pod to a machine', () => {
  const parsed = parseYaml(readFileSync(new URL('../../try/gang.yaml', import.meta.url), 'utf8'));
  assert.ok(parsed.ok);
  const { replicas, template } = (parsed.value as GangFile).spec;
  const pod = {
    metadata: { name: 'g', uid: 'g', resourceVersion: '1', ...template.metadata },
    spec: { ...template.spec, priority: 1_000_000 },
  } satisfies Pod;
  const { spec, warnings } = deriveSpec(pod, new Map());
  assert.deepEqual(warnings, []);
  assert.equal(spec.coLocation?.topologyKey, RACK_KEY);
  assert.equal(template.spec.nodeSelector?.[INSTANCE_TYPE_KEY], RACK_TYPE);
  const metal = bucketsOf('sim-metal', profiles.small.slotsPerBucket);
  const ofType = metal.filter(({ instanceType }) => instanceType === RACK_TYPE);
  assert.ok(ofType.every(({ count }) => count >= replicas && count % replicas === 0));
  const [container] = template.spec.containers;
  const requests = new Map(Object.entries(container?.resources?.requests ?? {})) as Map<
    string,
    string
  >;
  const wanted = parseResources(requests, 'demand');
  const room = parseResources(allocatableOf(RACK_TYPE) ?? new Map(), 'allocatable');
  assert.ok(wanted.ok && room.ok);
  for (const [name, value] of wanted.value) {
    assert.equal(Math.floor((room.value.get(name) ?? 0) / value), 1, name);
  }
});
