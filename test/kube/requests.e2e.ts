// CapacityRequests as people meet them: through kubectl, with the schema that is installed, and held back by the
// shard when a cluster seems to lose its demand.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import type { Json } from './api.ts';
import { skipWithout } from './binaries.ts';
import { listAll, needsAtShard, REQUESTS, type Stored } from './demand.ts';
import { each, requestsPath } from './pods-and-requests.ts';
import { startWorld, type World } from './world/world.ts';

const skip = skipWithout('controlPlane', 'helm');
const OURS = 'bigfleet.lucy.sh/v1alpha1';
let world: World;

before(async () => {
  if (skip === false) world = await startWorld({ offers: [] });
});

after(async () => {
  await world?.[Symbol.asyncDispose]();
});

/** As another writer than the pod controller makes it. */
function request(name: string, spec: Json = {}, more: Json = {}): Json {
  return {
    apiVersion: OURS,
    kind: 'CapacityRequest',
    metadata: { name, ...more },
    spec: { priority: 100, resources: { cpu: '1' }, ...spec },
  };
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { code, output } = await world.plane.kubectl(args);
  assert.equal(code, 0, output);
  return output;
}

/** Names, sorted. */
async function pending(namespace: string): Promise<readonly string[]> {
  const selector = '--field-selector=status.phase=Pending';
  const printed = await kubectl('get', 'capacityrequests', '-n', namespace, selector, '-o', 'name');
  const lines = printed.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split('/')[1] ?? '').sort();
}

test('2. `kubectl --field-selector=status.phase=Pending` works, finds CRs of other writers and no foreign-node CR', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('pending');
  const path = requestsPath(namespace);
  await admin.must(admin.create(path, request('good')));
  const labels = { 'bigfleet.lucy.sh/foreign-node': 'true' };
  await admin.must(admin.create(path, request('foreign', {}, { labels })));
  // In no roll-up, so that it stays: the operator cannot read it.
  const requirements = [{ key: 'cores', operator: 'Gt', values: ['4'] }];
  await admin.must(admin.create(path, request('bad', { requirements })));
  await eventually(async () => (await pending(namespace)).join() === 'bad', {
    what: 'the bad request alone is Pending, stamped by the operator',
    details: () => world.tails(),
  });
  const warning = /Warning +UnsupportedOperator +capacityrequest\/bad/;
  await eventually(async () => warning.test(await kubectl('get', 'events', '-n', namespace)), {
    what: 'an event tells why',
  });
});

test('2. Printer columns and short names', { skip }, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('columns');
  await admin.must(admin.create(requestsPath(namespace), request('one')));
  await eventually(async () => /Acknowledged/.test(await kubectl('get', 'cr', '-n', namespace)), {
    what: 'the request is acknowledged',
  });
  for (const name of ['cr', 'crs', 'capacityrequest', 'capacityrequests']) {
    const [head = '', row = ''] = (await kubectl('get', name, '-n', namespace)).split('\n');
    assert.match(head, /^NAME +PHASE +PRIORITY +AGE$/);
    assert.match(row, /^one +Acknowledged +100 +\d+s$/);
  }
  for (const name of ['upn', 'upcomingnodes', 'availablecapacity', 'fleet']) {
    await kubectl('get', name, '-n', namespace);
  }
  assert.match(await kubectl('get', 'fleet', '-n', namespace), /capacityrequest\S*\/one/);
  assert.match(
    await kubectl('explain', 'capacityrequest.spec.interruptionPenalty'),
    /FIELD: interruptionPenalty/,
  );
});

test('2. An invalid phase is rejected, and status is not writable through the main resource', {
  skip,
}, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('phases');
  const path = requestsPath(namespace);
  const created = await admin.must(
    admin.create(path, { ...request('a'), status: { phase: 'Acknowledged' } }),
  );
  assert.equal((created['status'] as Json | undefined)?.['phase'], undefined);
  const wrong = await admin.merge(`${path}/a/status`, { status: { phase: 'Shortfall' } });
  assert.equal(wrong.status, 422);
  assert.match(wrong.text, /Unsupported value: \\"Shortfall\\"/);
  const { status, object } = await admin.merge(`${path}/a`, {
    metadata: { labels: { touched: 'yes' } },
    status: { acknowledgedAt: '2001-01-01T00:00:00Z' },
  });
  assert.equal(status, 200);
  assert.notEqual(
    (object['status'] as Json | undefined)?.['acknowledgedAt'],
    '2001-01-01T00:00:00Z',
  );
  const same = [{ key: 'rack', operator: 'Same' }];
  for (const [name, spec, problem] of [
    ['same', { requirements: same }, /Same/],
    ['no-key', { requirements: [{ key: '', operator: 'Exists' }] }, /key/],
    ['no-number', { resources: { cpu: 'lots' } }, /cpu/],
    ['too-high', { priority: 2 ** 31 }, /priority/],
  ] as const) {
    const refused = await admin.create(path, request(name, spec));
    assert.equal(refused.status, 422, `${name}: ${refused.text}`);
    assert.match(refused.text, problem);
  }
});

test('2. A CR of a held roll-up stays Pending', { skip }, async (t) => {
  world.explainFailures(t);
  const { admin } = world.plane;
  const namespace = await world.plane.namespace('held');
  const path = requestsPath(namespace);
  const names = Array.from({ length: 40 }, (_, at) => `n-${at}`);
  await each(names, (name) => {
    const requirements = [{ key: 'team', operator: 'In', values: [name] }];
    return admin.must(admin.create(path, request(name, { requirements })));
  });
  await eventually(
    async () => {
      const told = await needsAtShard(world.shardAddress, world.clusterId);
      return (told ?? []).length >= names.length && (await pending(namespace)).length === 0;
    },
    { what: 'the demand is taken in' },
  );
  // While the operator is away: its next roll-up has lost nearly everything at once.
  await world.operator.kill();
  const gone = (await listAll(admin, REQUESTS)).filter(({ metadata }) => metadata.name !== 'n-0');
  await each(gone, ({ metadata }: Stored) =>
    admin.must(admin.delete(`${requestsPath(metadata.namespace)}/${metadata.name}`)),
  );
  await admin.must(admin.create(path, request('late')));
  // Long enough to be looked at between two roll-ups.
  const slow = world.operator.args.map((each) =>
    each.startsWith('--rollup-interval=') ? '--rollup-interval=30s' : each,
  );
  await world.operator.start(slow);
  await world.shard.process.waitForLine(/msg="rollup quarantined: /);
  await eventually(async () => (await pending(namespace)).join() === 'late', {
    what: 'the request is stamped, and waits',
  });
  await eventually(async () => (await pending(namespace)).length === 0, {
    what: 'the shard believes it after three roll-ups, and the request is acknowledged',
  });
});
