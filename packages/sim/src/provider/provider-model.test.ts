// Proves that the staged provider walks the transition table, dwells exactly as long as told,
// stamps and clears when the executors do, and fails only where it was told to.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError, bucketOfDollars } from '@bigfleet/base';
import {
  type Action,
  ActionKind,
  type ActionKindCode,
  CapacityType,
  createProfile,
  type Machine,
  noAssignment,
  State,
  type StateCode,
  stateName,
} from '@bigfleet/engine';
import { execute } from './execute.ts';
import { type Dwell, instant, ProviderModel } from './provider-model.ts';

const profile = createProfile({
  requirements: [],
  spread: [],
  priority: 7,
  interruptionBucket: bucketOfDollars(8),
  reclamationBucket: bucketOfDollars(64),
});

function machine(state: StateCode, more: Partial<Machine> = {}): Machine {
  const hasHost = state !== State.Speculative && state !== State.Creating;
  const isBound =
    state === State.Configuring || state === State.Configured || state === State.Draining;
  return {
    id: 'm',
    state,
    provider: 'fake',
    host: hasHost ? { provider: 'fake', ref: 'h' } : undefined,
    cluster: isBound ? 'c' : '',
    instanceType: 'type',
    zone: 'z',
    capacityType: CapacityType.OnDemand,
    labels: new Map(),
    allocatable: new Map([['cpu', 1000]]),
    pricePerHour: 1,
    interruptionProbability: 0,
    lastError: state === State.Failed ? 'broken' : '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
    ...more,
  };
}

function action(kind: ActionKindCode): Action {
  return {
    kind,
    machineId: 'm',
    cluster: kind === ActionKind.Delete ? '' : 'c',
    fingerprint: profile.fingerprint,
    group: 'g',
    graceSeconds: 0,
    preemptorPriority: 0,
    reason: 'phase1.idle',
  };
}

function providerWith(
  state: StateCode,
  dwell: Partial<Dwell> = {},
  more?: Partial<Machine>,
): ProviderModel {
  const provider = new ProviderModel({ ...instant, ...dwell });
  provider.add(machine(state, more));
  return provider;
}

const isBug = (error: unknown): boolean => error instanceof AssertionError;

interface Walk {
  readonly kind: ActionKindCode;
  readonly from: StateCode;
  readonly dwell: keyof Dwell;
  readonly during: StateCode;
  readonly after: StateCode;
}

const walks: readonly Walk[] = [
  {
    kind: ActionKind.Provision,
    from: State.Speculative,
    dwell: 'createCycles',
    during: State.Creating,
    after: State.Idle,
  },
  {
    kind: ActionKind.Bootstrap,
    from: State.Idle,
    dwell: 'configureCycles',
    during: State.Configuring,
    after: State.Configured,
  },
  {
    kind: ActionKind.Reclaim,
    from: State.Configured,
    dwell: 'drainCycles',
    during: State.Draining,
    after: State.Idle,
  },
  {
    kind: ActionKind.Preempt,
    from: State.Configured,
    dwell: 'drainCycles',
    during: State.Draining,
    after: State.Idle,
  },
  {
    kind: ActionKind.Delete,
    from: State.Idle,
    dwell: 'deleteCycles',
    during: State.Deleting,
    after: State.Speculative,
  },
];

for (const { kind, from, dwell, during, after } of walks) {
  for (const cycles of [1, 2, 5]) {
    test(`action ${kind}: seen ${stateName(during)} by ${cycles} steps`, () => {
      const provider = providerWith(from, { [dwell]: cycles });
      execute(provider, action(kind));
      for (let step = 0; step < cycles; step++) {
        provider.advance();
        assert.equal(provider.get('m').state, during, `step ${step}`);
      }
      provider.advance();
      assert.equal(provider.get('m').state, after);
    });
  }

  test(`action ${kind}: refused in every other state`, () => {
    for (const state of [1, 2, 3, 4, 5, 6, 7, 8] as const) {
      if (state === from) continue;
      assert.throws(() => execute(providerWith(state), action(kind)), isBug, stateName(state));
    }
  });
}

test('an instant Provision goes on to Configured', () => {
  const provider = providerWith(State.Speculative);
  execute(provider, action(ActionKind.Provision));
  const { state, cluster, host, assigned, intendedCluster } = provider.get('m');
  assert.equal(state, State.Configured);
  assert.deepEqual([cluster, intendedCluster], ['c', '']);
  assert.ok(host !== undefined);
  assert.equal(assigned.priority, 7);
});

test('Creating is attributed, and the attribution ends with Idle', () => {
  const provider = providerWith(State.Speculative, { createCycles: 1 });
  execute(provider, action(ActionKind.Provision));
  const creating = provider.get('m');
  assert.deepEqual([creating.cluster, creating.intendedCluster], ['', 'c']);
  assert.equal(creating.assigned.needFingerprint, profile.fingerprint);
  assert.equal(creating.assigned.group, 'g');
  assert.equal(creating.assigned.priority, 0);
  provider.advance();
  provider.advance();
  const { assigned, intendedCluster, host } = provider.get('m');
  assert.deepEqual([assigned, intendedCluster], [noAssignment, '']);
  assert.ok(host !== undefined);
});

test('Configuring carries cluster, fingerprint and group; priority and penalties come with Configured', () => {
  const provider = providerWith(State.Idle, { configureCycles: 1 });
  execute(provider, action(ActionKind.Bootstrap));
  const stamps = { needFingerprint: profile.fingerprint, group: 'g' };
  assert.equal(provider.get('m').cluster, 'c');
  assert.deepEqual(provider.get('m').assigned, { ...noAssignment, ...stamps });
  provider.advance();
  provider.advance();
  const { priority, interruptionBucket, reclamationBucket } = profile;
  assert.deepEqual(provider.get('m').assigned, {
    priority,
    interruptionBucket,
    reclamationBucket,
    ...stamps,
  });
});

test('a drain keeps the binding until it is done, then clears all of it', () => {
  const assigned = { ...noAssignment, priority: 7, needFingerprint: 'f', group: 'g' };
  const provider = providerWith(State.Configured, { drainCycles: 1 }, { assigned });
  execute(provider, action(ActionKind.Reclaim));
  assert.equal(provider.get('m').cluster, 'c');
  assert.deepEqual(provider.get('m').assigned, assigned);
  provider.advance();
  provider.advance();
  assert.equal(provider.get('m').cluster, '');
  assert.deepEqual(provider.get('m').assigned, noAssignment);
});

test('a deleted machine is a quota slot again, without a host', () => {
  const provider = providerWith(State.Idle);
  execute(provider, action(ActionKind.Delete));
  assert.deepEqual(
    [provider.get('m').state, provider.get('m').host],
    [State.Speculative, undefined],
  );
});

for (const capacityType of [CapacityType.BareMetal, CapacityType.Reserved]) {
  test(`fixed capacity of type ${capacityType} fails when deleted`, () => {
    const provider = providerWith(State.Idle, {}, { capacityType });
    execute(provider, action(ActionKind.Delete));
    assert.deepEqual(
      [provider.get('m').state, provider.get('m').lastError],
      [State.Failed, 'delete: not supported'],
    );
  });
}

for (const cycles of [0, 2]) {
  for (const [kind, from, target] of [
    [ActionKind.Provision, State.Speculative, State.Idle],
    [ActionKind.Bootstrap, State.Idle, State.Configured],
    [ActionKind.Reclaim, State.Configured, State.Idle],
    [ActionKind.Delete, State.Idle, State.Speculative],
  ] as const) {
    test(`failNext towards ${stateName(target)} fails action ${kind} once, dwell ${cycles}`, () => {
      const dwell = {
        createCycles: cycles,
        configureCycles: cycles,
        drainCycles: cycles,
        deleteCycles: cycles,
      };
      const provider = providerWith(from, dwell);
      provider.failNext('m', target, 'told to');
      execute(provider, action(kind));
      for (let step = 0; step <= cycles; step++) provider.advance();
      assert.deepEqual(
        [provider.get('m').state, provider.get('m').lastError],
        [State.Failed, 'told to'],
      );
    });
  }
}

test('a failure waits for its target state and then is used up', () => {
  const provider = providerWith(State.Idle);
  provider.failNext('m', State.Speculative, 'delete: later');
  execute(provider, action(ActionKind.Bootstrap));
  execute(provider, action(ActionKind.Reclaim));
  assert.equal(provider.get('m').state, State.Idle);
  execute(provider, action(ActionKind.Delete));
  assert.equal(provider.get('m').state, State.Failed);
});

test('failMachine takes Configured hosts only and says why', () => {
  const provider = providerWith(State.Configured);
  provider.failMachine('m', 'gone');
  assert.deepEqual(
    [provider.get('m').state, provider.get('m').lastError],
    [State.Failed, 'host lost: gone'],
  );
  assert.throws(() => providerWith(State.Idle).failMachine('m'), isBug);
});

test('removeMachine drops the record and what was in flight', () => {
  const provider = providerWith(State.Idle, { configureCycles: 1 });
  execute(provider, action(ActionKind.Bootstrap));
  provider.removeMachine('m');
  for (let step = 0; step < 3; step++) provider.advance();
  assert.deepEqual([provider.size, provider.has('m')], [0, false]);
  assert.throws(() => provider.removeMachine('m'), isBug);
});

test('complete ends an operation ahead of its dwell', () => {
  const provider = providerWith(State.Idle, { configureCycles: 100 });
  execute(provider, action(ActionKind.Bootstrap));
  provider.complete('m');
  assert.equal(provider.get('m').state, State.Configured);
  assert.throws(() => provider.complete('m'), isBug);
});

test('a record that violates the invariants never gets in, and ids are unique', () => {
  const provider = new ProviderModel();
  assert.throws(() => provider.add(machine(State.Idle, { host: undefined })), isBug);
  assert.throws(() => provider.add(machine(State.Idle, { pricePerHour: Number.NaN })), isBug);
  provider.add(machine(State.Idle));
  assert.throws(() => provider.add(machine(State.Idle)), isBug);
});

test('List is ordered by id, whatever the order of adding', () => {
  const provider = new ProviderModel();
  for (const id of ['b', 'a', 'c']) provider.add(machine(State.Idle, { id }));
  assert.deepEqual(
    provider.list().map(({ id }) => id),
    ['a', 'b', 'c'],
  );
});

test('a failure happens once: the slot works again after it was replaced', () => {
  const provider = providerWith(State.Idle);
  provider.failNext('m', State.Configured, 'configure: once');
  execute(provider, action(ActionKind.Bootstrap));
  assert.equal(provider.get('m').state, State.Failed);
  provider.removeMachine('m');
  provider.add(machine(State.Idle));
  execute(provider, action(ActionKind.Bootstrap));
  assert.equal(provider.get('m').state, State.Configured);
});
