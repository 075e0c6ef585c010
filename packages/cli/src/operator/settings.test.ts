// Proves the flags of `bigfleet-operator`: their defaults are the documented ones, and every value that
// the documents forbid is refused by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Result } from '@bigfleet/base';
import { parseFlags } from '@bigfleet/process/flags';
import { operatorFlags } from './flags.ts';
import { type OperatorCommand, operatorSettings, operatorWarnings } from './settings.ts';

const NEEDED = ['--cluster-id=c', '--shard-addr=shard-0:7780'];

function commandOf(argv: readonly string[], env = {}): Result<OperatorCommand, string> {
  const parsed = parseFlags(operatorFlags, argv);
  return parsed.ok ? operatorSettings(parsed.value, env) : parsed;
}

function good(argv: readonly string[], env = {}): OperatorCommand {
  const command = commandOf([...NEEDED, ...argv], env);
  assert.ok(command.ok, command.ok ? '' : command.error);
  return command.value;
}

test('without more than it needs: the documented defaults', () => {
  const { settings } = good([]);
  assert.deepEqual(settings, {
    clusterId: 'c',
    shardAddress: 'shard-0:7780',
    kubeconfig: '',
    metricsAddress: { kind: 'listen', host: undefined, port: 8770 },
    qps: 50,
    burst: 100,
    acknowledgeConcurrency: 16,
    rollupIntervalMs: 10_000,
    bootstrapTemplateFile: '',
    bootstrapAllowedKeys: new Set(),
    apiServerEndpoint: '',
    bootstrapToken: undefined,
    lease: undefined,
    tls: { cert: '', key: '', ca: '', requireTls: false },
    shardId: '',
    shardServerName: '',
    traceSamples: '',
    hasDebugEndpoints: false,
    build: { version: '0.1.0', revision: 'unknown' },
  });
});

test('tokens and the Lease are off until asked for, with their documented values', () => {
  const { settings } = good(['--bootstrap-token', '--leader-elect']);
  assert.deepEqual(settings.bootstrapToken, { ttlMs: 1_800_000, minTtlMs: 300_000 });
  const lease = { name: 'bigfleet-operator', namespace: '', durationMs: 15_000 };
  assert.deepEqual(settings.lease, lease);
});

test('what goes together is read so', () => {
  const { settings } = good([
    '--rollup-interval=1s',
    '--bootstrap-allowed-keys=zone, arch,,',
    '--metrics-addr=0',
  ]);
  assert.equal(settings.rollupIntervalMs, 1_000);
  assert.deepEqual(settings.bootstrapAllowedKeys, new Set(['zone', 'arch']));
  assert.deepEqual(settings.metricsAddress, { kind: 'disabled' });
  assert.equal(good([], { BIGFLEET_REQUIRE_TLS: '1' }).settings.tls.requireTls, true);
});

test('what is odd is said, and no reason to refuse', () => {
  assert.deepEqual(operatorWarnings(good([])), []);
  assert.match(operatorWarnings(good(['--reflection'])).join(), /serves no gRPC/);
  assert.match(operatorWarnings(good(['--shard-id=shard-0'])).join(), /nobody is verified/);
});

const refused: readonly (readonly [readonly string[], string])[] = [
  [[], '--cluster-id is required'],
  [['--cluster-id=c'], '--shard-addr is required'],
  [['--cluster-id=a b', '--shard-addr=h:1'], '--cluster-id=a b: '],
  [['--cluster-id=c', '--shard-addr=host'], '--shard-addr: "host" is not '],
  [[...NEEDED, '--shard-adr=h:1'], 'did you mean --shard-addr?'],
  [[...NEEDED, '--rollup-interval=10'], 'write a duration such as 10s'],
  [[...NEEDED, '--rollup-interval=1ms'], '--rollup-interval is at least 100ms'],
  [[...NEEDED, '--burst=0'], '--burst is at least 1'],
  [[...NEEDED, '--qps=0'], '--qps=0: write a number from 1'],
  [[...NEEDED, '--ack-concurrency=0'], '--ack-concurrency is at least 1'],
  [[...NEEDED, '--metrics-addr=8770'], '--metrics-addr: listen address "8770"'],
  [[...NEEDED, '--bootstrap-token-ttl=5m'], '--bootstrap-token-ttl is at least twice'],
  [[...NEEDED, '--bootstrap-token-min-ttl=30s'], '--bootstrap-token-min-ttl is over 60s'],
  [[...NEEDED, '--lease-duration=1s'], '--lease-duration is from 3s to 1h'],
  [[...NEEDED, '--lease-name=A_B'], '--lease-name: "A_B" is no object name'],
  [[...NEEDED, '--lease-namespace=A'], '--lease-namespace: "A" is no namespace'],
  [[...NEEDED, '--shard-id=a b'], '--shard-id=a b: '],
];
for (const [argv, words] of refused) {
  test(`refused: ${argv.join(' ') || 'nothing'}`, () => {
    const command = commandOf(argv);
    assert.ok(!command.ok && command.error.includes(words), command.ok ? 'taken' : command.error);
  });
}
