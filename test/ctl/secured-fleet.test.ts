// Proves identity between real processes under mutual TLS: a shard reports under its own name and
// under no other, a reader may look and not pause, a shard tells nothing to a server that is no
// coordinator; and that with the coordinator gone a restarted shard still dials the providers that the
// registry once named.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import { SecuredFleet } from './secured-fleet.ts';

const REJECTED =
  /level=ERROR msg="coordinator rejected shard identity".* asserted_id=shard-1 presented_identity=bigfleet:\/\/shard\/shard-0/;

/** What the provider offers, as the shard lists it. */
async function untilListed(fleet: SecuredFleet): Promise<void> {
  const { shard } = fleet.asAdmin();
  await eventually(
    async () => {
      const { providers, machinesByState } = await shard.getShardStatus({});
      return providers[0]?.name === 'lab' && machinesByState['Speculative'] === 1;
    },
    { what: 'the machine of the registered provider', everyMs: 100 },
  );
}

async function impostors(fleet: SecuredFleet): Promise<void> {
  const [foreign, astray] = await Promise.all([
    fleet.startShard('shard-1', { certificateOf: 'shard-0' }),
    fleet.startShard('shard-2', { coordinator: fleet.shardAddress }),
  ]);
  await using stack = new AsyncDisposableStack();
  stack.use(foreign);
  stack.use(astray);
  await foreign.waitForLine(/msg="ReportShard failed".*identity_denied/);
  await astray.waitForLine(/msg="ReportShard failed".*bigfleet:\/\/admin/);
  assert.match(fleet.coordinatorOutput(), REJECTED);
}

async function reader(fleet: SecuredFleet): Promise<void> {
  const { code, out, err } = await fleet.ctl('readonly', 'pause --shard=shard-0 --reason=try');
  assert.equal(code, 1, out);
  assert.match(err, /identity_denied: .*SetActuation needs admin; presented bigfleet:\/\/readonly/);
  const { actuation } = await fleet.asAdmin().shard.getShardStatus({});
  assert.equal(actuation?.paused, false);
}

test('identity over mTLS, and a fleet whose coordinator is gone', async () => {
  await using fleet = await SecuredFleet.start();
  const { registry, coordinator } = fleet.asAdmin();
  const provider = { name: 'lab', address: fleet.providerAddress, region: 'lab' };
  await registry.registerProvider({ provider });
  await untilListed(fleet);
  await reader(fleet);
  await impostors(fleet);
  const { shards } = await coordinator.listShards({});
  assert.deepEqual(
    shards.map(({ shardId, lastHeartbeatUnixNs }) => [shardId, lastHeartbeatUnixNs > 0n]),
    [['shard-0', true]],
  );

  await fleet.stopCoordinator();
  await fleet.restartShard();
  await untilListed(fleet);
});
