// Proves the flags of `bigfleet shard`: their defaults are the documented ones, deployed rails are
// on, and every combination that the documents forbid is refused by name.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import { helpText, parseFlags } from '@bigfleet/process/flags';
import { FAKE_ONLY, shardFlags } from './flags.ts';
import { type ShardCommand, shardSettings } from './settings.ts';

function settingsOf(argv: readonly string[], env = {}): Result<ShardCommand, string> {
  const parsed = parseFlags(shardFlags, argv);
  return parsed.ok ? shardSettings(parsed.value, env) : parsed;
}

function good(argv: readonly string[], env = {}): ShardCommand {
  const settings = settingsOf(argv, env);
  assert.ok(settings.ok, settings.ok ? '' : settings.error);
  return settings.value;
}

test('without a flag: the documented defaults, rails on, no provider by itself', () => {
  const { settings, warnings } = good([]);
  assert.deepEqual(warnings, []);
  assert.deepEqual(settings.providers, { kind: 'stored' });
  assert.deepEqual(settings.shard.rails, {
    paused: false,
    dryRun: false,
    reclaimCapFraction: 0.05,
    emptyRollupGuard: true,
    maxActionsPerCycle: 0,
  });
  const { listen, shardId, dataDir, recordsDir, metricsAddress, epochFloor } = settings;
  assert.deepEqual(
    { listen, shardId, dataDir, recordsDir, metricsAddress, epochFloor },
    {
      listen: ':7780',
      shardId: 'shard-0',
      dataDir: './data',
      recordsDir: 'data/records',
      metricsAddress: { kind: 'listen', host: undefined, port: 8780 },
      epochFloor: 0n,
    },
  );
  const pings = { timeMs: 60_000, timeoutMs: 20_000, withoutCalls: false };
  assert.deepEqual(settings.providerKeepalive, pings);
  assert.equal(settings.shard.executeConcurrency, 64);
  assert.equal(settings.shard.recordsMaxBytes, 512 * 2 ** 20);
});

const refused: readonly (readonly [string, RegExp])[] = [
  ['--listen=', /--listen is empty/],
  ['--id=', /--id=/],
  ['--id=a/b', /--id=a\/b/],
  ['--data-dir=', /--data-dir is empty/],
  ['--metrics-addr=nonsense', /--metrics-addr/],
  ['--provider=a=h:1 --provider-addr=h:2', /exclude each other/],
  ['--fake-provider --provider=a=h:1', /--fake-provider excludes/],
  ['--fake-provider --provider-addr=h:1', /--fake-provider excludes/],
  ['--provider=h:1', /write name=host:port/],
  ['--provider==h:1', /write name=host:port/],
  ['--provider=a=', /not host:port/],
  ['--provider-addr=host', /provider default: "host" is not host:port/],
  ['--provider-addr=:9000', /not host:port/],
  ['--provider-addr=host:0', /not host:port/],
  ['--provider-addr=host:65536', /not host:port/],
  ['--provider-addr=unix:', /not host:port or unix:\/path/],
  ['--provider=a=h:1 --provider=a=h:2', /two providers are named a/],
  ['--reclaim-cap-fraction=1.5', /from 0 to 1/],
  ['--epoch-floor=-1', /whole number/],
  ['--execute-concurrency=x', /whole number/],
  ['--fake-provider --id=solo --seed-configured-per-cluster=2', /-<ordinal>/],
  ['--fake-provider --seed-density-multiplier=0', /at least 1/],
  ['--log-format=xml', /one of text, json/],
  ['--fake-provider --provider-shared', /--provider-shared excludes --fake-provider/],
  ['--coordinator-heartbeat-interval=0', /at least 100ms/],
  ['--provider-keepalive-interval=29s', /at least 30s/],
  ['--provider-keepalive-timeout=0', /at least 1s/],
];
for (const [line, problem] of refused) {
  test(`${line} is refused: ${problem.source}`, () => {
    const settings = settingsOf(line.split(' '));
    assert.ok(!settings.ok);
    assert.match(settings.error, problem);
  });
}

for (const name of FAKE_ONLY) {
  test(`--${name} needs --fake-provider, also with its default value`, () => {
    const settings = settingsOf([`--${name}=${shardFlags[name].fallback}`]);
    assert.ok(!settings.ok);
    assert.match(settings.error, new RegExp(`--${name} needs --fake-provider`));
  });
}

test('what this build cannot do is refused, not ignored', () => {
  assert.ok(!settingsOf(['--fake-provider', '--archetypes=f']).ok);
});

test('the coordinator: none by default; where, how often, and as whom the shard reports', () => {
  assert.equal(good([]).coordinator, undefined);
  assert.deepEqual(good(['--coordinator-addr=c:7790']).coordinator, {
    address: 'c:7790',
    shardAddress: ':7780',
    intervalMs: 10_000,
  });
  const given = good([
    '--coordinator-addr=c:7790',
    '--advertise-addr=shard-0.shards:7780',
    '--coordinator-heartbeat-interval=1s',
  ]);
  assert.deepEqual(given.coordinator, {
    address: 'c:7790',
    shardAddress: 'shard-0.shards:7780',
    intervalMs: 1_000,
  });
  const { settings } = good(['--provider=a=h:1', '--provider-shared']);
  assert.equal(settings.isProviderShared, true);
  assert.equal(good(['--provider=a=h:1']).settings.isProviderShared, false);
});

test('keepalive to providers is told apart from its default', () => {
  const { settings } = good([
    '--provider-keepalive-interval=6m',
    '--provider-keepalive-timeout=5s',
  ]);
  const pings = { timeMs: 360_000, timeoutMs: 5_000, withoutCalls: false };
  assert.deepEqual(settings.providerKeepalive, pings);
});

test('several providers keep their names; the shorthand is called default', () => {
  const several = good(['--provider=aws=h:1', '--provider=metal=unix:/run/metal.sock']);
  assert.deepEqual(several.settings.providers, {
    kind: 'flags',
    targets: [
      { name: 'aws', address: 'h:1' },
      { name: 'metal', address: 'unix:/run/metal.sock' },
    ],
  });
  assert.deepEqual(good(['--provider-addr=h:1']).settings.providers, {
    kind: 'flags',
    targets: [{ name: 'default', address: 'h:1' }],
  });
});

test('the environment: dwell of the fake, attribution; nonsense is a warning', () => {
  const fake = ['--fake-provider', '--id=shard-12', '--seed-machines=5'];
  const { settings } = good(fake, { BIGFLEET_FAKE_CREATE_LATENCY: '90s', BIGFLEET_PHASEDUMP: '1' });
  assert.ok(settings.providers.kind === 'fake');
  const { createLatencyMs, ordinal, idleCount } = settings.providers.fake;
  assert.deepEqual([createLatencyMs, ordinal, idleCount], [90_000, 12, 5]);
  assert.equal(settings.shard.hasPhaseAttribution, true);
  const odd = good(fake, { BIGFLEET_FAKE_CREATE_LATENCY: 'soon' });
  assert.match(odd.warnings.join(), /BIGFLEET_FAKE_CREATE_LATENCY=soon is ignored/);
});

test('an address that leads everyone to themselves is said aloud', () => {
  const reports = '--coordinator-addr=c:7790';
  const cases: readonly (readonly [readonly string[], boolean])[] = [
    [[reports], true],
    [[reports, '--listen=0.0.0.0:7780'], true],
    [[reports, '--listen=[::]:7780'], true],
    [[reports, '--listen=127.0.0.1:7780'], false],
    [[reports, '--advertise-addr=shard-0.shards:7780'], false],
    [[], false],
  ];
  for (const [argv, isWarned] of cases) {
    const text = good(argv).warnings.join();
    assert.equal(/--advertise-addr is not given/.test(text), isWarned, argv.join(' '));
  }
});

test('a stub for real machines is said aloud', () => {
  assert.match(good(['--local-bootstrap']).warnings.join(), /real machines get a stub/);
  assert.deepEqual(good(['--local-bootstrap', '--fake-provider']).warnings, []);
});

test('--help names every flag once, with its default', () => {
  const help = helpText('usage', 'summary', shardFlags);
  for (const name of Object.keys(shardFlags)) {
    const lines = help.split('\n').filter((line) => line.trimStart().split(' ')[0] === `--${name}`);
    assert.equal(lines.length, 1, name);
  }
  assert.match(help, /--records-max-bytes <bytes>.*default 512Mi/);
  assert.match(help, /--empty-rollup-guard .*default true/);
});

test('the entry point sets the V8 flag before it loads anything', () => {
  const main = readFileSync(new URL('../main.ts', import.meta.url), 'utf8');
  const flag = main.indexOf('--no-allocation-site-pretenuring');
  assert.ok(flag > 0 && flag < main.indexOf('await import'));
  assert.deepEqual(main.match(/^import .*$/gm), [
    "import { setFlagsFromString } from 'node:v8';",
    // Which loads nothing.
    "import { startAgain } from './shard/memory-settings.ts';",
  ]);
});
