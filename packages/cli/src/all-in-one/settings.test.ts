// Proves what `bigfleet all-in-one` makes of its flags: the documented defaults for both halves, rails
// on, the named machines, one server for equal metrics addresses, and refusals in its own words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import { helpText, parseFlags } from '@bigfleet/process/flags';
import { allInOneFlags } from './flags.ts';
import { type AllInOneSettings, allInOneSettings } from './settings.ts';

function settingsOf(line: string): Result<AllInOneSettings, string> {
  const parsed = parseFlags(allInOneFlags, line.split(' ').filter(Boolean));
  return parsed.ok ? allInOneSettings(parsed.value.values, {}) : parsed;
}

function good(line: string): AllInOneSettings {
  const settings = settingsOf(line);
  assert.ok(settings.ok, settings.ok ? '' : settings.error);
  return settings.value;
}

test('without a flag: the documented defaults', () => {
  const { dataDir, raftBind, coordinator, shard, sharedMetricsAddress } = good('');
  assert.deepEqual(
    [dataDir, raftBind, sharedMetricsAddress],
    ['./bigfleet-data', ':7791', undefined],
  );
  const { nodeId, listen, metricsAddress, store, mayBootstrap } = coordinator;
  assert.deepEqual(
    { nodeId, listen, metricsAddress, store, mayBootstrap, dataDir: coordinator.dataDir },
    {
      nodeId: 'node-1',
      listen: ':7790',
      metricsAddress: { kind: 'listen', host: undefined, port: 8790 },
      store: { kind: 'sqlite' },
      mayBootstrap: true,
      dataDir: 'bigfleet-data/coord',
    },
  );
  assert.deepEqual(
    [shard.shardId, shard.listen, shard.dataDir, shard.metricsAddress],
    ['shard-0', ':7780', 'bigfleet-data/shard', { kind: 'listen', host: undefined, port: 8780 }],
  );
  const { reclaimCapFraction, emptyRollupGuard, paused, dryRun } = shard.shard.rails;
  assert.deepEqual(
    [reclaimCapFraction, emptyRollupGuard, paused, dryRun],
    [0.05, true, false, false],
  );
});

test('sixteen machines by name, in one zone', () => {
  const { providers } = good('').shard;
  assert.ok(providers.kind === 'fake');
  const machines = providers.fake.machines ?? [];
  const kinds = machines.map(({ id, instanceType, zone, pricePerHour, resources }) => [
    id,
    `${instanceType} ${zone} ${pricePerHour} ${[...resources].flat().join(' ')}`,
  ]);
  const expected = [
    ...Array.from({ length: 8 }, (_, at) => [
      `dev-gpu-${at}`,
      'a3-highgpu-8g dev-zone-a 0 nvidia.com/gpu 8',
    ]),
    ...Array.from({ length: 8 }, (_, at) => [
      `dev-cpu-${at}`,
      'm6i.large dev-zone-a 0.1 cpu 2 memory 8Gi',
    ]),
  ];
  assert.deepEqual(kinds, expected);
});

test('equal metrics addresses are served once; turned off is not shared', () => {
  const once = good('--shard-metrics-addr=:9 --coordinator-metrics-addr=:9');
  assert.deepEqual(once.sharedMetricsAddress, { kind: 'listen', host: undefined, port: 9 });
  assert.deepEqual(
    [once.shard.metricsAddress.kind, once.coordinator.metricsAddress.kind],
    ['disabled', 'disabled'],
  );
  const off = good('--shard-metrics-addr=0 --coordinator-metrics-addr=0');
  assert.equal(off.sharedMetricsAddress, undefined);
  assert.equal(off.shard.metricsAddress.kind, 'disabled');
});

const refused: readonly (readonly [string, RegExp])[] = [
  ['--shard-listen=', /^--shard-listen is empty/],
  ['--coordinator-listen=', /^--coordinator-listen is empty/],
  ['--shard-id=a/b', /^--shard-id=a\/b/],
  ['--coordinator-id=-', /^--coordinator-id=-/],
  ['--shard-metrics-addr=nonsense', /^--shard-metrics-addr/],
  ['--data-dir=', /^--data-dir is empty/],
  ['--provider=a=b:1', /unknown flag --provider/],
];
for (const [line, problem] of refused) {
  test(`${line} is refused: ${problem.source}`, () => {
    const settings = settingsOf(line);
    assert.ok(!settings.ok);
    assert.match(settings.error, problem);
  });
}

test('--help names every flag', () => {
  const help = helpText('usage', 'summary', allInOneFlags);
  for (const name of Object.keys(allInOneFlags)) assert.match(help, new RegExp(`--${name} `));
});
