// Proves the operations that combine a commit with what shards last said: domains, shard removal, the
// provider registry, quotas, and the watch over providers with two owners.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../ledger/outcome.ts';
import { type ReportInit, ReportWorld } from '../desk/testing/report-world.ts';
import { diallingConflicts } from '../reports/dialled-providers.ts';
import type { ProviderRow } from '../state/rows.ts';
import { assignDomain, type DomainOperations, unassignDomain } from './domains.ts';
import {
  deregisterProvider,
  type ProviderOperations,
  registerProvider,
  setQuota,
} from './providers.ts';
import { removeShard } from './remove-shard.ts';

const domain = { key: 'zone', value: 'z' };

function statusOf(outcome: Outcome): string {
  return outcome.kind === 'done' ? 'OK' : outcome.status;
}

function textOf(outcome: Outcome): string {
  return outcome.kind === 'done' ? '' : outcome.message;
}

function dials(address: string, shared: boolean, held = 0, source = 'registry'): ReportInit {
  const counts = { totalMachines: held + 2, speculativeMachines: 2 };
  return {
    providerShared: shared,
    summary: { providers: [{ name: address, address, shared, source, ...counts }] },
  };
}

async function twoShards(): Promise<ReportWorld> {
  const world = await ReportWorld.open();
  await world.report('a');
  await world.report('b');
  return world;
}

function domains(world: ReportWorld): DomainOperations {
  const { ledger, desk } = world;
  return { ledger, recovery: desk.recovery };
}

describe('domains', () => {
  it('assigning commits, and the next answer tells the shard; again is success and changes nothing', async () => {
    const world = await twoShards();
    const first = await world.run(assignDomain(domains(world), domain, 'a'));
    const again = await world.run(assignDomain(domains(world), domain, 'a'));
    assert.equal(first.kind === 'done' && first.index, world.ledger.state.meta.applyIndex);
    assert.deepEqual(again, { kind: 'done', index: undefined });
    const { assignment, instructions } = await world.report('a');
    assert.deepEqual(
      assignment?.domains.map(({ topologyValue }) => topologyValue),
      ['z'],
    );
    assert.deepEqual(instructions, [], 'the assignment is the order');
  });

  it('moving is unassign, wait, assign; in between it is ABORTED', async () => {
    const world = await twoShards();
    await world.run(assignDomain(domains(world), domain, 'a'));
    const taken = await world.run(assignDomain(domains(world), domain, 'b'));
    assert.equal(statusOf(taken), 'ALREADY_EXISTS');
    assert.match(textOf(taken), /zone=z currently on a, asked b/);
    await world.run(unassignDomain(domains(world), domain));
    const early = await world.run(assignDomain(domains(world), domain, 'b'));
    assert.equal(statusOf(early), 'ABORTED');
    const assignmentRevision = BigInt(world.ledger.state.meta.assignmentRevision);
    await world.report('a', { assignmentRevision });
    assert.equal(statusOf(await world.run(assignDomain(domains(world), domain, 'b'))), 'OK');
  });

  it('an unknown shard is NOT_FOUND, an empty key INVALID_ARGUMENT', async () => {
    const world = await twoShards();
    const lost = await world.run(assignDomain(domains(world), domain, 'nobody'));
    const empty = await world.run(assignDomain(domains(world), { key: '', value: 'v' }, 'a'));
    const absent = await world.run(unassignDomain(domains(world), domain));
    assert.deepEqual([lost, empty, absent].map(statusOf), ['NOT_FOUND', 'INVALID_ARGUMENT', 'OK']);
  });
});

describe('removing a shard', () => {
  const rows = [
    { name: 'alive and sharing', shared: true, silentMs: 59_000, force: false, status: 'ABORTED' },
    { name: 'alive and sharing, by force', shared: true, silentMs: 0, force: true, status: 'OK' },
    { name: 'alive, sharing nothing', shared: false, silentMs: 0, force: false, status: 'OK' },
    { name: 'silent and sharing', shared: true, silentMs: 61_000, force: false, status: 'OK' },
  ];
  for (const { name, shared, silentMs, force, status } of rows) {
    it(`${name} → ${status}`, async () => {
      const world = await twoShards();
      await world.report('a', dials('p:1', shared));
      world.desk.queue.enqueue('a', { case: undefined }, '');
      await world.time.runFor(silentMs);
      const { ledger, desk, time } = world;
      const options = {
        ledger,
        soft: desk.soft,
        recovery: desk.recovery,
        nowMs: () => time.nowMs,
        onRemoved: desk.forgetShard,
      };
      assert.equal(statusOf(await world.run(removeShard(options, 'a', force))), status);
      const isGone = status === 'OK';
      assert.equal(ledger.state.shard('a') === undefined, isGone);
      assert.equal(desk.soft.picture('a') === undefined, isGone);
      assert.equal(desk.queue.count('a'), isGone ? 0 : 1);
      assert.equal(world.observer.lines.includes('removed a'), true);
      const again = await world.run(removeShard(options, 'a', true));
      assert.equal(statusOf(again), isGone ? 'NOT_FOUND' : 'OK');
    });
  }
});

describe('providers', () => {
  const p: ProviderRow = {
    name: 'p:1',
    address: 'p:1',
    region: 'r',
    declaredQuota: 10,
    shards: ['b', 'a', 'b'],
  };

  function registry(world: ReportWorld): ProviderOperations {
    return { ...world.desk, ledger: world.ledger };
  }

  it('registering is an idempotent upsert', async () => {
    const world = await twoShards();
    const first = await world.run(registerProvider(registry(world), p));
    const again = await world.run(registerProvider(registry(world), p));
    assert.deepEqual([first.kind, again], ['done', { kind: 'done', index: undefined }]);
    assert.deepEqual(world.ledger.state.provider('p:1')?.shards, ['a', 'b']);
  });

  for (const address of ['user@host:1', 'host:1?x=1', 'host', 'unix:relative', 'host:99999']) {
    it(`refuses the address ${address}`, async () => {
      const world = await twoShards();
      const outcome = await world.run(registerProvider(registry(world), { ...p, address }));
      assert.equal(statusOf(outcome), 'INVALID_ARGUMENT');
    });
  }

  it('is not deregistered while a shard holds machines of it, Speculative ones aside', async () => {
    const world = await twoShards();
    await world.run(registerProvider(registry(world), p));
    await world.report('b', dials('p:1', true, 3));
    const used = await world.run(deregisterProvider(registry(world), 'p:1', false));
    assert.deepEqual(used, {
      kind: 'refused',
      status: 'ABORTED',
      message: 'provider in use by b: 3 machines',
    });
    await world.report('b', dials('p:1', true, 0));
    assert.equal(
      statusOf(await world.run(deregisterProvider(registry(world), 'p:1', false))),
      'OK',
    );
  });

  it('is not deregistered while a shard it is for has not reported to this leader; force does', async () => {
    const world = await twoShards();
    await world.run(registerProvider(registry(world), p));
    await world.elect();
    await world.report('a');
    const early = await world.run(deregisterProvider(registry(world), 'p:1', false));
    assert.equal(statusOf(early), 'ABORTED');
    assert.match(textOf(early), /\bb\b/);
    const forced = await world.run(deregisterProvider(registry(world), 'p:1', true));
    assert.equal(statusOf(forced), 'OK');
    const absent = await world.run(deregisterProvider(registry(world), 'p:1', true));
    assert.equal(statusOf(absent), 'NOT_FOUND');
  });

  it('quotas are for the region of the entry and within its declared quota', async () => {
    const world = await twoShards();
    await world.run(registerProvider(registry(world), p));
    const set = async (region: string, slice: number, shard = 'a'): Promise<string> => {
      const request = { provider: 'p:1', region, perShard: new Map([[shard, slice]]) };
      return statusOf(await world.run(setQuota(world.ledger, request)));
    };
    assert.deepEqual(
      [await set('r', 10), await set('r', 11), await set('other', 1), await set('r', 1, 'nobody')],
      ['OK', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'NOT_FOUND'],
    );
    const held = await world.run(deregisterProvider(registry(world), 'p:1', true));
    assert.equal(statusOf(held), 'ABORTED', 'a quota row still names it');
  });
});

function isConflicted({ desk }: ReportWorld, address: string): boolean {
  return diallingConflicts(desk.soft.pictures()).has(address);
}

describe('one provider, two shards', () => {
  const rows = [
    { name: 'neither declares it shared', a: false, b: false, address: 'p:1', isConflict: true },
    { name: 'only one declares it shared', a: true, b: false, address: 'p:1', isConflict: true },
    { name: 'both declare it shared', a: true, b: true, address: 'p:1', isConflict: false },
    {
      name: 'host-local: two providers',
      a: false,
      b: false,
      address: 'unix:/p',
      isConflict: false,
    },
  ];
  for (const { name, a, b, address, isConflict } of rows) {
    it(`${name}: ${isConflict ? 'a conflict' : 'none'}`, async () => {
      const world = await ReportWorld.open();
      await world.report('a', dials(address, a, 1, 'flag'));
      await world.report('b', dials(address, b, 1, 'flag'));
      assert.equal(isConflicted(world, address), isConflict);
      assert.equal(world.observer.count('ownership-conflict'), isConflict ? 1 : 0);
    });
  }

  it('is counted once, logged every minute while it lasts, and over when one lets go', async () => {
    const world = await ReportWorld.open();
    const both = async (): Promise<void> => {
      await world.report('a', dials('p:1', false, 1, 'flag'));
      await world.report('b', dials('p:1', false, 1, 'flag'));
    };
    const logged = (): number =>
      world.logLines.lines.filter((line) => line.includes('dialled by several shards')).length;
    await both();
    await both();
    assert.equal(logged(), 1);
    await world.time.runFor(61_000);
    await both();
    assert.equal(logged(), 2);
    assert.equal(world.observer.count('ownership-conflict'), 1);
    await world.report('b', {});
    assert.equal(isConflicted(world, 'p:1'), false);
    await both();
    assert.equal(world.observer.count('ownership-conflict'), 2);
    world.desk.forgetShard('a');
    assert.equal(isConflicted(world, 'p:1'), false);
  });
});
