// Proves `bigfleet dashboard` as a process beside a real shard with mutual TLS: a reader's certificate sees the
// fleet and a decision, any other one is refused at the start, a shard that is killed is stale and followed
// again when it is back, and a stop by signal is clean.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { tlsFromFlags, TlsMaterial } from '@bigfleet/wire';
import {
  createPemDir,
  createTempDir,
  eventually,
  type FixtureName,
  http,
  leasePort,
  mintPki,
  type PemDir,
  type RunningProcess,
  startProcess,
  type TestPki,
} from '../toolkit/index.ts';
import { startOperator, startShardProcess } from '../shard/shard-process.ts';

const MAIN = path.join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
const SERVING = / msg="dashboard serving" .* addr=(\S+)/;

function tlsFlags({ certFile, keyFile, caFile }: PemDir): readonly string[] {
  return [`--tls-cert=${certFile}`, `--tls-key=${keyFile}`, `--tls-ca=${caFile}`, '--require-tls'];
}

function launch(argv: readonly string[]): Promise<RunningProcess> {
  return startProcess({
    name: 'dashboard',
    command: process.execPath,
    args: [MAIN, 'dashboard', '--listen=127.0.0.1:0', ...argv],
  });
}

async function pems(pki: TestPki, name: FixtureName): Promise<PemDir> {
  return createPemDir({ ...(await pki.fixture(name)), caPem: pki.caPem });
}

interface Shards {
  readonly shards: readonly {
    readonly shard: string;
    readonly state: string;
    readonly epoch: string;
  }[];
}

test('a reader sees a real shard over mutual TLS, through its death and return', async () => {
  const pki = await mintPki();
  await using folder = createTempDir('dashboard');
  await using shardFiles = await pems(pki, 'shard');
  await using readerFiles = await pems(pki, 'readonly');
  await using clusterFiles = await pems(pki, 'cluster');
  await using lease = await leasePort();
  const shardArgs = [
    `--listen=127.0.0.1:${lease.port}`,
    `--data-dir=${folder.path}`,
    '--fake-provider',
    '--seed-machines=20',
    ...tlsFlags(shardFiles),
  ];
  let shard = await startShardProcess(shardArgs);
  await using dashboard = await launch([
    `--shard=shard-0=127.0.0.1:${lease.port}`,
    ...tlsFlags(readerFiles),
  ]);
  try {
    const [, address = ''] = await dashboard.waitForLine(SERVING);
    const ask = async <T>(view: string): Promise<T> => {
      const { status, body } = await http({ url: `http://${address}/api/v1/${view}` });
      assert.equal(status, 200, body);
      return JSON.parse(body) as T;
    };
    const shardIs = (state: string): Promise<Shards['shards'][number]> =>
      eventually(
        async () => {
          const { shards } = await ask<Shards>('shards');
          return shards.find((each) => each.state === state);
        },
        { what: `the shard is ${state}` },
      );
    await shardIs('live');
    const material = tlsFromFlags({
      cert: clusterFiles.certFile,
      key: clusterFiles.keyFile,
      ca: clusterFiles.caFile,
    });
    assert.ok(material instanceof TlsMaterial);
    await using operator = startOperator('c-1', () => `127.0.0.1:${lease.port}`, material);
    operator.cluster.want(3);
    const decision = await eventually(
      async () => {
        const { decisions } = await ask<{ decisions: { cluster: string; kind: string }[] }>('now');
        return decisions.at(-1);
      },
      { what: 'a decision is shown' },
    );
    assert.deepEqual([decision.cluster, decision.kind], ['c-1', 'Bootstrap']);
    const { epoch } = await shardIs('live');
    await shard.process.kill();
    await shardIs('stale');
    shard = await startShardProcess(shardArgs);
    const again = await shardIs('live');
    assert.equal(Number(again.epoch), Number(epoch) + 1);
    const { body } = await http({ url: `http://${address}/metrics` });
    assert.match(body, /^bigfleet_transport_insecure 0$/m);
    assert.match(body, /^bigfleet_build_info\{component="dashboard",.*\} 1$/m);
    assert.deepEqual(await dashboard.stop(), { kind: 'code', code: 0 });
  } finally {
    await shard[Symbol.asyncDispose]();
  }
});

test('a certificate that is no reader’s is refused before anything is opened', async () => {
  const pki = await mintPki();
  for (const name of ['admin', 'shard', 'cluster', 'twoIdentities'] as const) {
    await using files = await pems(pki, name);
    await using refused = await launch(['--shard=shard-0=127.0.0.1:1', ...tlsFlags(files)]);
    assert.deepEqual(await refused.waitExit(), { kind: 'code', code: 1 }, name);
    assert.match(
      refused.output.text(),
      /bigfleet dashboard: identity_denied: .*bigfleet:\/\/readonly only/,
    );
  }
});

test('a port in use is refused with its holder, and the way out', async () => {
  await using first = await launch(['--coordinator=127.0.0.1:1']);
  const [, address = ''] = await first.waitForLine(SERVING);
  await using second = await startProcess({
    name: 'second dashboard',
    command: process.execPath,
    args: [MAIN, 'dashboard', `--listen=${address}`],
  });
  assert.deepEqual(await second.waitExit(), { kind: 'code', code: 1 });
  const output = second.output.text();
  assert.match(output, new RegExp(`\\(pid ${first.pid}\\) uses this port; .*--listen`));
  assert.match(output, /nothing to show: name shards with --shard/);
});
