// Proves what a command line and its environment amount to: what is judged, what is claimed,
// which defaults apply, and that contradictions are refused before anything is started.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { SuiteOptions } from '../lanes/suite.ts';
import { parseFlags } from './flags.ts';
import { type Environment, readOptions } from './options.ts';

const root = mkdtempSync(path.join(tmpdir(), 'bfconformance-test-'));
after(() => rmSync(root, { recursive: true }));
provider('aws', { bigfleet: { profiles: ['core', 'cloud', 'durable'] } });
provider('undeclared', {});
provider('wrong', { bigfleet: { profiles: ['core', 'metal'] } });

function provider(name: string, manifest: object): void {
  mkdirSync(path.join(root, 'providers', name, 'src'), { recursive: true });
  writeFileSync(path.join(root, 'providers', name, 'src', 'main.ts'), '');
  writeFileSync(path.join(root, 'providers', name, 'package.json'), JSON.stringify(manifest));
}

function read(argv: readonly string[], env: Environment = {}): SuiteOptions | string {
  const flags = parseFlags(argv);
  assert.ok(flags.ok);
  const options = readOptions({ values: flags.value, env, cwd: root, checks: [] });
  return options.ok ? options.value : options.error;
}

function problemOf(argv: readonly string[], env?: Environment): string {
  const options = read(argv, env);
  assert.ok(typeof options === 'string', 'was accepted');
  return options;
}

function accepted(argv: readonly string[], env?: Environment): SuiteOptions {
  const options = read(argv, env);
  assert.ok(typeof options !== 'string', options as string);
  return options;
}

test('a target alone', () => {
  const options = accepted(['-target', '[::1]:9001']);
  assert.equal(options.provider, '[::1]:9001');
  assert.equal(options.target?.target, '[::1]:9001');
  assert.equal(options.subject, undefined);
  assert.deepEqual(options.profiles, ['core']);
  assert.equal(options.seed, '1');
  assert.equal(options.seedCount, 256);
  assert.deepEqual(options.scale, { seedCount: 4_000, soakMs: 8_000 });
});

test('the environment names a target only when the command line names nothing', () => {
  const env = { BIGFLEET_PROVIDER_TARGET: 'localhost:1', BIGFLEET_SRC: root };
  assert.equal(accepted([], env).target?.target, 'localhost:1');
  assert.equal(accepted(['-target', 'localhost:2'], env).target?.target, 'localhost:2');
  assert.equal(accepted(['-provider', 'aws'], env).target, undefined);
  assert.match(problemOf([], { BIGFLEET_PROVIDER_TARGET: 'x' }), /^BIGFLEET_PROVIDER_TARGET: "x"/);
});

test('a provider of the repository is booted with the flags of the specification', () => {
  const { subject, provider: name, scale } = accepted(['-provider', 'aws']);
  assert.equal(name, 'aws');
  assert.equal(subject?.isKitProvider, true);
  const command = subject.launch.command({ address: '127.0.0.1:7', seedCount: 9, statePath: '/s' });
  assert.deepEqual(command.args.slice(1), [
    '--addr=127.0.0.1:7',
    '--provider=certify',
    '--use-fake-backend',
    '--metrics-addr=',
    '--seed-count=9',
    '--state=/s',
  ]);
  assert.equal(command.args[0], path.join(root, 'providers', 'aws', 'src', 'main.ts'));
  assert.deepEqual(scale, { seedCount: 8_000, soakMs: 10_000 });
});

test('a provider that is not there is refused, unless it is only a name for a target', () => {
  assert.match(problemOf(['-provider', 'nobody']), /no providers\/nobody\/src\/main\.ts below/);
  assert.match(problemOf(['-provider', '../providers/aws']), /no providers/);
  const named = accepted(['-provider', 'nobody', '-target', 'h:1']);
  assert.equal(named.provider, 'nobody');
  assert.equal(named.subject, undefined);
});

test('a start command gets address, state and seed', () => {
  const { subject, profiles } = accepted(['-start-cmd', 'p -a {addr} -s {state} -n {seed} {addr}']);
  assert.equal(subject?.isKitProvider, false);
  assert.equal(subject.launch.prefersState, true);
  const command = subject.launch.command({ address: 'A', seedCount: 3, statePath: 'S' });
  assert.deepEqual(command.args, ['-c', 'p -a A -s S -n 3 A']);
  const inMemory = subject.launch.command({ address: 'A', seedCount: 3 });
  assert.deepEqual(inMemory.args, ['-c', "p -a A -s '' -n 3 A"]);
  assert.deepEqual(profiles, ['core', 'durable']);
});

test('claims', () => {
  const claimed = (...argv: string[]): readonly string[] => accepted(argv).profiles;
  assert.deepEqual(claimed('-target', 'h:1', '-profile', 'core,scale'), ['core', 'scale']);
  assert.deepEqual(claimed('-target', 'h:1', '-fault-target', 'h:2'), ['core', 'fault']);
  assert.deepEqual(claimed('-provider', 'aws'), ['core']);
  assert.deepEqual(claimed('-provider', 'aws', '-profile', 'declared'), [
    'core',
    'cloud',
    'durable',
  ]);
  const started = ['-start-cmd', '{addr}', '-profile', 'core'];
  assert.deepEqual(claimed(...started), ['core']);
});

test('scale and soak: flag, then environment, then default', () => {
  const env = { BFCONF_SCALE_SEED: '20000', BFCONF_SOAK: '60s' };
  const fromEnv = accepted(['-target', 'h:1'], env).scale;
  assert.deepEqual(fromEnv, { seedCount: 20_000, soakMs: 60_000 });
  const flagged = accepted(['-target', 'h:1', '-scale-seed', '5', '-soak', '1s'], env).scale;
  assert.deepEqual(flagged, { seedCount: 5, soakMs: 1_000 });
  assert.match(problemOf(['-target', 'h:1'], { BFCONF_SOAK: 'long' }), /^BFCONF_SOAK: "long"/);
});

const refused: [readonly string[], RegExp][] = [
  [[], /nothing to judge/],
  [['-target', 'nowhere'], /^-target: "nowhere" is no target/],
  [['-target', 'h:1', '-profile', 'metal'], /^-profile: unknown profile "metal"/],
  [['-target', 'h:1', '-profile', 'declared'], /-profile declared needs -provider/],
  [['-provider', 'undeclared', '-profile', 'declared'], /declares no "bigfleet"/],
  [['-provider', 'wrong', '-profile', 'declared'], /unknown profile "metal"/],
  [['-target', 'h:1', '-only', 'B102'], /^-only: unknown behaviour "B102"/],
  [['-target', 'h:1', '-seed-count', '0'], /^-seed-count: "0" is no whole number/],
  [['-target', 'h:1', '-port', '70000'], /^-port: /],
  [['-target', 'h:1', '-time-scale', 'slow'], /^-time-scale: /],
  [['-start-cmd', 'provider'], /without \{addr\}/],
  [['-start-cmd', 'provider {addr}'], /profile durable needs \{state\}/],
  [['-target', 'h:1', '-tls-cert', 'c'], /partial configuration/],
  [['-target', 'h:1', '-tls-cert', 'c', '-tls-key', 'k', '-tls-ca', 'a'], /cannot be read/],
];

for (const [argv, problem] of refused) {
  test(`${argv.join(' ') || 'no flag'} is refused`, () => {
    assert.match(problemOf(argv), problem);
  });
}
