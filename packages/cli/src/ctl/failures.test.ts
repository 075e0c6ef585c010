// Proves what happens when something is wrong: redirects, replicas that are down, a server that is
// silent, refuses, or is too old, and certificates. Each message says what to do next.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { RpcError } from '@bigfleet/wire';
import { grpcNetwork } from './connect/network.ts';
import { type FakeCoordinator, startFakeCoordinator } from './testing/fake-coordinator.ts';
import { runCtl } from './testing/run-ctl.ts';

async function started(
  t: TestContext,
  options?: Parameters<typeof startFakeCoordinator>[0],
): Promise<FakeCoordinator> {
  const fake = await startFakeCoordinator(options);
  t.after(() => fake[Symbol.asyncDispose]());
  return fake;
}

function notLeader(hint?: string): () => RpcError {
  const metadata = new Map(hint === undefined ? [] : [['bigfleet-leader-address', hint]]);
  return () => new RpcError('FAILED_PRECONDITION', 'coordinator: not leader', { metadata });
}

test('a follower with a hint is followed to the leader', async (t) => {
  const leader = await started(t);
  const follower = await started(t, { precheck: notLeader(leader.address) });
  const { code, output, error } = await runCtl([
    `--coordinator=${follower.address}`,
    'unbind-cluster',
    '--cluster=c',
  ]);
  assert.deepEqual([code, output, error], [0, 'unbound cluster c\n', '']);
  assert.deepEqual([follower.calls.length, leader.calls.length], [0, 1]);
});

test('without a hint every address behind the name is tried once', async (t) => {
  const leader = await started(t);
  const follower = await started(t, { precheck: notLeader() });
  const { code, output } = await runCtl([
    `--coordinator=${follower.address},${leader.address}`,
    'unbind-cluster',
    '--cluster=c',
  ]);
  assert.deepEqual([code, output], [0, 'unbound cluster c\n']);
});

test('addresses of one name are all found, also when the first is down', async (t) => {
  const leader = await started(t);
  const port = leader.address.split(':')[1] ?? '';
  const real = grpcNetwork(realRuntime());
  const dialled: string[] = [];
  const network = {
    ...real,
    connect: (options: Parameters<typeof real.connect>[0]) => {
      dialled.push(options.target);
      const target = options.target.replace('fleet.test:', '127.0.0.2:');
      return real.connect({ ...options, target });
    },
    addressesOf: async () => ['127.0.0.3', '127.0.0.1'],
  };
  const { code } = await runCtl(
    [`--coordinator=fleet.test:${port}`, 'unbind-cluster', '--cluster=c'],
    { network },
  );
  assert.equal(code, 0);
  assert.equal(dialled[0], `fleet.test:${port}`);
  assert.ok(dialled.includes(`127.0.0.1:${port}`));
});

test('two followers that point at each other end in an error, not in a loop', async (t) => {
  const hints = new Map<string, string>();
  const a = await started(t, { precheck: () => notLeader(hints.get('b'))() });
  const b = await started(t, { precheck: notLeader(a.address) });
  hints.set('b', b.address);
  const { code, error } = await runCtl([`--coordinator=${a.address}`, 'list-shards']);
  assert.equal(code, 1);
  assert.match(error, /^bigfleetctl: coordinator_no_leader: no coordinator replica leads \(asked /);
  assert.match(error, /\n {2}next: Wait for the election/);
});

test('a hint to a dead leader names the dead leader', async (t) => {
  const follower = await started(t, { precheck: notLeader('127.0.0.1:1') });
  const { code, error } = await runCtl([`--coordinator=${follower.address}`, 'list-shards']);
  assert.equal(code, 1);
  assert.match(error, /coordinator_unreachable: cannot reach the coordinator at 127\.0\.0\.1:1: /);
});

test('nobody listens: the address and what to check', async () => {
  const { code, output, error } = await runCtl(['--coordinator=127.0.0.1:1', 'list-shards']);
  assert.deepEqual([code, output], [1, '']);
  assert.match(error, /^bigfleetctl: coordinator_unreachable: .*127\.0\.0\.1:1.*ECONNREFUSED/);
  assert.match(error, /\n {2}next: Check --coordinator or the context/);
});

for (const address of ['http://x/y', '127.0.0.1', 'fleet.test', '', 'a:1,b']) {
  test(`--coordinator=${address} is refused before anything is dialled`, async () => {
    const dialled: string[] = [];
    const real = grpcNetwork(realRuntime());
    const network = {
      ...real,
      connect: (options: Parameters<typeof real.connect>[0]) => {
        dialled.push(options.target);
        return real.connect(options);
      },
    };
    const { code, error } = await runCtl([`--coordinator=${address}`, 'list-shards'], { network });
    assert.deepEqual([code, dialled], [1, []]);
    assert.match(error, /coordinator_unreachable: ".*" is no address to dial: write host:port/);
  });
}

test('a server of another kind is not called an old coordinator', async (t) => {
  const fake = await started(t, { isOld: true });
  const { error } = await runCtl([`--coordinator=${fake.address}`, 'status']);
  assert.match(
    error,
    /it is older than this bigfleetctl, or no coordinator\n {2}next: Check the port/,
  );
});

test('a coordinator that cannot write was reached: its store is named, not the address', async (t) => {
  const full = 'coordinator: SQLite: database or disk is full';
  const fake = await started(t, { precheck: () => new RpcError('UNAVAILABLE', full) });
  const { code, error } = await runCtl([`--coordinator=${fake.address}`, 'list-shards']);
  assert.equal(code, 1);
  assert.match(error, /^bigfleetctl: coordinator_store_unavailable: .* disk is full\n/);
  assert.match(error, /next: Its \/readyz says why: free the disk/);
});

const missing: readonly (readonly [text: string, code: string, next: RegExp])[] = [
  ['coordinator: shard not found', 'thing_not_found', /next: Check the spelling; bigfleetctl get/],
  ['coordinator: nothing to save', 'request_refused', /next: Correct what the message names/],
];
for (const [text, expected, next] of missing) {
  test(`NOT_FOUND "${text}" is ${expected}`, async (t) => {
    const fake = await started(t, { precheck: () => new RpcError('NOT_FOUND', text) });
    const { code, error } = await runCtl([
      `--coordinator=${fake.address}`,
      ...'assign-domain --key=a --value=b --shard=c'.split(' '),
    ]);
    assert.equal(code, 1);
    assert.ok(error.includes(`bigfleetctl: ${expected}: `), error);
    assert.match(error, next);
  });
}

test('a server that says nothing ends with --timeout', async (t) => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  });
  const bound = silent.address();
  assert.ok(bound !== null && typeof bound === 'object');
  const { code, error } = await runCtl([
    `--coordinator=127.0.0.1:${bound.port}`,
    '--timeout=150ms',
    'list-shards',
  ]);
  assert.equal(code, 1);
  assert.match(error, /deadline_exceeded|coordinator_unreachable/);
});

test('an old server: the missing feature is named', async (t) => {
  const old = await started(t, { isOld: true });
  const { code, error } = await runCtl([`--coordinator=${old.address}`, 'list-transfers']);
  assert.equal(code, 1);
  assert.match(error, /feature_missing: .* does not know "list transfers": it is older/);
  assert.match(error, /next: Check the port; update the server/);
  const { code: listed } = await runCtl([`--coordinator=${old.address}`, 'list-shards']);
  assert.equal(listed, 0);
});

test('a refusal by identity keeps the code of the server', async (t) => {
  const fake = await started(t, {
    precheck: () =>
      new RpcError(
        'PERMISSION_DENIED',
        'identity_denied: bigfleet://readonly may not call AssignDomain',
      ),
  });
  const { code, error } = await runCtl([
    `--coordinator=${fake.address}`,
    ...'assign-domain --key=a --value=b --shard=c'.split(' '),
  ]);
  assert.equal(code, 1);
  assert.match(error, /^bigfleetctl: identity_denied: .*bigfleet:\/\/readonly may not call/);
  assert.match(error, /next: Use a certificate of the right role/);
});

test('text of a server cannot paint the terminal', async (t) => {
  const fake = await started(t, {
    shards: [{ shardId: 'a\u001b[2J\nforged', address: 'x:1' }],
  });
  const { output } = await runCtl([`--coordinator=${fake.address}`, 'list-shards']);
  assert.ok(!output.includes('\u001b'));
  assert.match(output, /a\\x1b\[2J\\x0aforged/);
  assert.equal(output.split('\n').length, 3);
});

const tlsTable: readonly (readonly [argv: string, problem: RegExp])[] = [
  ['--tls-cert=a.pem', /tls_partial_configuration: tls: partial configuration/],
  ['--tls-cert=/no --tls-key=/no --tls-ca=/no', /tls_bad_material: tls: \/no: cannot be read/],
];
for (const [argv, problem] of tlsTable) {
  test(`${argv} is refused`, async () => {
    const { code, error } = await runCtl([...argv.split(' '), 'list-shards']);
    assert.equal(code, 1);
    assert.match(error, problem);
  });
}

const configs: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
  ['not YAML', 'contexts: [', /ctl_config_invalid: .*config\.yaml: /],
  ['a list', '- a\n', /the file must be a mapping/],
  ['an unknown key', 'contxts: {}\n', /no key "contxts"; did you mean contexts\?/],
  ['a misspelt TLS key', 'contexts: {a: {tls-caa: x}}\n', /did you mean tls-ca\?/],
  ['a number for an address', 'contexts: {a: {coordinator: 7}}\n', /must be text/],
  ['a duplicate key', 'contexts: {}\ncontexts: {}\n', /ctl_config_invalid/],
  ['binary', '\u0000\u0001\u0002', /ctl_config_invalid/],
  ['an unknown current context', 'current-context: b\ncontexts: {a: {}}\n', /ctl_context_unknown/],
];
for (const [name, text, problem] of configs) {
  test(`a config file with ${name} is refused with the place`, async (t) => {
    const home = mkdtempSync(path.join(tmpdir(), 'ctl-config-'));
    t.after(() => rmSync(home, { recursive: true }));
    const file = path.join(home, 'config.yaml');
    writeFileSync(file, text);
    const { code, error } = await runCtl([`--config=${file}`, 'list-shards']);
    assert.equal(code, 1);
    assert.match(error, problem);
  });
}

test('a config file that a flag names must be there; one that nobody names need not', async (t) => {
  const fake = await started(t);
  const target = `--coordinator=${fake.address}`;
  const named = await runCtl(['--config=/nowhere/config.yaml', target, 'list-quotas']);
  assert.equal(named.code, 1);
  assert.match(named.error, /ctl_config_invalid: \/nowhere\/config\.yaml: .*ENOENT/);
  assert.equal(fake.calls.length, 0);
  assert.equal((await runCtl([target, 'list-quotas'])).code, 0);
});

test('another major of Node is refused', async () => {
  const { runBigfleetctl } = await import('./bigfleetctl.ts');
  let error = '';
  const code = await runBigfleetctl(['version'], {
    runtime: realRuntime(),
    network: grpcNetwork(realRuntime()),
    port: {
      nodeVersion: '20.1.0',
      env: {},
      writeOutput: () => undefined,
      writeError: (text) => void (error += text),
      stopSignal: () => new Promise(() => undefined),
      onReopen: () => undefined,
      onUnhandled: () => undefined,
      isTerminal: false,
      terminalSize: () => ({ rows: 24, columns: 80 }),
      home: '/',
    },
  });
  assert.equal(code, 1);
  assert.match(error, /needs Node.js 24, this is 20.1.0/);
});
