// Proves the operator's side of mutual TLS on real processes: the shard is believed only under the name
// and identity that the flags demand, and a refusal is an error that names its reason while the process
// goes on trying.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { startShardProcess } from '../shard/shard-process.ts';
import { createPemDir, createTempDir, eventually, mintPki } from '../toolkit/index.ts';
import { start } from './cluster-processes.ts';
import { KubeApi } from './kube-api.ts';

test('a session over mTLS, and a shard that is another one', async () => {
  const pki = await mintPki();
  await using folder = createTempDir('operator-tls');
  await using shardFiles = await createPemDir(await pki.fixture('shard'));
  await using ownFiles = await createPemDir(await pki.fixture('cluster'));
  await using api = await new KubeApi().start();
  await using shard = await startShardProcess([
    `--data-dir=${path.join(folder.path, 'shard')}`,
    '--fake-provider',
    `--tls-cert=${shardFiles.certFile}`,
    `--tls-key=${shardFiles.keyFile}`,
    `--tls-ca=${shardFiles.caFile}`,
  ]);
  const argv = [
    '--cluster-id=c-1',
    `--shard-addr=${shard.address}`,
    `--kubeconfig=${api.kubeconfig}`,
    `--tls-cert=${ownFiles.certFile}`,
    `--tls-key=${ownFiles.keyFile}`,
    `--tls-ca=${ownFiles.caFile}`,
  ];
  await using good = await start('operator', argv);
  await eventually(async () => (await good.metric('bigfleet_operator_session_connected')) === 1, {
    what: 'connected',
    details: () => good.process.output.text(),
  });
  assert.equal(await good.metric('bigfleet_transport_insecure'), 0);
  await good.process.stop();

  await using other = await start('operator', [...argv, '--shard-id=another']);
  await other.process.waitForLine(
    /msg="session ended, reconnecting" .*bigfleet:\/\/shard\/another/,
  );
  await using unnamed = await start('operator', [...argv, '--shard-server-name=not.in.it']);
  await unnamed.process.waitForLine(/msg="session ended, reconnecting" .*not\.in\.it/);
  await using foreign = await start('operator', [
    ...argv.filter((each) => !each.startsWith('--cluster-id')),
    '--cluster-id=c-2',
  ]);
  await foreign.process.waitForLine(
    /level=ERROR msg="session ended, reconnecting" .*PERMISSION_DENIED/,
  );
  for (const each of [other, unnamed, foreign]) assert.equal(each.process.exit, undefined);
});
