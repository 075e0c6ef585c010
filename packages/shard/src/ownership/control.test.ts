// Proves ownership in a running shard: it sees and acts on its own machines only, a transfer moves a
// machine without ever being anybody's twice, frozen and reserved machines are left alone, and the
// registry's providers come and go.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PenaltyBucket } from '@bigfleet/base';
import { ActionKind, CapacityType, State } from '@bigfleet/engine';
import type { RegistryTarget } from './assignment.ts';
import type { OrderOutcome } from './shard-control.ts';
import { incoming, override, selector } from './testing/builders.ts';
import { fourCoresIn } from '../process/testing/owned-shard.ts';
import { ADDRESS, HOME, OwnedWorld, SHARED, zone } from '../process/testing/owned-world.ts';

const target = (name: string, parts: Partial<RegistryTarget> = {}): RegistryTarget => ({
  name,
  address: ADDRESS,
  region: 'eu',
  isShared: false,
  ...parts,
});

function idsOf(outcome: OrderOutcome): readonly string[] {
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
  return (outcome.kind === 'accepted' ? outcome.machineIds : undefined) ?? [];
}

test('a shard with a shared provider owns nothing until it is told, then exactly that', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'ours'));
  world.fake.addIdle(fourCoresIn('zone-b', 'theirs'));
  world.fake.addConfigured(fourCoresIn('zone-b', 'serving'), 'green');
  const shard = await world.shard('s1');
  await world.cycles(2);
  assert.equal(shard.stateOf('serving'), undefined, 'what serves others was never ours');
  assert.deepEqual([shard.stateOf('ours'), shard.stateOf('theirs')], [undefined, undefined]);
  await world.finish(shard.control.applyAssignment(incoming({ domains: [zone('zone-a')] })));
  await world.cycles();
  assert.deepEqual([shard.stateOf('ours'), shard.stateOf('theirs')], [State.Idle, undefined]);
  await shard.demand('blue', 8);
  await world.cycles(4);
  assert.equal(shard.stateOf('ours'), State.Configured);
  assert.equal(
    world.fake.get('theirs').state,
    State.Idle,
    'not ours to take, however short we are',
  );
  await shard.stop();
});

test('ownership is there again after a restart, before anybody is asked', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'ours'));
  world.fake.addIdle(fourCoresIn('zone-b', 'theirs'));
  const first = await world.shard('s1');
  await world.finish(first.control.applyAssignment(incoming({ domains: [zone('zone-a')] })));
  await first.stop();
  const next = await world.shard('s1', { ...SHARED, before: first });
  await world.cycles();
  assert.deepEqual([next.stateOf('ours'), next.stateOf('theirs')], [State.Idle, undefined]);
  assert.equal(next.control.ownership().revision, 1n);
  await next.stop();
});

test('a whole transfer: frozen, then out of one inventory and into the other', async () => {
  const world = new OwnedWorld();
  for (const id of ['a', 'b', 'c']) world.fake.addIdle(fourCoresIn('zone-a', id));
  const donor = await world.shard('s1');
  const recipient = await world.shard('s2');
  await world.finish(donor.control.applyAssignment(incoming(HOME)));
  await world.finish(recipient.control.applyAssignment(incoming()));
  await world.cycles();
  const prepared = await world.finish(
    donor.control.prepareTransfer({ transferId: 't1', toShardId: 's2', selector: selector() }),
  );
  assert.deepEqual(idsOf(prepared), ['a', 'b']);
  assert.deepEqual(prepared.kind === 'accepted' && [...(prepared.covered ?? [])], [['cpu', '8']]);
  assert.equal(donor.control.summary().idleMachines, 1, 'the frozen ones are not to give again');
  // Demand that only the frozen ones could cover, and an idle hold that has long passed.
  await donor.demand('blue', 12);
  await world.cycles(80);
  for (const id of ['a', 'b']) assert.equal(world.fake.get(id).state, State.Idle, id);
  assert.equal(world.fake.get('c').state, State.Configured);
  const again = await world.finish(
    donor.control.prepareTransfer({ transferId: 't1', toShardId: 's2', selector: selector() }),
  );
  assert.deepEqual(again, prepared, 'PREPARE again answers the same');
  const order = { transferId: 't1', machineIds: ['a', 'b'] };
  const claimed = await world.finish(
    recipient.control.claimTransfer({ ...order, peerShardId: 's1' }),
  );
  assert.deepEqual(idsOf(claimed), ['a', 'b']);
  await world.finish(donor.control.releaseTransfer({ ...order, peerShardId: 's2' }));
  await world.cycles(2);
  assert.deepEqual([donor.stateOf('a'), donor.stateOf('b')], [undefined, undefined]);
  assert.deepEqual([recipient.stateOf('a'), recipient.stateOf('b')], [State.Idle, State.Idle]);
  const late = await world.finish(donor.control.cancelTransfer('t1'));
  assert.equal(late.kind === 'rejected' && late.code, 'unknown_transfer', 'what is gone is gone');
  const released = await world.finish(
    donor.control.releaseTransfer({ ...order, peerShardId: 's2' }),
  );
  assert.deepEqual(idsOf(released), ['a', 'b'], 'RELEASE again changes nothing');
  const wrong = await world.finish(donor.control.claimTransfer({ ...order, peerShardId: 's1' }));
  assert.equal(wrong.kind, 'rejected', 'a donor cannot claim its own transfer');
  await recipient.demand('green', 8);
  await world.cycles(4);
  assert.equal(world.fake.get('a').cluster, 'green');
  assert.deepEqual(
    recipient.control.ownership().transfers.map(({ state, role }) => `${role} ${state}`),
    ['recipient claimed'],
  );
  await donor.stop();
  await recipient.stop();
});

test('what is frozen or under way is not given again, not acted on, and no candidate', async () => {
  const world = new OwnedWorld();
  for (const id of ['a', 'b', 'c', 'd']) world.fake.addIdle(fourCoresIn('zone-a', id));
  const shard = await world.shard('s1');
  const { control } = shard;
  const { core } = shard.shard.parts;
  const { fleet } = core;
  await world.finish(control.applyAssignment(incoming(HOME)));
  await world.cycles();
  const prepare = (transferId: string) =>
    world.finish(
      control.prepareTransfer({ transferId, toShardId: 's2', selector: selector() }),
      10,
    );
  assert.deepEqual(idsOf(await prepare('t1')), ['a', 'b']);
  const busy = fleet.inventory.slotOf('c');
  fleet.setPending(busy, 'in_flight');
  assert.deepEqual(idsOf(await prepare('t2')), ['d']);
  fleet.setPending(busy, 'none');
  // Decided before the freeze, queued after it.
  const late = {
    kind: ActionKind.Delete,
    handle: fleet.handleOf(fleet.inventory.slotOf('a')),
    machineId: 'a',
    cluster: '',
    need: undefined,
    graceSeconds: 0,
    preemptorPriority: 0,
    reason: 'phase3.release',
    cycle: 1,
  } as const;
  assert.equal(core.offer(late), false);
  assert.equal(fleet.read(fleet.inventory.slotOf('a')).withheld, 'transfer_frozen');
  world.fake.addSpeculative(fourCoresIn('zone-a', 'slot'));
  await shard.demand('blue', 8);
  await world.cycles(5);
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'slot'].map((id) => world.fake.get(id).cluster),
    ['', '', 'blue', '', 'blue'],
    'the need is served by what is left',
  );
  await shard.stop();
});

test('a decision that was made before a freeze is not carried out after it', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1');
  const { control } = shard;
  await world.finish(control.applyAssignment(incoming(HOME)));
  await world.cycles();
  const { host } = shard.shard.parts;
  const { cycle } = host;
  let prepared: Promise<OrderOutcome> | undefined;
  host.cycle = async (options) => {
    const answer = await cycle(options);
    const order = { transferId: 't1', toShardId: 's2', selector: selector() };
    if (answer.actions.count > 0) prepared ??= control.prepareTransfer(order);
    return answer;
  };
  await shard.demand('blue', 4);
  await world.cycles(3);
  assert.ok(prepared !== undefined, 'the engine decided to use the machine');
  assert.deepEqual(idsOf(await prepared), ['a']);
  assert.equal(world.fake.get('a').cluster, '');
  await shard.stop();
});

test('a freeze survives a restart, and CANCEL ends it', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const first = await world.shard('s1');
  await world.finish(first.control.applyAssignment(incoming(HOME)));
  await world.cycles();
  const prepare = { transferId: 't1', toShardId: 's2', selector: selector() };
  assert.deepEqual(idsOf(await world.finish(first.control.prepareTransfer(prepare))), ['a']);
  await first.stop();
  const next = await world.shard('s1', { ...SHARED, before: first });
  await next.demand('blue', 4);
  await world.cycles(3);
  assert.equal(world.fake.get('a').state, State.Idle);
  assert.deepEqual(idsOf(await world.finish(next.control.prepareTransfer(prepare))), ['a']);
  assert.equal((await world.finish(next.control.cancelTransfer('t1'))).kind, 'accepted');
  await world.cycles(4);
  assert.equal(world.fake.get('a').state, State.Configured);
  const second = await world.finish(next.control.cancelTransfer('t1'));
  assert.equal(second.kind === 'rejected' && second.code, 'unknown_transfer');
  await next.stop();
});

const notGiven: readonly (readonly [string, (world: OwnedWorld) => void, string])[] = [
  ['none at all', () => {}, 'no_eligible_machines'],
  [
    'only a bound one',
    ({ fake }) => fake.addConfigured(fourCoresIn('zone-a', 'a'), 'blue'),
    'no_eligible_machines',
  ],
  [
    'only a slot',
    ({ fake }) => fake.addSpeculative(fourCoresIn('zone-a', 'a')),
    'no_eligible_machines',
  ],
];
for (const [name, seed, code] of notGiven) {
  test(`PREPARE with ${name} is refused: ${code}`, async () => {
    const world = new OwnedWorld();
    seed(world);
    const shard = await world.shard('s1');
    await world.finish(shard.control.applyAssignment(incoming(HOME)));
    await world.cycles();
    const outcome = await world.finish(
      shard.control.prepareTransfer({ transferId: 't', toShardId: 's2', selector: selector() }),
    );
    assert.equal(outcome.kind === 'rejected' && outcome.code, code);
    assert.deepEqual(shard.control.ownership().transfers, []);
    await shard.stop();
  });
}

test('of a provider that is not shared nothing is ever given', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1', { flags: new Map([['alpha', ADDRESS]]) });
  await world.cycles();
  assert.equal(shard.stateOf('a'), State.Idle, 'all of it is ours');
  const outcome = await world.finish(
    shard.control.prepareTransfer({ transferId: 't', toShardId: 's2', selector: selector() }),
  );
  assert.equal(outcome.kind === 'rejected' && outcome.code, 'no_eligible_machines');
  await shard.stop();
});

test('tier 3: cheaper and less urgent work is drained, and what is freed is kept for the asker', async () => {
  const world = new OwnedWorld();
  for (const id of ['low', 'high']) world.fake.addIdle(fourCoresIn('zone-a', id));
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming(HOME)));
  await shard.demand('blue', 4, 100);
  await world.cycles(3);
  await shard.demand('green', 4, 5_000);
  await world.cycles(3);
  const low = world.fake.get('low').cluster === 'blue' ? 'low' : 'high';
  const order = {
    selector: selector(),
    preemptor: { priority: 1_000, interruptionBucket: 5 as PenaltyBucket },
    toShardId: 's2',
    reserveTtlMs: 600_000,
    machineIds: [],
  };
  const cheap = {
    ...order,
    preemptor: { ...order.preemptor, interruptionBucket: 1 as PenaltyBucket },
  };
  const refused = await world.finish(shard.control.drainForAnother(cheap));
  assert.equal(refused.kind === 'rejected' && refused.code, 'no_eligible_machines');
  assert.deepEqual(idsOf(await world.finish(shard.control.drainForAnother(order))), [low]);
  await world.cycles(3);
  assert.equal(world.fake.get(low).state, State.Idle);
  assert.ok((shard.control.summary().idleMachines ?? 0) >= 1, 'it shows as idle supply');
  world.fake.addSpeculative(fourCoresIn('zone-a', 'slot'));
  await world.cycles(50);
  assert.equal(world.fake.get(low).state, State.Idle, 'neither bound nor given back here');
  assert.equal(world.fake.get('slot').cluster, 'blue', 'who lost it is served elsewhere');
  const forOther = { transferId: 't0', toShardId: 's3', selector: selector() };
  const other = await world.finish(shard.control.prepareTransfer(forOther));
  assert.equal(other.kind, 'rejected', 'kept for s2, not for s3');
  const wanted = { transferId: 't1', toShardId: 's2', selector: selector() };
  assert.deepEqual(idsOf(await world.finish(shard.control.prepareTransfer(wanted))), [low]);
  await shard.stop();
});

test('a reservation ends by itself', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming(HOME)));
  await shard.demand('blue', 4, 100);
  await world.cycles(3);
  const drained = await world.finish(
    shard.control.drainForAnother({
      selector: selector(),
      preemptor: { priority: 1_000_000, interruptionBucket: 5 as PenaltyBucket },
      toShardId: 's2',
      reserveTtlMs: 100_000,
      machineIds: [],
    }),
  );
  assert.deepEqual(idsOf(drained), ['a']);
  await world.cycles(5);
  assert.equal(world.fake.get('a').state, State.Idle, 'blue still asks for it, and waits');
  await world.cycles(12);
  assert.equal(world.fake.get('a').cluster, 'blue', 'nobody came for it');
  await shard.stop();
});

test('what protects a victim is the need that claims it, not only its stamp', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming(HOME)));
  await shard.demand('blue', 4, 100);
  await world.cycles(3);
  await shard.demand('blue', 4, 9_000);
  await world.cycles(2);
  const outcome = await world.finish(
    shard.control.drainForAnother({
      selector: selector(),
      preemptor: { priority: 1_000, interruptionBucket: 5 as PenaltyBucket },
      toShardId: 's2',
      reserveTtlMs: 100_000,
      machineIds: [],
    }),
  );
  assert.equal(outcome.kind === 'rejected' && outcome.code, 'no_eligible_machines');
  await shard.stop();
});

test('a quota slice stops buying and reclaims nothing', async () => {
  const world = new OwnedWorld();
  for (const id of ['a', 'b', 'c']) world.fake.addSpeculative(fourCoresIn('zone-a', id));
  const shard = await world.shard('s1', { flags: new Map([['alpha', ADDRESS]]) });
  const quota = (slice: number) => [{ provider: 'alpha', region: 'eu', slice }];
  await world.finish(shard.control.applyAssignment(incoming({ quotas: quota(1) })));
  await shard.demand('blue', 12);
  await world.cycles(6);
  const bound = (): number => world.fake.configuredCount;
  assert.equal(bound(), 1);
  const [shortfall] = shard.control.shortfalls(100);
  assert.equal(shortfall?.reasonCode, 'quota_exhausted');
  await world.finish(shard.control.setQuotaSlice({ provider: 'alpha', region: 'eu', slice: 2 }));
  await world.cycles(6);
  assert.equal(bound(), 2);
  await world.finish(shard.control.setQuotaSlice({ provider: 'alpha', region: 'eu', slice: 0 }));
  await world.cycles(6);
  assert.equal(bound(), 2);
  await shard.stop();
});

test('an adopted machine that is no more is reported as gone', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1');
  await world.finish(
    shard.control.applyAssignment(incoming({ adopted: [override('a', 't1', 's2')] })),
  );
  await world.cycles(2);
  assert.equal(shard.stateOf('a'), State.Idle);
  // On demand and unused: the idle hold ends and it is deleted, back to a slot.
  await world.cycles(70);
  assert.equal(world.fake.get('a').state, State.Speculative);
  assert.deepEqual(
    shard.control
      .ownership()
      .transfers.map(({ state, machineIds }) => `${state} ${machineIds.join()}`),
    ['gone a'],
  );
  assert.equal(shard.stateOf('a'), undefined, 'the home’s again');
  assert.deepEqual(shard.control.held().overrides, []);
  await shard.stop();
});

test('a claimed machine that no provider knows is gone after two full Lists, not after one', async () => {
  const world = new OwnedWorld();
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming()));
  await world.finish(
    shard.control.claimTransfer({ transferId: 't1', peerShardId: 's2', machineIds: ['ghost'] }),
    100,
  );
  const states = (): string[] => shard.control.ownership().transfers.map(({ state }) => state);
  assert.deepEqual(states(), ['claimed']);
  await world.cycles(4);
  assert.deepEqual(states(), ['gone']);
  await shard.stop();
});

test('CLAIM of machines whose provider is silent fails, keeps them, and works when repeated', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1');
  await world.finish(shard.control.applyAssignment(incoming()));
  const { providers } = shard.shard.parts;
  const [source] = providers;
  assert.ok(source !== undefined);
  const { get } = source.provider;
  source.provider.get = () => source.provider.list({}, { signal: AbortSignal.abort() }) as never;
  const order = { transferId: 't1', peerShardId: 's2', machineIds: ['a'] };
  const failed = await world.finish(shard.control.claimTransfer(order), 20_000);
  assert.equal(failed.kind === 'failed' && failed.code, 'provider_unreachable');
  assert.deepEqual(shard.control.held().overrides, [override('a', 't1', 's2')]);
  source.provider.get = get.bind(source.provider);
  assert.deepEqual(idsOf(await world.finish(shard.control.claimTransfer(order))), ['a']);
  assert.equal(shard.stateOf('a'), State.Idle);
  await shard.stop();
});

test('the registry connects, moves and retires providers', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  world.fake.addSpeculative(fourCoresIn('zone-a', 'slot'));
  world.beta.addIdle(fourCoresIn('zone-a', 'metal', { capacityType: CapacityType.BareMetal }));
  const shard = await world.shard('s1', {});
  const { control } = shard;
  await world.cycles();
  await world.finish(
    control.applyAssignment(
      incoming({ providers: [target('alpha'), target('beta', { address: 'beta:9000' })] }),
    ),
  );
  assert.match(shard.disk.contents.get('providers.json') ?? '', /"name": "alpha"/);
  assert.equal(shard.disk.contents.get('assignment.json'), undefined, 'nothing is shared');
  await world.cycles();
  assert.deepEqual(shard.dialled, [ADDRESS, 'beta:9000']);
  assert.deepEqual([shard.stateOf('a'), shard.stateOf('metal')], [State.Idle, State.Idle]);
  assert.deepEqual(
    control
      .summary()
      .providers?.map(({ name, source, totalMachines }) => [name, source, totalMachines]),
    [
      ['alpha', 'registry', 2],
      ['beta', 'registry', 1],
    ],
  );
  // Incomplete: nothing is lost by it.
  await world.finish(control.applyAssignment(incoming({ revision: 2n, isComplete: false })));
  await world.cycles();
  assert.equal(shard.stateOf('a'), State.Idle);
  await shard.demand('blue', 4);
  await world.cycles(3);
  const bound = ['a', 'metal'].find((id) => shard.stateOf(id) === State.Configured);
  assert.equal(bound, 'a', 'bare metal is not cheaper than what is idle and first by name');
  await world.finish(
    control.applyAssignment(
      incoming({ revision: 3n, providers: [target('beta', { address: 'beta:9000' })] }),
    ),
  );
  await world.cycles();
  assert.equal(shard.stateOf('a'), State.Configured, 'what serves is kept, and its client with it');
  assert.equal(shard.stateOf('slot'), undefined, 'a slot is not acquired any more');
  assert.deepEqual(shard.closed, []);
  assert.match(shard.disk.contents.get('providers.json') ?? '', /"retiring": true/);
  await shard.demand('blue', 0);
  await world.cycles(6);
  assert.equal(world.fake.get('a').state, State.Speculative, 'given back at once');
  assert.deepEqual(shard.closed, [ADDRESS]);
  assert.doesNotMatch(shard.disk.contents.get('providers.json') ?? '', /alpha/);
  await shard.stop();
});

test('a new address is dialled, and the inventory waits for its first List', async () => {
  const world = new OwnedWorld();
  world.fake.addIdle(fourCoresIn('zone-a', 'a'));
  world.beta.addIdle(fourCoresIn('zone-a', 'a'));
  const shard = await world.shard('s1', {});
  await world.finish(shard.control.applyAssignment(incoming({ providers: [target('alpha')] })));
  await world.cycles();
  await world.finish(
    shard.control.applyAssignment(
      incoming({ revision: 2n, providers: [target('alpha', { address: 'beta:9000' })] }),
    ),
    0,
  );
  assert.deepEqual([shard.dialled, shard.closed], [[ADDRESS, 'beta:9000'], [ADDRESS]]);
  assert.equal(shard.stateOf('a'), State.Idle);
  await shard.stop();
});

test('sharing that is turned on takes effect with the assignment that says so', async () => {
  const world = new OwnedWorld();
  for (const id of ['a', 'b']) world.fake.addIdle(fourCoresIn(`zone-${id}`, id));
  const shard = await world.shard('s1', {});
  const { control } = shard;
  await world.finish(control.applyAssignment(incoming({ providers: [target('alpha')] })));
  await world.cycles();
  assert.deepEqual([shard.stateOf('a'), shard.stateOf('b')], [State.Idle, State.Idle]);
  assert.equal(control.ownership().isProviderShared, false);
  await world.finish(
    control.applyAssignment(
      incoming({
        revision: 2n,
        providers: [target('alpha', { isShared: true })],
        domains: [zone('zone-a')],
        foreignDomains: [zone('zone-b', 's2')],
      }),
    ),
  );
  assert.deepEqual([shard.stateOf('a'), shard.stateOf('b')], [State.Idle, undefined]);
  assert.equal(control.ownership().isProviderShared, true);
  assert.ok(shard.disk.contents.has('assignment.json'));
  await shard.stop();
});

test('flags win over the registry, and the difference is shown', async () => {
  const world = new OwnedWorld();
  const shard = await world.shard('s1', { flags: new Map([['alpha', ADDRESS]]) });
  const beta = target('beta', { address: 'beta:9000' });
  await world.finish(
    shard.control.applyAssignment(incoming({ providers: [target('alpha'), beta] })),
  );
  assert.deepEqual(shard.dialled, [ADDRESS]);
  assert.equal(shard.disk.contents.get('providers.json'), undefined);
  assert.equal(shard.logged('provider registry differs from flags').length, 1);
  await world.finish(
    shard.control.applyAssignment(incoming({ revision: 2n, providers: [target('alpha'), beta] })),
  );
  assert.equal(shard.logged('provider registry differs from flags').length, 1, 'once per change');
  await shard.stop();
});
