// Proves what a shard says about its provider set: every change is one line with its names, and the
// entries of the registry that local flags leave out or contradict are counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { TokenSource } from '@bigfleet/wire';
import { ProviderSet } from '../provider/provider-set.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import { FakeFile } from '../rails/testing/fake-file.ts';
import { metricValue } from '../session/testing/metric-reader.ts';
import { FakeProvider, InProcessProvider } from '../testing/index.ts';
import type { RegistryTarget } from './assignment.ts';
import { type DirectoryEntry, ProviderDirectory } from './provider-directory.ts';
import { type ConnectProvider, RegistryFollower } from './registry-follower.ts';

function target(name: string, address = `${name}:1`): RegistryTarget {
  return { name, address, region: '', isShared: false };
}

function stageOf(flags: readonly RegistryTarget[] | undefined): {
  follower: RegistryFollower;
  lines: readonly string[];
  difference: () => Promise<number>;
} {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const sink = captureSink();
  const registry = createRegistry();
  const fake = new FakeProvider({ runtime });
  const provider = new InProcessProvider({ runtime, fake, tokens: new TokenSource('s', 1n) });
  const connect: ConnectProvider = ({ name }) => ({
    source: new ProviderSource({ name, provider }),
    close: () => {},
  });
  const entryOf = ({ address, region, isShared }: RegistryTarget): DirectoryEntry => ({
    address,
    region,
    isShared,
    source: 'flag',
    isRetiring: false,
  });
  const follower = new RegistryFollower({
    providers: new ProviderSet(),
    directory: new ProviderDirectory((flags ?? []).map((flag) => [flag.name, entryOf(flag)])),
    file: new FakeFile(),
    connect: flags === undefined ? connect : undefined,
    connected: [],
    isSharedByFlag: false,
    logger: createLogger({ clock: runtime.clock, sink }),
    registry,
    machineCountOf: () => 0,
  });
  const name = 'bigfleet_shard_provider_registry_difference';
  return { follower, lines: sink.lines, difference: () => metricValue(registry, name) };
}

test('provider set changed: added, retiring and removed, once each', async () => {
  const { follower, lines } = stageOf(undefined);
  const change = async (targets: readonly RegistryTarget[]): Promise<readonly string[]> => {
    const before = lines.length;
    assert.ok(await follower.store(targets, true));
    follower.install(targets, true);
    return lines.slice(before);
  };
  const [added] = await change([target('alpha'), target('beta')]);
  const text = 'level=INFO msg="provider set changed"';
  assert.ok(
    added?.includes(`${text} added=alpha,beta removed="" retiring="" source=registry`),
    added,
  );
  assert.deepEqual(await change([target('alpha'), target('beta')]), [], 'nothing changed');
  const [retiring] = await change([target('alpha')]);
  assert.ok(
    retiring?.includes(`${text} added="" removed="" retiring=beta source=registry`),
    retiring,
  );
  await follower.tend();
  assert.ok(lines.at(-1)?.includes(`${text} added="" removed=beta retiring="" `), lines.at(-1));
});

test('flags win, and the entries that they leave out or contradict are counted', async () => {
  const { follower, lines, difference } = stageOf([target('alpha'), target('beta')]);
  assert.equal(await difference(), 0);
  const compare = async (targets: readonly RegistryTarget[]): Promise<number> => {
    follower.install(targets, true);
    return difference();
  };
  assert.equal(await compare([target('alpha')]), 0, 'a flag more is no difference');
  assert.equal(await compare([target('alpha', 'other:1'), target('gamma')]), 2);
  assert.ok(lines.at(-1)?.includes('level=WARN msg="provider registry differs from flags" names='));
  assert.equal(await compare([target('alpha')]), 0);
});
