// Proves bigfleetctl over real processes: what a coordinator, a shard and a kit provider say through
// it, that a pause is one, that a Failed machine is reset at its provider and then used, and what
// doctor's exit code says of a fleet that is well and of one whose shard is gone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MachineState } from '@bigfleet/wire';
import { machinesOf } from '../shard/query.ts';
import { eventually } from '../toolkit/index.ts';
import { Installation } from './installation.ts';

/** The id of the one machine, once it is in this state. */
function untilOneIs({ shard, operator }: Installation, state: MachineState): Promise<string> {
  return eventually(
    async () => {
      operator.cluster.nudge();
      const [machine] = (await machinesOf(shard.address)).values();
      return machine?.state === state ? machine.machineId : undefined;
    },
    { what: `a machine in state ${state}`, everyMs: 200 },
  );
}

async function looking(fleet: Installation, machine: string): Promise<void> {
  const [shards, machines, explained] = await Promise.all([
    fleet.ctl('list-shards'),
    fleet.ctl('get machines -o json'),
    fleet.ctl(`explain machine ${machine}`),
  ]);
  assert.match(shards, /^SHARD +ADDRESS +REGISTERED +LAST_HEARTBEAT\nshard-0 +127\.0\.0\.1:/);
  assert.ok(machines.includes(machine), machines);
  assert.match(machines, /Failed/i);
  assert.match(explained, /blue/);
}

async function pausing(fleet: Installation): Promise<void> {
  const paused = await fleet.ctl('pause --shard=shard-0 --reason=smoke');
  assert.match(paused, /^paused shard shard-0 \(held by: runtime; survives restarts\)/);
  const { code, out } = await fleet.tryCtl('doctor');
  assert.equal(code, 1, out);
  assert.match(out, /warning +shard shard-0: .*paused.*smoke/);
  assert.match(out, /warning +shard shard-0: has Failed machines: 1/);
  assert.match(await fleet.ctl('resume --shard=shard-0 --reason=smoke'), /shard-0/);
}

async function resetting(fleet: Installation, machine: string): Promise<void> {
  fleet.stopRefusing();
  const done = await fleet.ctl(`provider reset-failed --provider=lab --machine=${machine}`);
  assert.equal(done, `reset machine ${machine}: Speculative\n`);
  await untilOneIs(fleet, MachineState.CONFIGURED);
}

test('look, pause, resume, reset a Failed machine, and doctor', async () => {
  await using fleet = await Installation.start();
  fleet.operator.cluster.want(1);
  const machine = await untilOneIs(fleet, MachineState.FAILED);
  await looking(fleet, machine);
  await pausing(fleet);
  await resetting(fleet, machine);

  const well = await fleet.tryCtl('doctor');
  assert.equal(well.code, 0, well.out);
  await fleet.shard.process.kill();
  const ill = await fleet.tryCtl('doctor');
  assert.equal(ill.code, 2, ill.out);
  assert.match(ill.out, /error +shard shard-0: .*\[shard-reachable\]/);
});
