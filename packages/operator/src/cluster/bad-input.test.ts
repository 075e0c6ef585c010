// Proves on the test API server that a CapacityRequest or a definition that is wrong costs other requests
// nothing: theirs are in the roll-up, the bad one is not, stays Pending and says why in an Event.

import assert from 'node:assert/strict';
import test from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { REQUESTS_PATH } from '@bigfleet/kube/testing';
import { type ClusterWorld, OURS, started } from './testing/cluster-world.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function changeSchema(world: ClusterWorld, plural: string, ops: readonly object[]): void {
  const path = `${CRDS}/${plural}.bigfleet.lucy.sh`;
  world.ask('PATCH', path, ops, 'application/json-patch+json');
}

const SCHEMA = '/spec/versions/0/schema/openAPIV3Schema';

/** A definition that checks nothing, as an early one could be. */
function loosen(world: ClusterWorld, plural: string): void {
  const value = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  changeSchema(world, plural, [{ op: 'replace', path: SCHEMA, value }]);
}

/** What the session does with each roll-up, and what is seen in the cluster afterwards. */
async function rolledUp(world: ClusterWorld): Promise<{
  readonly needs: readonly string[];
  readonly events: readonly string[];
}> {
  const rollup = world.cluster.demand()?.rollup();
  for (const refused of rollup?.refused ?? []) world.cluster.requestRefused(refused);
  await world.time.runFor(5_000);
  return {
    needs: (rollup?.needs ?? []).map(({ aggregateResources }) =>
      JSON.stringify(Object.fromEntries(aggregateResources)),
    ),
    events: world
      .events()
      .map(({ involvedObject, reason, message }) => `${involvedObject.name} ${reason}: ${message}`),
  };
}

const STORABLE: readonly [name: string, spec: object, event: RegExp][] = [
  [
    'gt',
    { requirements: [{ key: 'gpus', operator: 'Gt', values: ['4'] }] },
    /UnsupportedOperator: unsupported_operator: requirements\["gpus"\] operator "Gt" is not supported/,
  ],
  [
    'lt',
    { requirements: [{ key: 'gpus', operator: 'Lt', values: ['4'] }] },
    /UnsupportedOperator: .*operator "Lt"/,
  ],
  [
    'garbage',
    { requirements: [{ key: 'zone', operator: 'Ιn', values: ['a'] }] },
    /UnsupportedOperator: .*operator "Ιn"/,
  ],
  ['negative', { resources: { cpu: '-1' } }, /BadQuantity: .*"-1" is negative/],
  ['digits', { resources: { cpu: '9'.repeat(1_000_000) } }, /BadQuantity: .*9… is no quantity/],
  [
    'fraction-of-exponent',
    { resources: { cpu: '1e1.5' } },
    /BadQuantity: .*"1e1.5" is no quantity/,
  ],
];

test('bad requests are refused alone, each with its code in an Event', async () => {
  const world = await started();
  world.request('good', { resources: { cpu: '2' } });
  for (const [name, spec] of STORABLE) world.request(name, spec);
  await world.time.runFor(3_000);
  const { needs, events } = await rolledUp(world);
  assert.deepEqual(needs, ['{"cpu":"2"}']);
  for (const [name, , pattern] of STORABLE) {
    const event = events.find((one) => one.startsWith(`${name} `));
    assert.match(event ?? '', pattern);
    assert.ok((event?.length ?? 0) < 400);
    assert.equal(world.get(`${REQUESTS_PATH}/${name}`).status?.['phase'], 'Pending');
  }
  assert.deepEqual(
    world.cluster
      .demand()
      ?.rollup()
      .unacknowledged.map(({ name }) => name),
    ['good'],
  );
  world.stop();
});

test('absurd quantities that are quantities are demand, and exact', async () => {
  const world = await started();
  for (const [name, cpu] of [
    ['a', '1e30'],
    ['b', '1e-30'],
    ['c', 'Ei'],
  ] as const) {
    if (cpu !== 'Ei') world.request(name, { resources: { cpu }, priority: name.charCodeAt(0) });
    else assert.throws(() => world.request(name, { resources: { cpu } }), /422/);
  }
  await world.time.runFor(3_000);
  const { needs, events } = await rolledUp(world);
  assert.deepEqual(needs.toSorted(), [`{"cpu":"1${'0'.repeat(30)}"}`, '{"cpu":"1m"}']);
  assert.deepEqual(events, []);
  world.stop();
});

test('what a definition of before let through is refused alone, whatever it is', async () => {
  const world = await started();
  loosen(world, 'capacityrequests');
  world.request('good', { resources: { cpu: '2' } });
  const odd: readonly unknown[] = [
    undefined,
    'text',
    [],
    { priority: 'high', resources: {} },
    { priority: 1, resources: null },
    { priority: 1, resources: { cpu: { cores: 4 } } },
    { priority: 1, resources: {}, requirements: 'zone=a' },
    { priority: 1, resources: {}, requirements: [null] },
    { priority: 1, resources: {}, topologySpread: [{ maxSkew: 'x' }] },
    { priority: 1, resources: {}, coLocation: { topologyKey: 'a', labelSelector: [] } },
    { priority: 1, resources: {}, interruptionPenalty: ['much'] },
  ];
  for (const [at, spec] of odd.entries()) {
    world.ask('POST', REQUESTS_PATH, {
      apiVersion: 'bigfleet.lucy.sh/v1alpha1',
      kind: 'CapacityRequest',
      metadata: { name: `odd-${at}` },
      spec,
    });
  }
  await world.time.runFor(3_000);
  const { needs, events } = await rolledUp(world);
  assert.deepEqual(needs, ['{"cpu":"2"}']);
  assert.equal(events.length, odd.length, events.join('\n'));
  world.merge(`${REQUESTS_PATH}/odd-0`, { spec: { priority: 5, resources: { cpu: '3' } } });
  await world.time.runFor(3_000);
  assert.deepEqual((await rolledUp(world)).needs, ['{"cpu":"5"}']);
  world.stop();
});

test('fields and phases of a newer definition are left as they are', async () => {
  const world = await started();
  changeSchema(world, 'capacityrequests', [
    {
      op: 'add',
      path: `${SCHEMA}/properties/spec/properties/tier`,
      value: { type: 'string' },
    },
    { op: 'add', path: `${SCHEMA}/properties/status/properties/phase/enum/-`, value: 'Released' },
  ]);
  world.request('new', { tier: 'gold' });
  world.merge(`${REQUESTS_PATH}/new/status`, { status: { phase: 'Released' } });
  await world.time.runFor(60_000);
  const rollup = world.cluster.demand()?.rollup();
  assert.equal(rollup?.needs.length, 1);
  assert.deepEqual(rollup?.unacknowledged, []);
  const stored = world.get(`${REQUESTS_PATH}/new`);
  assert.deepEqual([stored.spec['tier'], stored.status?.['phase']], ['gold', 'Released']);
  world.stop();
});

test('an UpcomingNode and a hint without the fields of today do not stop their successors', async () => {
  const world = await started();
  loosen(world, 'upcomingnodes');
  loosen(world, 'availablecapacities');
  const apiVersion = 'bigfleet.lucy.sh/v1alpha1';
  world.ask('POST', `${OURS}/upcomingnodes`, {
    apiVersion,
    kind: 'UpcomingNode',
    metadata: { name: 'un-m1' },
  });
  world.ask('POST', `${OURS}/availablecapacities`, {
    apiVersion,
    kind: 'AvailableCapacity',
    metadata: { name: 'ac-0123456789abcdef0123456789abcdef' },
    spec: { cost: 3 },
  });
  await world.time.runFor(3_000);
  assert.equal(await world.frame('m1', MachineState.CONFIGURING), 'Registered');
  assert.equal(await world.frame('m2', MachineState.CONFIGURED), 'Ready');
  assert.equal(world.get(`${OURS}/upcomingnodes/un-m1`).status?.['phase'], 'Registered');
  assert.ok(!world.failures.some((failure) => failure.endsWith('malformed')));
  assert.deepEqual(world.chores, []);
  world.stop();
});

test('a server that is busy, broken or silent leaves the last full set in use, and is named', async () => {
  for (const [fault, code] of [
    [{ kind: 'refuse', code: 429, retryAfterSeconds: 5 }, 'kube_refused'],
    [{ kind: 'refuse', code: 429 }, 'kube_refused'],
    [{ kind: 'refuse', code: 500 }, 'kube_refused'],
    [{ kind: 'reset' }, 'kube_unreachable'],
    [{ kind: 'hang' }, 'deadline_exceeded'],
  ] as const) {
    const world = await started();
    for (let i = 0; i < 20; i++) world.request(`r${i}`);
    await world.time.runFor(3_000);
    const restore = world.server.faults.add({ pathPrefix: OURS }, fault);
    world.server.faults.breakWatches();
    world.server.compact();
    await world.time.runFor(300_000);
    assert.equal(world.cluster.demand()?.requestCount, 20);
    assert.ok(world.failures.includes(`capacityrequests ${code}`), world.failures.join());
    world.ask('DELETE', `${REQUESTS_PATH}/r1`);
    restore();
    await world.time.runFor(120_000);
    assert.equal(world.cluster.demand()?.requestCount, 19);
    world.stop();
  }
});
