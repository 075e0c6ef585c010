// Proves that every flag of the contract's table exists with its default, once, and is in the help;
// that flags come from the command line, then the environment, then the default; and that every
// mistake is an error which names the flag and what would have been right.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDefinition, type SampleFlags } from './testing/sample-provider.ts';
import { parseProviderFlags } from './provider-flags.ts';

/** provider-contract §17.1 and providers A2, as an operator would read them. */
const CONTRACT: Readonly<Record<string, string | number | boolean>> = {
  addr: ':9000',
  provider: 'sample',
  state: '',
  'seed-count': 32,
  'use-fake-backend': false,
  'sample-backend': 'auto',
  offerings: '',
  'reconcile-interval': 120_000,
  'price-refresh': 1_800_000,
  'metrics-addr': ':9090',
  reflection: true,
  'require-fence': false,
  'strict-tokens': false,
  'failed-cleanup-after': 600_000,
  'shutdown-grace': 25_000,
  'allow-ephemeral-state': false,
  'readiness-source': 'auto',
  'log-format': 'text',
  'tls-cert': '',
  'tls-key': '',
  'tls-ca': '',
};
const OURS = { 'require-tls': false, 'log-level': 'info', region: '' };
const definition = sampleDefinition({ priceRefreshMs: 1_800_000 });

test('the defaults are those of the contract', () => {
  const parsed = parseProviderFlags(definition, { argv: [], env: {} });
  assert.equal(parsed.kind, 'settings');
  if (parsed.kind === 'settings') {
    assert.deepEqual({ ...parsed.settings.flags }, { ...CONTRACT, ...OURS });
  }
});

test('help names every flag, its variable form and its default', () => {
  const parsed = parseProviderFlags(definition, { argv: ['--help'], env: {} });
  assert.equal(parsed.kind, 'print');
  const text = parsed.kind === 'print' ? parsed.text : '';
  for (const name of Object.keys({ ...CONTRACT, ...OURS })) {
    assert.match(text, new RegExp(`^  --${name}[ \\[]`, 'm'), name);
  }
  assert.match(text, /--reconcile-interval duration\n.*Default: 2m\./);
  assert.match(text, /--addr is BIGFLEET_ADDR/);
  for (const line of text.split('\n')) assert.ok(line.length <= 100, line);
});

test('a provider without live prices has no such flag, and names may differ', () => {
  const plain = parseProviderFlags(
    sampleDefinition({ name: 'oracle-cloud', label: 'oci', backendFlag: 'oci-backend' }),
    { argv: [], env: {} },
  );
  assert.equal(plain.kind, 'settings');
  const flags = plain.kind === 'settings' ? plain.settings.flags : {};
  assert.equal('price-refresh' in flags, false);
  assert.equal('oci-backend' in flags, true);
  assert.equal('provider' in flags && flags.provider, 'oci');
});

test('the version is printed with the name of the command', () => {
  const parsed = parseProviderFlags(definition, { argv: ['--version'], env: {} });
  assert.deepEqual(parsed, { kind: 'print', text: 'bigfleet-provider-sample 1.2.3\n' });
});

function parse(
  argv: readonly string[],
  env: Record<string, string> = {},
): ReturnType<typeof parseProviderFlags<SampleFlags>> {
  return parseProviderFlags(definition, { argv, env });
}

test('values by source, in all forms', () => {
  const cases: readonly (readonly [readonly string[], Record<string, string>, object])[] = [
    [[], {}, {}],
    [['--addr=:1'], {}, { addr: ':1' }],
    [['--addr', ':1'], {}, { addr: ':1' }],
    [['--addr', '--odd'], {}, { addr: '--odd' }],
    [['--addr='], {}, { addr: '' }],
    [['--addr=a=b'], {}, { addr: 'a=b' }],
    [['--addr', ':1', '--addr', ':2'], {}, { addr: ':2' }],
    [['--reflection'], {}, { reflection: true }],
    [['--reflection=false'], {}, { reflection: false }],
    [['--reflection=0'], {}, { reflection: false }],
    [['--reconcile-interval', '1h30m'], {}, { 'reconcile-interval': 5_400_000 }],
    [['--seed-count=0'], {}, { 'seed-count': 0 }],
    [['--log-format=json'], {}, { 'log-format': 'json' }],
    [[], { BIGFLEET_METRICS_ADDR: ':2', ADDR: ':3' }, { 'metrics-addr': ':2' }],
    [['--metrics-addr', ':1'], { BIGFLEET_METRICS_ADDR: ':2' }, { 'metrics-addr': ':1' }],
    [[], { BIGFLEET_SEED_COUNT: '' }, {}],
  ];
  for (const [argv, env, expected] of cases) {
    const parsed = parse(argv, env);
    assert.equal(parsed.kind, 'settings', JSON.stringify(parsed));
    if (parsed.kind === 'settings') {
      assert.deepEqual({ ...parsed.settings.flags }, { ...CONTRACT, ...OURS, ...expected });
    }
  }
});

test('mistakes', () => {
  const cases: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [['--metric-addr=:1'], {}, /unknown flag --metric-addr; did you mean --metrics-addr\?/],
    [['--reconcil-intervall=1m'], {}, /did you mean --reconcile-interval\?/],
    [['--zzz'], {}, /^unknown flag --zzz \(--help lists all\)$/],
    [['--__proto__=1'], {}, /unknown flag --__proto__/],
    [['addr'], {}, /unexpected argument "addr"/],
    [['-addr'], {}, /unexpected argument "-addr"/],
    [['--'], {}, /unexpected argument "--"/],
    [['--addr'], {}, /--addr needs a value/],
    [['--reflection=maybe'], {}, /--reflection="maybe": write true or false/],
    [['--reconcile-interval=30'], {}, /--reconcile-interval="30": write a duration/],
    [['--seed-count=1000001'], {}, /whole number from 0 to 1000000/],
    [['--seed-count=-1'], {}, /whole number/],
    [['--seed-count=1.5'], {}, /whole number/],
    [['--log-format=xml'], {}, /write one of text, json/],
    [[], { BIGFLEET_LOG_FORMAT: 'xml' }, /^BIGFLEET_LOG_FORMAT="xml": write one of/],
  ];
  for (const [argv, env, expected] of cases) {
    const parsed = parse(argv, env);
    assert.equal(parsed.kind, 'error', argv.join(' '));
    if (parsed.kind === 'error') assert.match(parsed.problem, expected);
  }
});

test('help and version win over everything but an error before them', () => {
  for (const argv of [
    ['--help'],
    ['-h', '--addr=:1'],
    ['--seed-count=x', '--help'],
    ['--version'],
  ]) {
    assert.equal(parse(argv).kind, 'print', argv.join(' '));
  }
  assert.equal(parse(['--nonsense', '--help']).kind, 'error');
});
