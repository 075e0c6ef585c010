// Proves what a provider that answers RESOURCE_EXHAUSTED, or hangs, does to a whole shard: nothing
// fails, it is asked less and less, its actions follow when it recovers, and others keep their speed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { TokenSource } from '@bigfleet/wire';
import { LONGEST_PAUSE_MS } from '../execute/provider-pace.ts';
import { failureOf, ProviderError } from '../provider/provider-error.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import { FakeProvider, InProcessProvider } from '../testing/index.ts';
import { fourCores, openRails, type Stage, stage } from './testing/stage.ts';

const CONCURRENCY = 16;
const MACHINES = 100;
const MINUTE_MS = 60_000;
/** Beyond the deadline of an action, within the patience of the stage's stop. */
const HANGING_MS = 50_000;

const overloaded = new ProviderError({
  failure: failureOf('RESOURCE_EXHAUSTED'),
  status: 'RESOURCE_EXHAUSTED',
  message: 'slow down',
});

/** Idle hosts alpha-0, alpha-1, … of `alpha`, whose calls take 100 ms. */
function alphaStage(): Stage {
  const shard = stage({ executeConcurrency: CONCURRENCY });
  for (let at = 0; at < MACHINES; at++) shard.fake.addIdle(fourCores(`alpha-${at}`));
  shard.world.wireMs = 100;
  return shard;
}

function addBeta({ providers, virtual }: Stage): FakeProvider {
  const { runtime } = virtual;
  const fake = new FakeProvider({ runtime, label: 'beta', latencyMs: 500 });
  for (let at = 0; at < MACHINES; at++) fake.addIdle(fourCores(`beta-${at}`));
  const tokens = new TokenSource('shard-0', 1n);
  const provider = new InProcessProvider({ runtime, fake, tokens });
  providers.add(new ProviderSource({ name: 'beta', provider }));
  return fake;
}

function countOf(shard: Stage, prefix: string, state: number): number {
  return Array.from({ length: MACHINES }, (_, at) => shard.stateOf(`${prefix}-${at}`)).filter(
    (each) => each === state,
  ).length;
}

function outcomesOf(shard: Stage): string[] {
  return [...new Set(shard.executed.map(({ outcome }) => outcome))];
}

test('refused for a minute, then not: few calls, no failure, and everything follows', async () => {
  const shard = alphaStage();
  shard.world.refusal = overloaded;
  shard.core.start();
  await shard.demand('blue', 4 * MACHINES);
  await shard.virtual.runFor(MINUTE_MS);
  assert.equal(shard.core.load.windowOf('alpha'), 1);
  // 16, 8, 4, 2, and one for each pause.
  const refusedCount = shard.calls.length;
  assert.ok(refusedCount > 4 && refusedCount <= 2 * CONCURRENCY + 10, `${refusedCount} calls`);
  assert.deepEqual(outcomesOf(shard), [], 'no action has ended');
  assert.equal(countOf(shard, 'alpha', State.Failed), 0);
  assert.equal(countOf(shard, 'alpha', State.Idle), MACHINES, 'whole, as before');
  assert.ok(shard.core.fleet.pendingCount <= 3, 'the rest is free for other decisions');
  shard.world.refusal = undefined;
  await shard.virtual.runFor(LONGEST_PAUSE_MS + 20_000);
  assert.equal(countOf(shard, 'alpha', State.Configured), MACHINES);
  assert.deepEqual(outcomesOf(shard), ['success']);
  assert.equal(shard.throttled.length, refusedCount);
  await shard.stop();
});

for (const [what, hurt] of [
  ['throttles', (shard: Stage) => void (shard.world.refusal = overloaded)],
  ['hangs', (shard: Stage) => void (shard.world.wireMs = HANGING_MS)],
] as const) {
  test(`one of two providers ${what}: the other is as fast as without it`, async () => {
    const betaAfter = async (isHurt: boolean, ms: number): Promise<number> => {
      const shard = alphaStage();
      const beta = addBeta(shard);
      if (isHurt) hurt(shard);
      shard.core.start();
      await shard.demand('blue', 8 * MACHINES);
      await shard.virtual.runFor(ms);
      const count = beta.configuredCount;
      beta.close();
      await shard.stop();
      return count;
    };
    for (const ms of [1_000, 2_000, 3_000, 10_000]) {
      assert.equal(await betaAfter(true, ms), await betaAfter(false, ms), `after ${ms} ms`);
    }
    assert.equal(await betaAfter(true, 10_000), MACHINES);
  });
}

test('paused while it throttles: nothing more leaves, and nothing is held', async () => {
  const shard = alphaStage();
  shard.world.refusal = overloaded;
  shard.core.start();
  await shard.demand('blue', 4 * MACHINES);
  await shard.virtual.runFor(5_000);
  shard.world.rails = { ...openRails, isPaused: true };
  shard.core.railsChanged();
  await shard.virtual.runFor(1_000);
  const before = shard.calls.length;
  shard.world.refusal = undefined;
  await shard.virtual.runFor(MINUTE_MS);
  assert.equal(shard.calls.length, before);
  assert.equal(shard.core.fleet.pendingCount, 0);
  shard.world.rails = openRails;
  shard.core.railsChanged();
  await shard.virtual.runFor(MINUTE_MS);
  assert.equal(countOf(shard, 'alpha', State.Configured), MACHINES);
  await shard.stop();
});

test('a pool that is worked off asks for the next cycle: it does not wait for the tick', async () => {
  const shard = alphaStage();
  shard.core.start();
  await shard.demand('blue', 4 * MACHINES);
  await shard.virtual.runFor(5_000);
  assert.equal(shard.fake.configuredCount, MACHINES);
  await shard.stop();
});

test('actions that end without effect ask for no cycle', async () => {
  const shard = alphaStage();
  shard.world.blob = { kind: 'no_session' };
  shard.core.start();
  await shard.demand('blue', 4 * MACHINES);
  await shard.virtual.runFor(1_000);
  const before = shard.cycles.length;
  await shard.virtual.runFor(30_000);
  assert.equal(shard.cycles.length - before, 3, 'the ticks');
  await shard.stop();
});
