// Proves the life of a config file: made, used, changed, looked at, and never lost by a refusal.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { startFakeCoordinator } from '../testing/fake-coordinator.ts';
import { runCtl } from '../testing/run-ctl.ts';
import { configPath } from './config-file.ts';
import { targetSettings } from './target-settings.ts';

test('contexts are made, used, changed and deleted', async (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'ctl-home-'));
  t.after(() => rmSync(home, { recursive: true }));
  await using coordinator = await startFakeCoordinator();
  const ctl = (...argv: string[]) => runCtl(argv, { home });
  const file = path.join(home, '.config', 'bigfleetctl', 'config.yaml');

  const made = await ctl('config', 'set-context', 'lab', `--coordinator=${coordinator.address}`);
  assert.deepEqual(made, { code: 0, output: `created context lab in ${file}\n`, error: '' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await ctl('config', 'set-context', 'prod', '--coordinator=prod:7790')).code, 0);

  // The first context is current: the coordinator is found without a flag.
  assert.match((await ctl('list-quotas')).output, /^PROVIDER {2}REGION/);
  const used = await ctl('config', 'use-context', 'prod');
  assert.deepEqual(used, { code: 0, output: 'using context prod\n', error: '' });
  const typo = await ctl('config', 'use-context', 'prd');
  assert.match(typo.error, /ctl_context_unknown: there is no context prd; did you mean prod\?/);
  const listed = await ctl('config', 'get-contexts');
  assert.equal(
    listed.output,
    `CURRENT  NAME  COORDINATOR${' '.repeat(coordinator.address.length - 11)}  TLS\n` +
      `         lab   ${coordinator.address}  no\n` +
      `*        prod  prod:7790${' '.repeat(coordinator.address.length - 9)}  no\n`,
  );
  assert.match((await ctl('--context=lab', 'list-quotas')).output, /^PROVIDER/);
  assert.match((await ctl('config', 'view')).output, /current-context: prod\ncontexts:\n {2}lab:/);

  const before = readFileSync(file, 'utf8');
  assert.equal((await ctl('config', 'set-context', 'a/b')).code, 1);
  assert.equal(readFileSync(file, 'utf8'), before);
  const deleted = await ctl('config', 'delete-context', 'prod');
  assert.deepEqual(
    [deleted.code, deleted.output],
    [0, 'deleted context prod; none is current now: config use-context chooses one\n'],
  );
  assert.match((await ctl('config', 'view')).output, /current-context: ""/);
});

test('TLS files of a context are kept absolute, and flags leave them aside', async (t) => {
  const home = mkdtempSync(path.join(tmpdir(), 'ctl-home-'));
  t.after(() => rmSync(home, { recursive: true }));
  const ctl = (...argv: string[]) => runCtl(argv, { home });
  await ctl('config', 'set-context', 'a', '--tls-cert=c.pem', '--tls-key=k.pem', '--tls-ca=ca.pem');
  const { error } = await ctl('list-shards');
  assert.match(
    error,
    new RegExp(`tls_bad_material: tls: ${path.resolve('c.pem')}: cannot be read`),
  );
  const partial = await ctl('--tls-ca=other.pem', 'list-shards');
  assert.match(partial.error, /partial configuration \(cert= key= ca=other\.pem\)/);
});

test('where the file is', () => {
  const home = '/home/a';
  const places: readonly (readonly [string, Record<string, string>, string])[] = [
    ['/x', { BIGFLEETCTL_CONFIG: '/y' }, '/x'],
    ['', { BIGFLEETCTL_CONFIG: '/y' }, '/y'],
    ['', { XDG_CONFIG_HOME: '/xdg' }, '/xdg/bigfleetctl/config.yaml'],
    ['', {}, '/home/a/.config/bigfleetctl/config.yaml'],
  ];
  for (const [flag, env, expected] of places) {
    assert.equal(configPath(flag, { env, home }), expected);
  }
});

test('relative files stand beside the config file', () => {
  const contexts = new Map([['a', { 'tls-cert': 'c', 'tls-key': '/k', 'tls-ca': 'd/ca' }]]);
  const flags = {
    context: '',
    coordinator: 'default:1',
    'tls-cert': '',
    'tls-key': '',
    'tls-ca': '',
  };
  const config = { currentContext: 'a', contexts };
  assert.deepEqual(targetSettings(flags, new Set(), config, '/etc/ctl/config.yaml'), {
    coordinator: 'default:1',
    tls: { cert: '/etc/ctl/c', key: '/k', ca: '/etc/ctl/d/ca' },
  });
});
