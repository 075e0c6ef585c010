// Proves who may do what at a provider under mutual TLS, over real handshakes, that denied calls
// change nothing, and that a renewed certificate is served without a restart.

import assert from 'node:assert/strict';
import { connect } from 'node:tls';
import { test } from 'node:test';
import { MachineState, RpcError, tlsFromFlags, TlsMaterial } from '@bigfleet/wire';
import {
  createPemDir,
  eventually,
  type FixtureName,
  mintPki,
  type PemDir,
  type TestPki,
} from '../toolkit/index.ts';
import { dial, type ProviderClient, startProvider } from './child.ts';

const LOCAL = { dnsNames: ['localhost'], ips: ['127.0.0.1'] } as const;

type Call = 'create as shard-0' | 'create as shard-1' | 'create as nobody' | 'list' | 'reset';

/** OK, or the code of the refusal. */
const MATRIX: readonly (readonly [FixtureName, Readonly<Record<Call, string>>])[] = [
  ['shard', row('OK', 'PERMISSION_DENIED', 'OK', 'PERMISSION_DENIED')],
  ['withSpiffe', row('OK', 'PERMISSION_DENIED', 'OK', 'PERMISSION_DENIED')],
  ['otherShard', row('PERMISSION_DENIED', 'OK', 'OK', 'PERMISSION_DENIED')],
  ['admin', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'OK', 'NOT_FOUND')],
  ['readonly', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'OK', 'PERMISSION_DENIED')],
  ['cluster', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['twoIdentities', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['identityInCommonName', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['expired', row('UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE')],
  ['wrongCa', row('UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE')],
  ['selfSigned', row('UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE')],
];

function row(
  asShard0: string,
  asShard1: string,
  list: string,
  reset: string = 'PERMISSION_DENIED',
): Readonly<Record<Call, string>> {
  return {
    'create as shard-0': asShard0,
    'create as shard-1': asShard1,
    'create as nobody': asShard0 === 'UNAVAILABLE' ? 'UNAVAILABLE' : 'PERMISSION_DENIED',
    list,
    reset,
  };
}

function materialOf({ certFile, keyFile, caFile }: PemDir): TlsMaterial {
  const material = tlsFromFlags({ cert: certFile, key: keyFile, ca: caFile });
  assert.ok(material instanceof TlsMaterial);
  return material;
}

async function clientOf(
  pki: TestPki,
  name: FixtureName,
  address: string,
): Promise<ProviderClient & AsyncDisposable> {
  const leaf = await pki.fixture(name);
  // A certificate of another CA still verifies the server against the right one.
  const files = await createPemDir({ ...leaf, caPem: pki.caPem });
  const client = dial(address, {
    tls: materialOf(files),
    serverIdentity: { kind: 'host-name-only' },
  });
  return {
    ...client,
    [Symbol.asyncDispose]: async () => {
      client.channel.close();
      await files.remove();
    },
  };
}

let sequenceNumber = 0n;

async function outcomeOf(client: ProviderClient, call: Call, machineId: string): Promise<string> {
  const shardId = { 'create as shard-0': 'shard-0', 'create as shard-1': 'shard-1' }[
    call as string
  ];
  sequenceNumber += 1n;
  try {
    if (call === 'list') await client.calls.list({});
    else if (call === 'reset') await client.admin.resetFailed({ machineId: 'unknown' });
    else {
      const token = shardId === undefined ? {} : { shardId, shardEpoch: 1n, sequenceNumber };
      await client.calls.create({ machineId, ...token });
    }
    return 'OK';
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error.code;
  }
}

async function servedCertificate(address: string, files: PemDir, pki: TestPki): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const [host = '', port = ''] = address.split(':');
  const leaf = await pki.fixture('shard');
  const socket = connect({
    host,
    port: Number(port),
    ca: pki.caPem,
    cert: leaf.certPem,
    key: leaf.keyPem,
    servername: 'localhost',
    ALPNProtocols: ['h2'],
  });
  socket.once('secureConnect', () => {
    resolve(socket.getPeerX509Certificate()?.serialNumber ?? `nothing from ${files.path}`);
    socket.destroy();
  });
  socket.once('error', reject);
  return promise;
}

test('roles, ids, and a certificate that is renewed meanwhile', async () => {
  const pki = await mintPki();
  await using files = await createPemDir(await pki.ca.leaf(LOCAL));
  await using provider = await startProvider([
    '--addr=127.0.0.1:0',
    `--tls-cert=${files.certFile}`,
    `--tls-key=${files.keyFile}`,
    `--tls-ca=${files.caFile}`,
    '--require-tls',
  ]);
  assert.match(provider.process.output.text(), /security=mTLS/);
  const before = await servedCertificate(provider.address, files, pki);
  await files.rotate(await pki.ca.leaf(LOCAL));

  await using reader = await clientOf(pki, 'readonly', provider.address);
  const { machines } = await reader.calls.list({});
  for (const [index, [name, expected]] of MATRIX.entries()) {
    const machineId = machines[index]?.id ?? '';
    await using client = await clientOf(pki, name, provider.address);
    for (const call of Object.keys(expected) as Call[]) {
      assert.equal(await outcomeOf(client, call, machineId), expected[call], `${name}: ${call}`);
    }
    const mayCreate = Object.values(expected).slice(0, 2).includes('OK');
    const { state } = await reader.calls.get({ id: machineId });
    assert.equal(state !== MachineState.SPECULATIVE, mayCreate, `${name} changed the machine`);
  }
  assert.match(
    provider.process.output.text(),
    /identity denied.*rpc=\/bigfleet\.v1alpha1\.CapacityProvider\/Create.*bigfleet:\/\/readonly/,
  );
  using plain = dial(provider.address);
  assert.equal(await outcomeOf(plain, 'list', ''), 'UNAVAILABLE', 'no plaintext on this port');

  await eventually(async () => (await servedCertificate(provider.address, files, pki)) !== before, {
    what: 'the new certificate is served',
    everyMs: 200,
  });
});
