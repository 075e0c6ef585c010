// Proves each step of coordinator §6.1 on the production ledger over the engine in memory: order,
// self-registration, fencing by epoch, replacement, acks, bindings, releases, homes, the budget, and
// confirmed replies.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { InstructionPayload } from '../instructions/instruction-queue.ts';
import { unassignDomain } from '../registry/domains.ts';
import { makeReport, ReportWorld } from './testing/report-world.ts';

const notice: InstructionPayload = {
  case: 'unassignDomain',
  value: {
    $typeName: 'bigfleet.v1alpha1.UnassignDomain',
    topologyKey: 'zone',
    topologyValue: 'z',
  },
};

function provider(address: string, isShared = false, source = 'flag'): object {
  return { name: address, address, shared: isShared, source, totalMachines: 3 };
}

describe('a report that is refused', () => {
  for (const shardId of ['', 'no spaces', 'x'.repeat(254)]) {
    it(`because of the shard id ${JSON.stringify(shardId.slice(0, 12))}`, async () => {
      const world = await ReportWorld.open();
      const outcome = await world.handle(makeReport({ shardId }));
      assert.equal(outcome.kind === 'refused' && outcome.status, 'INVALID_ARGUMENT');
      assert.equal(world.ledger.state.shards().length, 0);
    });
  }

  it('because one of the same shard is being handled: ABORTED, and the first goes on', async () => {
    const world = await ReportWorld.open();
    const first = world.desk.handler.handle(
      makeReport({ shardId: 's', shardEpoch: 1n, cycle: 1n }),
    );
    const other = world.desk.handler.handle(
      makeReport({ shardId: 't', shardEpoch: 1n, cycle: 1n }),
    );
    const second = await world.handle(makeReport({ shardId: 's', shardEpoch: 1n, cycle: 2n }));
    assert.equal(second.kind === 'refused' && second.status, 'ABORTED');
    assert.deepEqual([(await first).kind, (await other).kind], ['ack', 'ack']);
    assert.equal((await world.report('s', { cycle: 2n })).acknowledged, true);
  });

  it('because leadership is gone when the answer is ready: no answer leaves', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    world.store.disk.depose();
    const outcome = await world.handle(makeReport({ shardId: 's', shardEpoch: 1n, cycle: 2n }));
    assert.deepEqual(outcome, {
      kind: 'refused',
      status: 'FAILED_PRECONDITION',
      message: 'coordinator: not leader',
    });
    assert.equal(world.observer.lines.at(-1), 'report not_leader');
  });
});

describe('order of reports', () => {
  const rows = [
    { name: 'the same report again', epoch: 2n, cycle: 5n, isNews: false },
    { name: 'an older cycle', epoch: 2n, cycle: 4n, isNews: false },
    { name: 'an older epoch with a higher cycle (zombie)', epoch: 1n, cycle: 99n, isNews: false },
    { name: 'the next cycle', epoch: 2n, cycle: 6n, isNews: true },
    { name: 'a restart: higher epoch, cycle from 1', epoch: 3n, cycle: 1n, isNews: true },
  ];
  for (const { name, epoch, cycle, isNews } of rows) {
    it(`${name} is ${isNews ? 'taken' : 'ignored'}`, async () => {
      const world = await ReportWorld.open();
      await world.report('s', { shardEpoch: 2n, cycle: 5n, summary: { totalMachines: 1 } });
      world.desk.queue.enqueue('s', notice, '');
      const late = { shardEpoch: epoch, cycle, summary: { totalMachines: 2 } };
      const ack = await world.report('s', late);
      assert.equal(ack.acknowledged, isNews);
      assert.equal(ack.coordinatorTerm, world.ledger.term);
      assert.equal(ack.instructions.length, isNews ? 1 : 0);
      assert.equal(world.desk.soft.picture('s')?.summary.totalMachines, isNews ? 2 : 1);
      assert.equal(world.observer.lines.at(-1), isNews ? 'report accepted' : 'report stale');
    });
  }

  it('an epoch below the durable one is stale also for a leader that never heard the shard', async () => {
    const world = await ReportWorld.open();
    await world.report('s', { shardEpoch: 7n });
    await world.elect();
    const ack = await world.report('s', { shardEpoch: 6n, cycle: 50n });
    assert.equal(ack.acknowledged, false);
    assert.equal(world.desk.soft.picture('s'), undefined);
    assert.match(world.logLines.lines.join('\n'), /level=ERROR msg="stale shard epoch"/);
  });
});

describe('registration', () => {
  it('commits AddShard and the epoch inside the call; the address is of first sight', async () => {
    const world = await ReportWorld.open();
    await world.report('s', { shardEpoch: 4n, shardAddress: 'one:7780' });
    await world.report('s', { shardEpoch: 5n, shardAddress: 'two:7780' });
    const row = world.ledger.state.shard('s');
    assert.equal(row?.address, 'one:7780');
    assert.equal(row?.maxEpoch, 5n);
    assert.ok((row?.registeredAtMs ?? 0) > 1_700_000_000_000);
  });

  it('a failed commit is UNAVAILABLE, changes nothing soft, and the same report works later', async () => {
    const world = await ReportWorld.open();
    world.store.commitFaults.push('failed');
    const report = makeReport({ shardId: 's', shardEpoch: 1n, cycle: 1n });
    const outcome = await world.handle(report);
    assert.equal(outcome.kind === 'refused' && outcome.status, 'UNAVAILABLE');
    assert.match(
      outcome.kind === 'refused' ? outcome.message : '',
      /^coordinator: register shard: /,
    );
    assert.equal(world.desk.soft.picture('s'), undefined);
    assert.equal((await world.handle(report)).kind, 'ack');
  });

  it('an epoch that cannot be made durable refuses the report', async () => {
    const world = await ReportWorld.open();
    await world.report('s', { shardEpoch: 1n });
    world.store.commitFaults.push('failed');
    const restarted = makeReport({ shardId: 's', shardEpoch: 2n, cycle: 1n });
    const outcome = await world.handle(restarted);
    assert.equal(outcome.kind === 'refused' && outcome.status, 'UNAVAILABLE');
    assert.equal(world.desk.soft.picture('s')?.report.shardEpoch, 1n);
  });

  it('a shard that was removed behind our back starts anew: no old instruction reaches it', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    world.desk.queue.enqueue('s', notice, '');
    await world.apply({ kind: 'RemoveShard', id: 's' });
    const ack = await world.report('s');
    assert.deepEqual(ack.instructions, []);
    assert.equal(ack.acknowledged, true);
  });
});

describe('what a report says', () => {
  it('replaces summary and shortfalls as a whole, also by nothing, and keeps at most 100', async () => {
    const world = await ReportWorld.open();
    const many = Array.from({ length: 120 }, (_, i) => ({ priority: 1_000 - i }));
    await world.report('s', { shortfalls: many });
    assert.equal(world.desk.soft.picture('s')?.shortfalls.length, 100);
    assert.equal(world.desk.soft.picture('s')?.shortfalls.at(-1)?.priority, 901);
    await world.time.runFor(10_000);
    await world.report('s', {});
    assert.deepEqual(world.desk.soft.picture('s')?.shortfalls, []);
    assert.ok((world.desk.soft.picture('s')?.intervalMs ?? 0) >= 10_000);
  });

  it('settles acks, hands statuses to the sagas, and returns what they retired', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    const pending = world.desk.queue.enqueue('s', notice, 'tr-1');
    assert.notEqual(pending, 'full');
    const id = pending === 'full' ? '' : pending.instruction.instructionId;
    assert.equal((await world.report('s')).instructions[0]?.instructionId, id);
    world.sagas.retired = ['tr-0'];
    const ack = await world.report('s', {
      instructionAcks: [{ instructionId: id, outcome: 1 }],
      transfers: [{ transferId: 'tr-0', role: 1, state: 2 }],
    });
    assert.deepEqual(ack.instructions, []);
    assert.deepEqual(ack.retiredTransferIds, ['tr-0']);
    assert.deepEqual(world.sagas.lines, ['ack tr-1 1 0', 'status s tr-0 2']);
    assert.equal(world.observer.count('pending s 1'), 1);
    assert.equal(world.observer.count('pending s 0'), 2);
  });

  it('tells whether it dials something that the registry does not know', async () => {
    const world = await ReportWorld.open();
    await world.report('s', { summary: { providers: [provider('p:1')] } });
    const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0, shards: [] };
    await world.apply({ kind: 'UpsertProvider', entry });
    await world.report('s', { summary: { providers: [provider('p:1')] } });
    await world.report('s', { summary: { providers: [provider('', false, 'fake')] } });
    const notes = world.observer.lines.filter((line) => line.startsWith('unregistered'));
    assert.deepEqual(notes, [
      'unregistered s true',
      'unregistered s false',
      'unregistered s false',
    ]);
  });
});

describe('a shard that knows a newer term', () => {
  it('makes a deposed leader refuse', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    const { handler } = world.desk;
    world.store.disk.depose();
    const report = makeReport({
      shardId: 's',
      cycle: 9n,
      shardEpoch: 1n,
      observedCoordinatorTerm: 9n,
    });
    const outcome = await world.run(handler.handle(report));
    assert.equal(outcome.kind === 'refused' && outcome.status, 'FAILED_PRECONDITION');
    assert.deepEqual(world.raised, []);
  });

  it('makes the true leader campaign above it, once, and change nothing meanwhile', async () => {
    const world = await ReportWorld.open();
    for (const cycle of [1n, 2n]) {
      const init = { shardId: 's', cycle, shardEpoch: 1n, observedCoordinatorTerm: 1_001n };
      const outcome = await world.handle(makeReport(init));
      assert.equal(outcome.kind === 'refused' && outcome.status, 'FAILED_PRECONDITION');
    }
    assert.deepEqual(world.raised, [1_001n]);
    assert.equal(world.ledger.state.shards().length, 0);
  });

  for (const [jump, isBelieved] of [
    [1_000_000n, true],
    [1_000_001n, false],
  ] as const) {
    it(`a jump of ${jump} is ${isBelieved ? '' : 'not '}believed`, async () => {
      const world = await ReportWorld.open();
      const observedCoordinatorTerm = world.ledger.term + jump;
      const outcome = await world.handle(
        makeReport({ shardId: 's', shardEpoch: 1n, cycle: 1n, observedCoordinatorTerm }),
      );
      assert.equal(outcome.kind, isBelieved ? 'refused' : 'ack');
      assert.equal(world.observer.count('term-jump-refused'), isBelieved ? 0 : 1);
    });
  }

  it('REJECTED_STALE makes the leader look at itself before it goes on', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    const looks: number[] = [];
    const confirm = world.store.confirm.bind(world.store);
    world.store.confirm = (leadership) => {
      looks.push(world.ledger.state.clusters().length);
      return confirm(leadership);
    };
    const pending = world.desk.queue.enqueue('s', notice, '');
    const instructionId = pending === 'full' ? '' : pending.instruction.instructionId;
    const instructionAcks = [{ instructionId, outcome: 2 as const }];
    await world.report('s', { instructionAcks, clusterIds: ['c'] });
    assert.deepEqual(looks, [0, 1]);
  });
});

describe('cluster bindings', () => {
  it('first contact wins; the other shard is told, once counted, and nothing moves', async () => {
    const world = await ReportWorld.open();
    await world.report('s', { clusterIds: ['c1', 'c2', 'bad id'] });
    for (let i = 0; i < 3; i++) {
      const ack = await world.report('t', { clusterIds: ['c1'] });
      const [conflict] = ack.clusterConflicts;
      assert.equal(ack.clusterConflicts.length, 1);
      assert.deepEqual(
        [conflict?.clusterId, conflict?.shardId, conflict?.conflictingShardId],
        ['c1', 's', 't'],
      );
    }
    assert.equal(world.ledger.state.cluster('c1')?.shardId, 's');
    assert.equal(world.ledger.state.clusters().length, 2);
    assert.equal(world.observer.count('binding-conflict'), 1);
    assert.equal(world.desk.clusters.conflictingShard('c1'), 't');
    await world.report('t', { clusterIds: [] });
    assert.equal(world.desk.clusters.conflictingShard('c1'), undefined);
  });
});

describe('the budget', () => {
  it('commits at most 8 commands per report; the rest follows with later reports', async () => {
    const world = await ReportWorld.open();
    const clusterIds = Array.from({ length: 20 }, (_, i) => `c${i}`);
    const counts: number[] = [];
    for (let i = 0; i < 4; i++) {
      const before = world.ledger.state.meta.applyIndex;
      await world.report('s', { clusterIds });
      counts.push(world.ledger.state.meta.applyIndex - before);
    }
    assert.deepEqual(counts, [8, 8, 6, 0]);
    assert.equal(world.ledger.state.clusters().length, 20);
  });

  it('ends at a command that cannot be written, and the report is still answered', async () => {
    const world = await ReportWorld.open();
    await world.report('s');
    world.store.commitFaults.push('failed');
    const ack = await world.report('s', { clusterIds: ['c1', 'c2'] });
    assert.equal(ack.acknowledged, true);
    assert.equal(world.ledger.state.clusters().length, 0);
    await world.report('s', { clusterIds: ['c1', 'c2'] });
    assert.equal(world.ledger.state.clusters().length, 2);
  });
});

describe('closing a release', () => {
  const domain = { key: 'zone', value: 'a' };
  const ref = { topologyKey: 'zone', topologyValue: 'a' };

  async function releasing(): Promise<{ world: ReportWorld; revision: bigint }> {
    const world = await ReportWorld.open();
    await world.report('s');
    await world.report('t');
    await world.apply({ kind: 'AssignDomain', domain, shard: 's' });
    const { ledger, desk } = world;
    await world.run(unassignDomain({ ledger, recovery: desk.recovery }, domain));
    return { world, revision: BigInt(ledger.state.domain(domain)?.revision ?? 0) };
  }

  const rows = [
    { name: 'it has not heard of the release yet', behind: 1n, names: false, closes: false },
    { name: 'it still names the domain', behind: 0n, names: true, closes: false },
    { name: 'it knows and no longer names it', behind: 0n, names: false, closes: true },
  ];
  for (const { name, behind, names, closes } of rows) {
    it(`${closes ? 'happens' : 'does not happen'} when ${name}`, async () => {
      const { world, revision } = await releasing();
      const assignmentRevision = revision - behind;
      await world.report('s', { assignmentRevision, releasingDomains: names ? [ref] : [] });
      assert.equal(world.ledger.state.domain(domain) === undefined, closes);
    });
  }

  it('an old shard, which reports no revision, never closes one', async () => {
    const { world } = await releasing();
    await world.report('s', { assignmentRevision: 0n });
    assert.equal(world.ledger.state.domain(domain)?.state, 'RELEASING');
  });

  it('a report of another shard closes nothing', async () => {
    const { world, revision } = await releasing();
    await world.report('t', { assignmentRevision: revision });
    assert.equal(world.ledger.state.domain(domain)?.state, 'RELEASING');
  });
});

describe('homes', () => {
  it('the first shard that reports an address keeps it; host-local ones have none', async () => {
    const world = await ReportWorld.open();
    const local = ['unix:/run/p.sock', '127.0.0.1:9000', 'localhost:9000', '[::1]:9000', ':9000'];
    const addresses = ['p:1', ...local];
    await world.report('t', { summary: { providers: addresses.map((a) => provider(a)) } });
    await world.report('s', { summary: { providers: [provider('p:1', true)] } });
    assert.deepEqual(
      world.ledger.state.homes().map(({ providerAddress, shardId }) => [providerAddress, shardId]),
      [['p:1', 't']],
    );
  });

  describe('of a home that no entry leads to any more', () => {
    const entry = { name: 'p', address: 'p:1', region: 'r', declaredQuota: 0 };
    const dials = { summary: { providers: [provider('p:1', true, 'registry')] } };

    /** t was its home; the entry is for s alone now. */
    async function moved(): Promise<ReportWorld> {
      const world = await ReportWorld.open();
      await world.apply({ kind: 'UpsertProvider', entry: { ...entry, shards: ['t'] } });
      await world.report('t', dials);
      await world.apply({ kind: 'UpsertProvider', entry: { ...entry, shards: ['s'] } });
      return world;
    }

    const rows = [
      { name: 'still dials it', report: dials, isHeard: true, home: 't' },
      { name: 'has let go of it', report: {}, isHeard: true, home: 's' },
      { name: 'may still obey an older leader', report: {}, isHeard: false, home: 't' },
      {
        name: 'dials by flags',
        report: { summary: { providers: [provider('q:1')] } },
        isHeard: true,
        home: 't',
      },
    ];
    for (const { name, report, isHeard, home } of rows) {
      it(`${name}: ${home}`, async () => {
        const world = await moved();
        const observedCoordinatorTerm = isHeard ? world.ledger.term : 0n;
        await world.report('t', { ...report, observedCoordinatorTerm });
        await world.report('s');
        assert.equal(world.ledger.state.home('p:1')?.shardId, home);
      });
    }

    it('was told to dial it again a moment ago: it stays', async () => {
      const world = await moved();
      const heard = { observedCoordinatorTerm: world.ledger.term };
      await world.apply({ kind: 'UpsertProvider', entry: { ...entry, shards: ['t'] } });
      const { assignment } = await world.report('t', heard);
      assert.equal(assignment?.providers[0]?.address, 'p:1');
      await world.apply({ kind: 'UpsertProvider', entry: { ...entry, shards: ['s'] } });
      await world.report('s');
      assert.equal(world.ledger.state.home('p:1')?.shardId, 't');
    });
  });

  it('passes on when the home is removed', async () => {
    const world = await ReportWorld.open();
    await world.report('t', { summary: { providerAddress: 'p:1' } });
    await world.apply({ kind: 'RemoveShard', id: 't' });
    world.desk.forgetShard('t');
    await world.report('s', { summary: { providerAddress: 'p:1' } });
    assert.equal(world.ledger.state.home('p:1')?.shardId, 's');
  });
});
