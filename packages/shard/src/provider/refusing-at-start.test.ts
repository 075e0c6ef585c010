// Proves that a shard that comes back while one of its providers refuses connections does not buy a
// second time what that provider already runs, and that a provider that stays dead holds the others up
// for a minute only.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardMetadataKeys } from '@bigfleet/engine';
import { TokenSource } from '@bigfleet/wire';
import { fourCores, stage, type Stage } from '../core/testing/stage.ts';
import { FakeProvider, InProcessProvider } from '../testing/index.ts';
import type { Provider } from './provider.ts';
import { failureOf, ProviderError } from './provider-error.ts';
import { ProviderSource } from './provider-source.ts';

/** Beside a provider with an idle host, one that runs what the cluster asks for and refuses. */
function restarted(): { shard: Stage; beta: FakeProvider; answer: () => void } {
  const shard = stage();
  const { runtime } = shard.virtual;
  shard.fake.addIdle(fourCores('spare'));
  const beta = new FakeProvider({ runtime, label: 'beta' });
  beta.addConfigured(fourCores('serving'), 'blue', new Map([[shardMetadataKeys.priority, '1000']]));
  const tokens = new TokenSource('shard-0', 1n);
  const inner = new InProcessProvider({ runtime, fake: beta, tokens });
  let isRefusing = true;
  const provider: Provider = {
    create: (...given) => inner.create(...given),
    configure: (...given) => inner.configure(...given),
    drain: (...given) => inner.drain(...given),
    delete: (...given) => inner.delete(...given),
    get: (...given) => inner.get(...given),
    list: (...given) => (isRefusing ? Promise.reject(refused()) : inner.list(...given)),
  };
  shard.providers.add(new ProviderSource({ name: 'beta', provider }));
  shard.core.start();
  return { shard, beta, answer: () => (isRefusing = false) };
}

function refused(): ProviderError {
  const status = 'UNAVAILABLE';
  return new ProviderError({ failure: failureOf(status), status, message: 'connection refused' });
}

test('what a provider runs that is back within the minute is not bought again', async () => {
  const { shard, beta, answer } = restarted();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(40_000);
  assert.equal(shard.fake.configuredCount, 0);
  answer();
  await shard.virtual.runFor(30_000);
  assert.deepEqual([shard.fake.configuredCount, beta.configuredCount], [0, 1]);
  await shard.stop();
});

test('a provider that stays away is decided without, after a minute', async () => {
  const { shard } = restarted();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(59_000);
  assert.equal(shard.fake.configuredCount, 0);
  await shard.virtual.runFor(6_000);
  assert.equal(shard.fake.configuredCount, 1);
  assert.equal(shard.core.readiness.isReady, true, 'a minute after the first success');
  await shard.stop();
});
