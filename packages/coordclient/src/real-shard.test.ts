// Proves the client and two real shards together, over the wire form of everything: reports say what
// the shards are, and a transfer that a coordinator drives by instructions moves machines from one to
// the other, with neither of them ever owning what the other acts on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { State } from '@bigfleet/engine';
import { FakeProvider } from '@bigfleet/shard/testing';
import { fourCoresIn, OwnedShard } from '@bigfleet/shard/testing/owned-shard';
import { createLogger } from '@bigfleet/telemetry';
import { InstructAck_Outcome, TransferPhase, TransferState } from '@bigfleet/wire';
import { type CoordClient, startCoordClient } from './coord-client.ts';
import { ClientStage } from './testing/client-stage.ts';
import { instruction, SELECTOR, transfer } from './testing/instructions.ts';
import { ScriptedCoordinator } from './testing/scripted-coordinator.ts';

const ADDRESS = SELECTOR.providerAddress;

class Fleet {
  readonly stage = new ClientStage();
  readonly fake: FakeProvider;
  readonly clients: CoordClient[] = [];
  readonly shards: OwnedShard[] = [];

  constructor() {
    this.fake = new FakeProvider({ runtime: this.stage.time.runtime, latencyMs: 500 });
  }

  /** A shard, and the coordinator that only it talks to: one script per shard reads easier. */
  async join(shardId: string): Promise<{ shard: OwnedShard; coordinator: ScriptedCoordinator }> {
    const { stage, fake } = this;
    const { time, network } = stage;
    const shard = await new OwnedShard({
      time,
      network,
      shardId,
      fakes: new Map([[ADDRESS, fake]]),
      flags: new Map([['alpha', ADDRESS]]),
      isSharedByFlag: true,
    }).start();
    const coordinator = new ScriptedCoordinator(network, `coord-of-${shardId}:7790`);
    this.shards.push(shard);
    this.clients.push(
      await startCoordClient({
        runtime: time.runtime,
        logger: createLogger({ clock: time.runtime.clock, sink: shard.log }),
        registry: shard.registry,
        control: shard.control,
        coordinatorAddress: coordinator.address,
        shardAddress: `${shardId}:7780`,
        intervalMs: 1_000,
        termFile: shard.disk.file('coordinator-term'),
        resolve: async (address) => [{ address }],
        connect: ({ address }) => network.connect({ from: shardId, to: address }),
      }),
    );
    return { shard, coordinator };
  }

  run(ms: number): Promise<void> {
    return this.stage.time.runFor(ms);
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.stop();
    for (const shard of this.shards) await shard.stop();
    this.stage.network.close();
  }
}

test('a transfer by instructions: PREPARE, CLAIM, RELEASE, and every acknowledgement', async () => {
  const fleet = new Fleet();
  for (const id of ['m1', 'm2', 'm3']) fleet.fake.addIdle(fourCoresIn('zone-a', id));
  const donor = await fleet.join('s1');
  const recipient = await fleet.join('s2');
  const home = { revision: 1n, complete: true, ownsUnmatchedProviders: [ADDRESS] };
  donor.coordinator.answer({ assignment: home });
  recipient.coordinator.answer({ assignment: { revision: 1n, complete: true } });
  await fleet.run(15_000);
  const report = donor.coordinator.reports.at(-1);
  assert.deepEqual(
    [report?.assignmentRevision, report?.summary?.idleMachines, report?.providerShared],
    [1n, 3, true],
  );
  assert.deepEqual(report?.summary?.perInstanceTypeCounts, { small: 3 });
  assert.equal(report?.summary?.providerAddress, ADDRESS);
  const [provider] = report?.summary?.providers ?? [];
  assert.deepEqual(
    [provider?.name, provider?.source, provider?.shared, provider?.healthy, provider?.idleMachines],
    ['alpha', 'flag', true, true, 3],
  );

  donor.coordinator.answer({ instructions: [instruction('p', transfer(TransferPhase.PREPARE))] });
  await fleet.run(3_000);
  const [ack] = donor.coordinator.reports.flatMap(({ instructionAcks }) => instructionAcks);
  assert.deepEqual(
    [ack?.outcome, ack?.machineIds, ack?.covered?.resources],
    [InstructAck_Outcome.ACCEPTED, ['m1', 'm2'], { cpu: '8' }],
  );
  const [status] = donor.coordinator.reports.at(-1)?.transfers ?? [];
  assert.deepEqual([status?.state, status?.machineIds], [TransferState.FROZEN, ['m1', 'm2']]);
  assert.equal(donor.coordinator.reports.at(-1)?.summary?.idleMachines, 1);

  const machineIds = ['m1', 'm2'];
  const order = (id: string, phase: number) => instruction(id, transfer(phase, { machineIds }));
  recipient.coordinator.answer({ instructions: [order('c', TransferPhase.CLAIM)] });
  donor.coordinator.answer({ instructions: [order('r', TransferPhase.RELEASE)] });
  await fleet.run(12_000);
  assert.deepEqual(
    machineIds.map((id) => donor.shard.stateOf(id)),
    [undefined, undefined],
  );
  assert.deepEqual(
    machineIds.map((id) => recipient.shard.stateOf(id)),
    [State.Idle, State.Idle],
  );
  const states = [donor, recipient].map(
    ({ coordinator }) => coordinator.reports.at(-1)?.transfers[0]?.state,
  );
  assert.deepEqual(states, [TransferState.RELEASED, TransferState.CLAIMED]);
  assert.ok(donor.shard.disk.contents.has('coordinator-term'));
  await fleet.stop();
});

test('what a shard is short of is reported, oldest word of the ledger, at most a hundred rows', async () => {
  const fleet = new Fleet();
  const { shard, coordinator } = await fleet.join('s1');
  coordinator.answer({ assignment: { revision: 1n, complete: true } });
  await shard.demand('blue', 8, 2_000);
  await fleet.run(80_000);
  const [shortfall] = coordinator.reports.at(-1)?.shortfalls ?? [];
  assert.deepEqual(
    [shortfall?.priority, shortfall?.deficit?.resources, shortfall?.minUnit?.resources],
    [2_000, { cpu: '8' }, { cpu: '1' }],
  );
  assert.equal(shortfall?.escalate, true);
  assert.deepEqual(coordinator.reports.at(-1)?.clusterIds, []);
  await shard.demand('blue', 0);
  await fleet.run(20_000);
  assert.deepEqual(
    coordinator.reports.at(-1)?.shortfalls,
    [],
    'satisfied is said by saying nothing',
  );
  await fleet.stop();
});

test('a shard whose coordinator never answers works, is ready and stops as if there were none', async () => {
  const fleet = new Fleet();
  fleet.fake.addIdle(fourCoresIn('zone-a', 'm1'));
  const { shard, coordinator } = await fleet.join('s1');
  coordinator.answer({
    assignment: { revision: 1n, complete: true, ownsUnmatchedProviders: [ADDRESS] },
  });
  await fleet.run(2_000);
  coordinator.script = () => undefined;
  await shard.demand('blue', 4);
  await fleet.run(30_000);
  assert.equal(shard.stateOf('m1'), State.Configured);
  assert.deepEqual(shard.shard.readiness.state(), { ready: true });
  const stoppedAtMs = shard.shard.stop().then(() => fleet.stage.time.nowMs);
  const askedAtMs = fleet.stage.time.nowMs;
  await fleet.run(30_000);
  assert.ok((await stoppedAtMs) - askedAtMs <= 100, 'nothing waits for the coordinator');
  await fleet.stop();
});
