// Proves the log lines that runbooks look for, each from a whole shard in which its cause happens:
// text, level and keys of observability §13, how often, and the lines of ours beside them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardMetadataKeys } from '@bigfleet/engine';
import { fourCores } from '../core/testing/stage.ts';
import { outOfPosition } from '../testing/fake/refusals.ts';
import { LIBRARY_SETTINGS } from './shard-options.ts';
import { demandOf, noDemand, ShardStage } from './testing/shard-stage.ts';

const MINUTE_MS = 60_000;

test('reclaim blast-radius cap engaged', async () => {
  const rails = { ...LIBRARY_SETTINGS.rails, reclaimCapFraction: 0.05 };
  const stage = new ShardStage({ settings: { rails } });
  for (const id of ['a', 'b', 'c']) stage.fake.addConfigured(fourCores(id), 'blue');
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: noDemand('blue') });
  await stage.time.runFor(500);
  const [line, ...more] = stage.logged('msg="reclaim blast-radius cap engaged"');
  assert.match(line ?? '', /level=WARN .*deferred_reclaims=2 cap_fraction=0\.05/);
  assert.deepEqual(more, [], 'once per cycle');
  await stage.stop();
});

test('dry-run: would execute action', async () => {
  const rails = { ...LIBRARY_SETTINGS.rails, dryRun: true };
  const stage = new ShardStage({ settings: { rails } });
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(500);
  const [line] = stage.logged('msg="dry-run: would execute action"');
  const keys = /level=INFO .*kind=Bootstrap machine=host cluster=blue reason=phase1\.idle grace=0/;
  assert.match(line ?? '', keys);
  assert.ok((await stage.metric('actions_dryrun_total', 'kind="Bootstrap"')) > 0);
  await stage.stop();
});

test('shard_metadata decode failed: the key is named, its value never', async () => {
  const stage = new ShardStage();
  const metadata = new Map([[shardMetadataKeys.priority, 'swordfish']]);
  stage.fake.addConfigured(fourCores('host'), 'blue', metadata);
  await stage.start();
  await stage.time.runFor(MINUTE_MS);
  const [line, ...more] = stage.logged('shard_metadata decode failed at ingest');
  assert.match(line ?? '', /level=WARN .*machine=host err=.*priority/);
  assert.deepEqual(more, [], 'once, not with every List');
  assert.deepEqual(stage.logged('swordfish'), []);
  await stage.stop();
});

test('action failed: a refused Create is named, also when nobody answers what became of it', async () => {
  const stage = new ShardStage();
  stage.fake.addSpeculative(fourCores('slot'));
  stage.fake.failNext('slot', 'create', outOfPosition('no quota left'));
  stage.isGetFailing = true;
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.time.runFor(500);
  const [line] = stage.logged('msg="action failed"');
  assert.match(line ?? '', /machine=slot .*err="create: no quota left; get: connection refused"/);
  await stage.stop();
});

test('a machine that is stuck in a transition is told once', async () => {
  const stage = new ShardStage({ latencyMs: 90 * MINUTE_MS });
  stage.fake.addIdle(fourCores('host'));
  await stage.start();
  const operator = await stage.connect('blue');
  operator.send({ case: 'rollup', value: demandOf('blue', 4) });
  await stage.serve(operator, MINUTE_MS);
  await stage.time.runFor(28 * MINUTE_MS);
  assert.deepEqual(stage.logged('stuck'), []);
  await stage.time.runFor(10 * MINUTE_MS);
  const [line, ...more] = stage.logged('msg="machine is stuck in a transition"');
  assert.match(line ?? '', /level=WARN .*machine=host state=Configuring age_s=18\d\d/);
  assert.deepEqual(more, []);
  await stage.stop();
});

test('rejected records: some lines per List with their state, and one with the count', async () => {
  const stage = new ShardStage();
  for (let at = 0; at < 12; at++) {
    stage.fake.addIdle({ ...fourCores(`bad${at}`), pricePerHour: -1 });
  }
  await stage.start();
  await stage.time.runFor(100);
  const lines = stage.logged('msg="provider machine rejected at ingest"');
  assert.equal(lines.length, 5);
  assert.match(lines[0] ?? '', /level=WARN .*machine=bad0 state=Idle err="price: .*provider=alpha/);
  const counted = stage.logged('msg="provider machines rejected at ingest"');
  assert.equal(counted.length, 1);
  assert.match(counted[0] ?? '', /level=WARN .*provider=alpha rejected=12 suppressed=7/);
  assert.equal(await stage.metric('machines_rejected_total', 'reason="price"'), 12);
  await stage.time.runFor(10_000);
  assert.equal(
    stage.logged('msg="provider machine rejected at ingest"').length,
    10,
    'the next List',
  );
  await stage.stop();
});

test('a provider that refuses from the start is named once when the shard decides without it', async () => {
  const stage = new ShardStage();
  stage.isListFailing = true;
  await stage.start();
  await stage.time.runFor(59_000);
  assert.deepEqual(stage.logged('deciding without a provider'), []);
  await stage.time.runFor(MINUTE_MS);
  const [line, ...more] = stage.logged('deciding without a provider that was never heard');
  assert.match(line ?? '', /level=WARN .*provider=alpha err=.*connection refused/);
  assert.deepEqual(more, []);
  await stage.stop();
});

test('a decision that a safety pass does not confirm is an error line and a count', async () => {
  let mismatchCount = 0;
  const stage = new ShardStage({
    host: (engine) => ({
      ...engine,
      cycle: async (options) => ({ ...(await engine.cycle(options)), mismatchCount }),
    }),
  });
  await stage.start();
  await stage.time.runFor(MINUTE_MS);
  assert.equal(await stage.metric('incremental_mismatch_total'), 0);
  mismatchCount = 2;
  await stage.time.runFor(MINUTE_MS);
  const [line, ...more] = stage.logged('incremental decision differs from the full pass');
  assert.match(line ?? '', /level=ERROR .*mismatches=2/);
  assert.deepEqual(more, []);
  assert.equal(await stage.metric('incremental_mismatch_total'), 2);
  await stage.stop();
});
