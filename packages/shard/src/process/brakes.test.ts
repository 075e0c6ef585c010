// Proves what an administrator sees and does about machines that never join, on a whole shard: the
// gauges, the log lines, and clearing by cluster, by profile, by provider and by type, with the next
// try at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fourCores } from '../core/testing/stage.ts';
import { demandOf, ShardStage } from './testing/shard-stage.ts';

const MINUTE_MS = 60_000;
const HOLDS = 'msg="configures fail: held off"';
const FREES = 'msg="configures no longer held off"';

/** Everybody wants a machine, and no node ever joins. */
async function failingFleet(clusters: readonly string[]): Promise<ShardStage> {
  const settings = { hasConfigureBrake: true, hasLocalBootstrap: true };
  const stage = new ShardStage({ settings });
  for (let at = 0; at < 40; at++) stage.fake.addIdle(fourCores(`m${at}`));
  stage.fake.failJoins(() => 'the node never joined');
  await stage.start();
  for (const cluster of clusters) {
    const operator = await stage.connect(cluster);
    operator.send({ case: 'rollup', value: demandOf(cluster, 4) });
  }
  await stage.time.runFor(45_000);
  return stage;
}

async function held(stage: ShardStage): Promise<[need: number, type: number]> {
  return [
    await stage.metric('brakes', 'subject="need"'),
    await stage.metric('brakes', 'subject="type"'),
  ];
}

async function clear(
  stage: ShardStage,
  request: Parameters<ReturnType<ShardStage['admin']>['clearBrakes']>[0],
): Promise<number> {
  const answer = stage.admin().clearBrakes({ reason: 'mended', ...request });
  const [settled] = await Promise.allSettled([answer, stage.settle()]);
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value.cleared;
}

test('held off: gauges, one line per pause, and one when a machine joined', async () => {
  const stage = await failingFleet(['blue']);
  assert.deepEqual(await held(stage), [1, 0]);
  const [line, ...more] = stage.logged(HOLDS);
  assert.match(
    line ?? '',
    /level=WARN .*cluster=blue fingerprint=\S+ failures=3 pause_seconds=60 last_error="the node never joined"/,
  );
  assert.deepEqual(more, []);
  await stage.time.runFor(MINUTE_MS);
  assert.equal(stage.logged(HOLDS).length, 2, 'the probe failed');
  assert.match(stage.logged(HOLDS)[1] ?? '', /failures=4 pause_seconds=120/);
  stage.fake.failJoins(() => undefined);
  await stage.time.runFor(2 * MINUTE_MS + 10_000);
  assert.match(stage.logged(FREES)[0] ?? '', /level=INFO .*cluster=blue .*failures=4 by=joined/);
  assert.equal(stage.logged(FREES).length, 1);
  assert.deepEqual(await held(stage), [0, 0]);
  await stage.stop();
});

test('clearing needs by cluster: the next cycle tries again, at once', async () => {
  const stage = await failingFleet(['blue', 'green']);
  assert.deepEqual(await held(stage), [2, 1], 'two clusters: the type is held off too');
  stage.fake.failJoins(() => undefined);
  assert.equal(await clear(stage, { clusterId: 'red' }), 0);
  assert.equal(await clear(stage, { clusterId: 'blue', profileFingerprint: 'another' }), 0);
  assert.deepEqual(await held(stage), [2, 1]);
  assert.equal(await clear(stage, { clusterId: 'blue' }), 1);
  assert.match(stage.logged(FREES)[0] ?? '', /cluster=blue .*by=administrator/);
  assert.ok(stage.audited.includes('/bigfleet.ext.v1alpha1.ShardAdmin/ClearBrakes ok'));
  await stage.time.runFor(1_000);
  assert.equal(stage.fake.configuredCount, 1, 'long before the next cycle by itself');
  await stage.time.runFor(20_000);
  assert.equal(stage.shard.parts.core.fleet.configuredCount('blue'), 1);
  assert.equal(stage.fake.configuredCount, 1, 'green is still held off');
  await stage.stop();
});

test('clearing by profile, by provider, by type, and all', async () => {
  const stage = await failingFleet(['blue', 'green']);
  const [need] = stage.shard.parts.brake?.needs() ?? [];
  const profileFingerprint = need?.subject.fingerprint ?? '';
  assert.equal(await clear(stage, { provider: 'beta' }), 0);
  assert.equal(await clear(stage, { provider: 'alpha', instanceType: 'large' }), 0);
  assert.equal(await clear(stage, { provider: 'alpha', instanceType: 'small' }), 1);
  assert.match(
    stage.logged(FREES)[0] ?? '',
    /provider=alpha instance_type=small .*by=administrator/,
  );
  assert.deepEqual(await held(stage), [2, 0]);
  assert.equal(await clear(stage, { profileFingerprint }), 2, 'in every cluster');
  await stage.time.runFor(40_000);
  assert.deepEqual(await held(stage), [2, 1], 'learnt again');
  assert.equal(await clear(stage, { instanceType: 'small' }), 1, 'of any provider');
  assert.equal(await clear(stage, { all: true }), 2);
  await stage.stop();
});

test('without the rail nothing is held off, and the gauges are there', async () => {
  const stage = await new ShardStage({ settings: { hasConfigureBrake: false } }).start();
  await stage.time.runFor(500);
  assert.deepEqual(await held(stage), [0, 0]);
  await assert.rejects(() => clear(stage, { all: true }), /configure_brake_off/);
  await stage.stop();
});
