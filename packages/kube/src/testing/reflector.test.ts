// The production Reflector and KubeClient against the test API server, under virtual time: what a real
// network and a real server do to them, without either.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CAPACITY_REQUESTS, PODS } from '../api/resource.ts';
import { Reflector } from '../reflector/reflector.ts';
import { schemaWatch } from '../reflector/schema-watch.ts';
import { asNumber, textAt } from './api-server/json.ts';
import { checkEqual, follow, set, stage } from './followed-pods.ts';
import {
  capacityRequest,
  createDefinitions,
  pod,
  PODS_PATH,
  REQUESTS_PATH,
} from './test-cluster.ts';

test('pages are listed, then events followed, for hours on bookmarks alone', async () => {
  const world = stage();
  for (let i = 0; i < 1201; i++) set(world, `p${i}`, '1');
  const followed = follow(world);
  await world.time.runFor(1000);
  assert.equal(followed.reflector.isSynced, true);
  checkEqual(world, followed);
  set(world, 'p7', '2');
  world.ask('DELETE', `${PODS_PATH}/p8`);
  await world.time.runFor(1000);
  checkEqual(world, followed);
  world.server.compact();
  await world.time.runFor(5 * 3_600_000);
  set(world, 'p9', '3');
  await world.time.runFor(1000);
  checkEqual(world, followed);
  assert.deepEqual(followed.relists, ['initial']);
  assert.deepEqual(followed.failures, []);
  world.stop();
});

test('a compaction while the connection was down ends in one relist with the right differences', async () => {
  const world = stage();
  set(world, 'a', '1');
  set(world, 'b', '1');
  const followed = follow(world);
  await world.time.runFor(1000);
  const restore = world.server.faults.add({}, { kind: 'reset' });
  world.server.faults.breakWatches();
  set(world, 'a', '2');
  world.ask('DELETE', `${PODS_PATH}/b`);
  set(world, 'c', '1');
  world.server.compact();
  await world.time.runFor(60_000);
  restore();
  await world.time.runFor(60_000);
  checkEqual(world, followed);
  assert.deepEqual(followed.relists, ['initial', 'expired']);
  assert.equal(followed.differences[1], 3);
  world.stop();
});

test('a broken watch resumes from its version without a list', async () => {
  const world = stage();
  const followed = follow(world);
  await world.time.runFor(1000);
  for (let i = 0; i < 20; i++) {
    set(world, `p${i % 3}`, String(i));
    world.server.faults.breakWatches();
    await world.time.runFor(40_000);
  }
  checkEqual(world, followed);
  assert.deepEqual(followed.relists, ['initial']);
  world.stop();
});

test('a watch that falls silent is taken up again after its watchdog and loses nothing', async () => {
  const world = stage();
  const followed = follow(world);
  await world.time.runFor(1000);
  assert.equal(world.server.faults.setSilent({}, true), 1);
  set(world, 'a', '1');
  await world.time.runFor(60_000);
  assert.equal(followed.reflector.size, 0);
  await world.time.runFor(100_000);
  checkEqual(world, followed);
  // Silence is no failure: a quiet collection may get no bookmark, and a warning each time would be noise.
  assert.deepEqual(followed.failures, []);
  world.stop();
});

test('a black hole that accepts and never answers is left for another attempt', async () => {
  const world = stage();
  const restore = world.server.faults.add({ pathPrefix: '/api/v1/pods' }, { kind: 'hang' });
  const followed = follow(world);
  set(world, 'a', '1');
  await world.time.runFor(120_000);
  assert.equal(followed.reflector.isSynced, false);
  restore();
  await world.time.runFor(120_000);
  checkEqual(world, followed);
  world.stop();
});

test('refusals are waited out: 429 with its Retry-After, 500, 503, and 403 until rights are there', async () => {
  for (const code of [429, 500, 503, 403] as const) {
    const world = stage();
    const restore = world.server.faults.add(
      {},
      { kind: 'refuse', code, retryAfterSeconds: code === 429 ? 7 : undefined },
    );
    const followed = follow(world);
    set(world, 'a', '1');
    await world.time.runFor(60_000);
    assert.equal(followed.reflector.isSynced, false, String(code));
    assert.equal(followed.failures[0]?.needsOwner, code === 403);
    assert.equal(followed.failures[0]?.retryAfterSeconds, code === 429 ? 7 : undefined);
    restore();
    await world.time.runFor(60_000);
    checkEqual(world, followed);
    world.stop();
  }
});

test('a token that the server no longer takes is read anew', async () => {
  let token = 'old';
  const users = new Map([['old', { name: 'x', groups: [] }]]);
  const world = stage({ tokens: users }, { token: () => token });
  const followed = follow(world);
  await world.time.runFor(1000);
  users.delete('old');
  users.set('new', { name: 'x', groups: [] });
  token = 'new';
  set(world, 'a', '1');
  const answer = world.client.get(PODS, { namespace: 'default', name: 'a' }, world.signal);
  await world.time.runFor(1000);
  assert.equal((await answer).kind, 'ok');
  assert.equal(world.transport.refreshCount, 1);
  world.server.faults.breakWatches();
  await world.time.runFor(60_000);
  set(world, 'b', '1');
  await world.time.runFor(60_000);
  checkEqual(world, followed);
  world.stop();
});

test('a create whose answer was lost is answered AlreadyExists when it is repeated', async () => {
  const world = stage();
  createDefinitions(world);
  world.server.faults.add({ methods: ['POST'], times: 1 }, { kind: 'reset-after' });
  const body = { ...capacityRequest('a'), metadata: { name: 'a', namespace: 'default' } };
  const answer = world.client.create(CAPACITY_REQUESTS, body, {
    lane: 'demand',
    signal: world.signal,
  });
  await world.time.runFor(1000);
  const got = await answer;
  assert.deepEqual(got.kind === 'refused' ? [got.status, got.reason] : got.kind, [
    409,
    'AlreadyExists',
  ]);
  assert.equal(world.ask('GET', `${REQUESTS_PATH}/a`).status, 200);
  world.stop();
});

test('over its cap the server answers 429 with Retry-After, and the lane waits', async () => {
  const world = stage();
  world.server.faults.setCap({ qps: 10, burst: 5 });
  const answers = Array.from({ length: 8 }, (_, i) =>
    world.client.create(
      PODS,
      { ...pod(`p${i}`), metadata: { name: `p${i}`, namespace: 'default' } },
      { lane: 'demand', signal: world.signal },
    ),
  );
  await world.time.runFor(5000);
  const kinds = (await Promise.all(answers)).map((one) => (one.kind === 'ok' ? 201 : one.status));
  assert.equal(kinds.filter((one) => one === 201).length, 5);
  assert.equal(kinds.filter((one) => one === 429).length, 3);
  world.stop();
});

test('a list that fails between two pages leaves the old full set, and the next one swaps', async () => {
  const world = stage();
  for (let i = 0; i < 700; i++) set(world, `p${i}`, '1');
  const followed = follow(world);
  await world.time.runFor(1000);
  const laterPages = { pathPrefix: '/api/v1/pods?limit=500&continue' };
  const restore = world.server.faults.add(laterPages, { kind: 'refuse', code: 500 });
  followed.reflector.relist('periodic');
  await world.time.runFor(60_000);
  assert.equal(followed.reflector.size, 700);
  assert.ok(followed.failures.length > 0);
  world.ask('DELETE', `${PODS_PATH}/p3`);
  set(world, 'p4', '2');
  restore();
  await world.time.runFor(60_000);
  assert.deepEqual([followed.relists, followed.differences[1]], [['initial', 'periodic'], 2]);
  checkEqual(world, followed);
  world.stop();
});

test('pages whose version is compacted in between are listed anew', async () => {
  const world = stage();
  for (let i = 0; i < 1200; i++) set(world, `p${i}`, '1');
  world.server.faults.add(
    { pathPrefix: '/api/v1/pods?limit=500&continue' },
    { kind: 'latency', ms: 1000 },
  );
  const followed = follow(world);
  await world.time.runFor(500);
  set(world, 'p1', '2');
  world.server.compact();
  await world.time.runFor(60_000);
  checkEqual(world, followed);
  assert.match(followed.failures[0]?.problem ?? '', /HTTP 410 Expired/);
  world.stop();
});

test('a changed definition is told at once and again, because a server takes it into use later', async () => {
  const world = stage();
  createDefinitions(world);
  const told: number[] = [];
  const watch = schemaWatch({
    runtime: world.time.runtime,
    client: world.client,
    resource: CAPACITY_REQUESTS,
    changed: () => told.push(Math.round(world.time.nowMs / 1000)),
    failed: ({ problem }) => assert.fail(problem),
  });
  watch.run(world.signal).catch((error: unknown) => assert.fail(String(error)));
  const path =
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';
  const describe = (value: string): void => {
    const at = '/spec/versions/0/schema/openAPIV3Schema/description';
    const patch = [{ op: 'add', path: at, value }];
    assert.equal(world.ask('PATCH', path, patch, 'application/json-patch+json').status, 200);
  };
  await world.time.runUntil(10_000);
  assert.deepEqual(told, []);
  describe('one');
  await world.time.runUntil(20_000);
  describe('two');
  await world.time.runUntil(300_000);
  assert.deepEqual(told, [10, 15, 20, 25, 50, 110]);
  world.stop();
});

test('a newly defaulted field reaches the cache by the relist for a schema', async () => {
  const world = stage();
  createDefinitions(world);
  world.ask('POST', REQUESTS_PATH, capacityRequest('a'));
  const reflector = new Reflector<string>({
    runtime: world.time.runtime,
    client: world.client,
    resource: CAPACITY_REQUESTS,
    read: (object) => textAt(object, 'spec', 'tier'),
    observer: {},
  });
  reflector.run(world.signal).catch((error: unknown) => assert.fail(String(error)));
  await world.time.runFor(1000);
  assert.equal(reflector.get('default/a'), '');
  const path =
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/capacityrequests.bigfleet.lucy.sh';
  const add = {
    op: 'add',
    path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/tier',
    value: { type: 'string', default: 'standard' },
  };
  assert.equal(world.ask('PATCH', path, [add], 'application/json-patch+json').status, 200);
  await world.time.runFor(60_000);
  assert.equal(reflector.get('default/a'), '');
  reflector.relist('schema');
  await world.time.runFor(1000);
  assert.equal(reflector.get('default/a'), 'standard');
  world.stop();
});

test('whatever the faults, the cache equals a fresh list once they stop', async () => {
  for (let seed = 0; seed < 15; seed++) {
    const world = stage({}, {}, String(seed));
    const followed = follow(world);
    const random = world.time.runtime.random.stream('faulty');
    for (let step = 0; step < 40; step++) {
      const name = `p${random.below(12)}`;
      if (random.below(4) === 0) world.ask('DELETE', `${PODS_PATH}/${name}`);
      else set(world, name, String(step));
      switch (random.below(8)) {
        case 0:
          world.server.compact();
          break;
        case 1:
          world.server.faults.breakWatches();
          break;
        case 2:
          world.server.faults.setSilent({}, true);
          break;
        case 3:
          world.server.faults.endWatches();
          break;
        case 4:
          world.server.faults.add({ share: 0.5 }, { kind: 'refuse', code: 503 });
          break;
        case 5:
          world.server.faults.add({ share: 0.3 }, { kind: 'reset' });
          break;
        default:
          world.server.faults.clear();
      }
      await world.time.runFor(random.below(60_000));
    }
    world.server.faults.clear();
    await world.time.runFor(300_000);
    checkEqual(world, followed);
    assert.ok((asNumber(followed.relists.length) ?? 0) >= 1, `seed ${seed}`);
    world.stop();
  }
});

test('a run that is aborted ends without an error, whatever the reason of the abort', async () => {
  const world = stage();
  const ender = new AbortController();
  const reflector = new Reflector<string>({
    runtime: world.time.runtime,
    client: world.client,
    resource: PODS,
    read: () => '',
    observer: {},
  });
  const ended = reflector.run(ender.signal);
  await world.time.runFor(1000);
  ender.abort();
  await ended;
});

test('a run that is aborted while it lists leaves no timer of the next list behind', async () => {
  const world = stage();
  const ender = new AbortController();
  const reflector = new Reflector<string>({
    runtime: world.time.runtime,
    client: world.client,
    resource: PODS,
    read: () => '',
    observer: { heard: () => ender.abort() },
  });
  const before = world.time.pendingTimers;
  const ended = reflector.run(ender.signal);
  await world.time.runFor(1000);
  await ended;
  assert.equal(world.time.pendingTimers, before);
});
