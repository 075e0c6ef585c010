// Proves that every flag of the contract's table exists with its default, once, and is in the help.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleDefinition } from '../testing/sample-provider.ts';
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
