// Proves that a kubeconfig gives the access that kubectl would use, that what changes on disk is noticed,
// and that what cannot work is refused by name.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { BigFleetError, createVirtualRuntime } from '@bigfleet/base';
import type { ClusterAccess, Credentials } from './access.ts';
import { inClusterAccess } from './in-cluster.ts';
import { type AccessOptions, clusterAccess } from './kubeconfig.ts';

const { signal } = new AbortController();

function folder(t: TestContext): (name: string, content: string) => string {
  const directory = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return (name, content) => {
    const file = path.join(directory, name);
    writeFileSync(file, content);
    return file;
  };
}

function access(kubeconfig: string, more: Partial<AccessOptions> = {}): Promise<ClusterAccess> {
  const time = createVirtualRuntime({ seed: '1', drain: async () => {} });
  return clusterAccess({ kubeconfig, env: {}, clock: time.runtime.clock, ...more });
}

function config(user: string, cluster = 'server: https://api:6443'): string {
  return `
apiVersion: v1
kind: Config
current-context: one
contexts:
- {name: one, context: {cluster: c, user: u, namespace: shop}}
- {name: two, context: {cluster: c, user: nobody}}
clusters:
- {name: c, cluster: {${cluster}}}
users:
- {name: u, user: {${user}}}
- {name: nobody, user: {}}
`;
}

async function credentials(file: string): Promise<Credentials> {
  return (await access(file)).credentials.read(signal);
}

test('the current context names server, user and namespace; another one is chosen by name', async (t) => {
  const file = folder(t)('config', config('token: abc', 'server: https://api:6443/clusters/a'));
  const { server, namespace, tls } = await access(file);
  assert.deepEqual([server.href, namespace], ['https://api:6443/clusters/a', 'shop']);
  assert.deepEqual(tls, { ca: undefined, servername: undefined, rejectUnauthorized: true });
  assert.equal((await credentials(file)).bearerToken?.reveal(), 'abc');
  const other = await access(file, { context: 'two' });
  assert.equal(other.namespace, 'default');
  assert.deepEqual(await other.credentials.read(signal), {});
});

test('KUBECONFIG is a list of files whose first mention of a name wins', async (t) => {
  const write = folder(t);
  const first = write('first', config('token: first'));
  const second = write('second', config('token: second', 'server: https://other'));
  const found = await access('', { env: { KUBECONFIG: `${first}${path.delimiter}${second}` } });
  assert.equal(found.server.href, 'https://api:6443/');
});

test('data and files give authority and certificate, files relative to the config', async (t) => {
  const write = folder(t);
  write('ca.pem', 'CA');
  const pem = Buffer.from('CERT').toString('base64');
  const key = Buffer.from('KEY').toString('base64');
  const user = `client-certificate-data: ${pem}, client-key-data: ${key}`;
  const file = write('config', config(user, 'server: https://a, certificate-authority: ca.pem'));
  assert.equal((await access(file)).tls.ca, 'CA');
  const { certificate } = await credentials(file);
  assert.deepEqual([certificate?.certPem, certificate?.keyPem.reveal()], ['CERT', 'KEY']);
  assert.ok(!JSON.stringify(certificate).includes('KEY'));
});

test('a token file is read again when it changes, and kept while it is away', async (t) => {
  const write = folder(t);
  const token = write('token', 'one\n');
  const source = (await access(write('config', config('tokenFile: token')))).credentials;
  const shown = async (): Promise<string | undefined> =>
    (await source.read(signal)).bearerToken?.reveal();
  assert.equal(await shown(), 'one');
  write('token', 'two\n');
  utimesSync(token, 1, 1);
  assert.equal(await shown(), 'two');
  rmSync(token);
  assert.equal(await shown(), 'two');
});

test('an exec plugin is run once for many requests, again after a refusal, and never twice at a time', async (t) => {
  const write = folder(t);
  const count = write('count', '');
  const plugin = write(
    'plugin.sh',
    `#!/bin/sh
echo run >> ${count}
test -n "$KUBERNETES_EXEC_INFO" || exit 1
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$1$GREETING'"}}'
`,
  );
  chmodSync(plugin, 0o755);
  const exec = `exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin.sh, args: [x], env: [{name: GREETING, value: y}]}`;
  const { credentials: source } = await access(write('config', config(exec)), { env: process.env });
  const all = await Promise.all([source.read(signal), source.read(signal)]);
  assert.deepEqual(
    all.map(({ bearerToken }) => bearerToken?.reveal()),
    ['xy', 'xy'],
  );
  source.forget();
  await source.read(signal);
  assert.equal(readFileSync(count, 'utf8'), 'run\nrun\n');
});

test('inside a Pod, address, authority, token and namespace come from the mount', async (t) => {
  const write = folder(t);
  write('ca.crt', 'CA');
  write('token', 'abc');
  const mount = path.dirname(write('namespace', 'bigfleet-system\n'));
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  const found = await inClusterAccess(env, mount);
  assert.equal(found.server.href, 'https://[fd00::1]/');
  assert.deepEqual([found.namespace, found.tls.ca], ['bigfleet-system', 'CA']);
  assert.equal((await found.credentials.read(signal)).bearerToken?.reveal(), 'abc');
});

for (const [name, text, problem] of [
  ['a file that is no YAML', 'a: {', /kubeconfig .*config: /],
  ['no current context', 'contexts: []', /no current-context/],
  [
    'a context that is not there',
    config('').replace('current-context: one', 'current-context: x'),
    /no context named "x"/,
  ],
  ['a server that is no address', config('', 'server: nowhere'), /server is not a URL: nowhere/],
  [
    'a server without TLS verification',
    config('', 'server: https://a, insecure-skip-tls-verify: true'),
    /insecure-skip-tls-verify is refused/,
  ],
  ['a proxy', config('', 'server: https://a, proxy-url: http://p'), /proxy-url is not supported/],
  [
    'a legacy auth provider',
    config('auth-provider: {name: gcp}'),
    /auth-provider gcp is not supported; use an exec plugin/,
  ],
  ['half a certificate', config('client-certificate-data: QQ=='), /must come together/],
] as const) {
  test(`refused: ${name}`, async (t) => {
    const file = folder(t)('config', text);
    await assert.rejects(
      credentials(file),
      (error) =>
        error instanceof BigFleetError &&
        error.code === 'kubeconfig_invalid' &&
        problem.test(error.message),
    );
  });
}

test('a plugin that fails says which one, and how to install it', async (t) => {
  const exec = 'exec: {apiVersion: v1, command: no-such-plugin, installHint: install it}';
  await assert.rejects(
    credentials(folder(t)('config', config(exec))),
    /no-such-plugin.*install it/,
  );
});
