// Proves what the verbs that ask the coordinator print, in every form, and what they ask for.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startFakeCoordinator } from './testing/fake-coordinator.ts';
import { goldenScript } from './testing/golden.ts';
import { runCtl } from './testing/run-ctl.ts';

const coordinator = await startFakeCoordinator();
after(() => coordinator[Symbol.asyncDispose]());

const run = async (argv: readonly string[]) => {
  const { code, output, error } = await runCtl([`--coordinator=${coordinator.address}`, ...argv]);
  // The port is picked by the system.
  const fixed = (text: string): string => text.replaceAll(coordinator.address, 'coordinator:7790');
  return { code, output: fixed(output), error: fixed(error) };
};

goldenScript(new URL('./testdata/coordinator.txt', import.meta.url), run, 50);

const requests: readonly (readonly [command: string, call: string])[] = [
  [
    'assign-domain --key=a --value=b --shard=c',
    'assignDomain {"topologyKey":"a","topologyValue":"b","shardId":"c","disputedSubject":""}',
  ],
  [
    'settle --machine=m --shard=c',
    'assignDomain {"topologyKey":"","topologyValue":"","shardId":"c","disputedSubject":"machine m"}',
  ],
  ['unassign-domain --key=a --value=b', 'unassignDomain {"topologyKey":"a","topologyValue":"b"}'],
  ['remove-shard --shard=shard-1', 'removeShard {"shardId":"shard-1","force":false}'],
  ['remove-shard --shard=shard-0 --yes', 'removeShard {"shardId":"shard-0","force":true}'],
  [
    'set-quota --provider=p --region=r --slice=s=3',
    'setQuota {"provider":"p","region":"r","perShard":{"s":3}}',
  ],
  [
    'set-quota --provider=p --region=r --clear',
    'setQuota {"provider":"p","region":"r","perShard":{}}',
  ],
  ['remove-shard --shard=shard-2', 'removeShard {"shardId":"shard-2","force":false}'],
  [
    'register-provider --name=n --address=a:1 --region=r --shard=x --shard=y --declared-quota=9',
    'registerProvider {"provider":{"$typeName":"bigfleet.v1alpha1.ProviderEntry","name":"n",' +
      '"address":"a:1","region":"r","declaredQuota":9,"shards":["x","y"]}}',
  ],
  ['deregister-provider --name=n --force', 'deregisterProvider {"name":"n","force":true}'],
  [
    'bind-cluster --cluster=c --shard=s',
    'bindCluster {"clusterId":"c","shardId":"s","force":false}',
  ],
  ['unbind-cluster --cluster=c', 'unbindCluster {"clusterId":"c"}'],
];
for (const [command, call] of requests) {
  test(`${command} asks ${call.split(' ')[0]}`, async () => {
    coordinator.calls.length = 0;
    const { code, error } = await run(command.split(' '));
    assert.deepEqual([code, coordinator.calls], [0, [call]], error);
  });
}
