// Proves who may do what at a shard under mutual TLS, over real handshakes: a cluster its own
// session, readers the status, an administrator the rails, and nobody anything else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Channel,
  createClient,
  RpcError,
  Shard,
  ShardAdmin,
  ShardQuery,
  tlsFromFlags,
  TlsMaterial,
} from '@bigfleet/wire';
import {
  createPemDir,
  createTempDir,
  type FixtureName,
  http,
  mintPki,
  type PemDir,
} from '../toolkit/index.ts';
import { dialShard, startShardProcess } from './shard-process.ts';

type Call = 'session' | 'status' | 'pause';

/** OK, or the code of the refusal. */
const MATRIX: readonly (readonly [FixtureName, Readonly<Record<Call, string>>])[] = [
  ['cluster', row('OK', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['otherCluster', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['clusterWrongCn', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['readonly', row('PERMISSION_DENIED', 'OK', 'PERMISSION_DENIED')],
  ['admin', row('PERMISSION_DENIED', 'OK', 'OK')],
  ['shard', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['twoIdentities', row('PERMISSION_DENIED', 'PERMISSION_DENIED', 'PERMISSION_DENIED')],
  ['expired', row('UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE')],
  ['wrongCa', row('UNAVAILABLE', 'UNAVAILABLE', 'UNAVAILABLE')],
];

function row(session: string, status: string, pause: string): Readonly<Record<Call, string>> {
  return { session, status, pause };
}

async function outcomeOf(channel: Channel, call: Call): Promise<string> {
  try {
    if (call === 'status') await createClient(ShardQuery, channel).getShardStatus({});
    else if (call === 'pause') {
      await createClient(ShardAdmin, channel).setActuation({ paused: true, reason: 'a test' });
    } else await openSession(channel);
    return 'OK';
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error.code;
  }
}

/** Says hello as c-1 and waits for the answer. */
async function openSession(channel: Channel): Promise<void> {
  const leave = Promise.withResolvers<void>();
  const frames = (async function* () {
    const value = { clusterId: 'c-1', protocolVersion: 'v1alpha1', extensions: [] };
    yield { payload: { case: 'hello' as const, value } };
    await leave.promise;
  })();
  try {
    for await (const { payload } of createClient(Shard, channel).session(frames)) {
      assert.equal(payload.case, 'ack');
      return;
    }
  } finally {
    leave.resolve();
  }
}

function materialOf({ certFile, keyFile, caFile }: PemDir): TlsMaterial {
  const material = tlsFromFlags({ cert: certFile, key: keyFile, ca: caFile });
  assert.ok(material instanceof TlsMaterial);
  return material;
}

test('every role gets what is its own, and a denial is counted and logged', async () => {
  const pki = await mintPki();
  await using folder = createTempDir('shard-identity');
  await using files = await createPemDir(await pki.fixture('shard'));
  await using shard = await startShardProcess([
    `--data-dir=${folder.path}`,
    '--fake-provider',
    `--tls-cert=${files.certFile}`,
    `--tls-key=${files.keyFile}`,
    `--tls-ca=${files.caFile}`,
    '--require-tls',
    '--require-session-cn',
  ]);
  for (const [name, expected] of MATRIX) {
    const leaf = await pki.fixture(name);
    await using own = await createPemDir({ ...leaf, caPem: pki.caPem });
    for (const call of ['session', 'status', 'pause'] as const) {
      const channel = dialShard(shard.address, materialOf(own));
      assert.equal(await outcomeOf(channel, call), expected[call], `${name}: ${call}`);
      channel.close();
    }
  }
  const { body } = await http({ url: `http://${shard.metricsAddress}/metrics` });
  assert.match(body, /^bigfleet_transport_insecure 0$/m);
  assert.match(body, /^bigfleet_shard_session_identity_rejected_total [1-9]/m);
  assert.match(body, /^bigfleet_shard_actuation_paused 1$/m);
  assert.match(body, /^bigfleet_tls_certificate_expiry_timestamp_seconds \d/m);
  const output = shard.process.output.text();
  assert.match(output, /operator session identity rejected/);
  assert.match(output, /shard rejected read identity/);
});
