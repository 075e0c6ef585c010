// Proves the fake: the order of a mutation's checks, the whole code matrix, replay, fencing,
// binding, and every hook, under virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State, type StateCode } from '@bigfleet/engine';
import type { FailureCode, FencingToken } from '@bigfleet/wire';
import { ProviderError } from '../../provider/provider-error.ts';
import type { TransitionAck } from '../../provider/provider.ts';
import type { FakeSpec, OperationKind } from './fake-machine.ts';
import { type FakeOptions, FakeProvider } from './fake-provider.ts';
import { seedSpecs } from './seed.ts';

const unfenced: FencingToken = { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };
const token = (shardEpoch: bigint, sequenceNumber: bigint, shardId = 's'): FencingToken => ({
  shardId,
  shardEpoch,
  sequenceNumber,
});

class Bench {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'fake', drain: drainMicrotasks });
  readonly fake: FakeProvider;
  readonly specs: readonly FakeSpec[];

  constructor(options: Omit<FakeOptions, 'runtime'> = {}, count = 3) {
    this.fake = new FakeProvider({ runtime: this.time.runtime, label: 'fake', ...options });
    this.specs = [...seedSpecs({ provider: 'p', count })];
  }

  get id(): string {
    return this.specs[0]?.id ?? '';
  }

  seed(): this {
    for (const spec of this.specs) this.fake.addSpeculative(spec);
    return this;
  }

  state(id: string = this.id): StateCode | 0 {
    return this.fake.get(id).state;
  }

  call(
    kind: OperationKind,
    machineId: string = this.id,
    by: FencingToken = unfenced,
  ): TransitionAck {
    const order = { machineId, token: by };
    if (kind === 'create') return this.fake.create(order);
    if (kind === 'delete') return this.fake.delete(order);
    if (kind === 'drain') return this.fake.drain({ ...order, gracePeriodSeconds: 0n });
    const shardMetadata = new Map([['k', 'v']]);
    return this.fake.configure({ ...order, clusterId: 'c', shardMetadata });
  }
}

function status(call: () => unknown): FailureCode | 'OK' {
  try {
    call();
    return 'OK';
  } catch (error) {
    assert.ok(error instanceof ProviderError, String(error));
    return error.status;
  }
}

const operations: readonly OperationKind[] = ['create', 'configure', 'drain', 'delete'];

/** By state: what a call of each kind does there, for a machine that was seeded into the state. */
const matrix: Readonly<Record<StateCode, Readonly<Record<OperationKind, FailureCode | 'OK'>>>> = {
  [State.Speculative]: {
    create: 'OK',
    configure: 'INTERNAL',
    drain: 'INTERNAL',
    delete: 'INTERNAL',
  },
  [State.Creating]: { create: 'OK', configure: 'INTERNAL', drain: 'INTERNAL', delete: 'INTERNAL' },
  [State.Idle]: { create: 'INTERNAL', configure: 'OK', drain: 'INTERNAL', delete: 'OK' },
  [State.Configuring]: {
    create: 'INTERNAL',
    configure: 'OK',
    drain: 'INTERNAL',
    delete: 'INTERNAL',
  },
  [State.Configured]: {
    create: 'INTERNAL',
    configure: 'INTERNAL',
    drain: 'OK',
    delete: 'INTERNAL',
  },
  [State.Draining]: { create: 'INTERNAL', configure: 'INTERNAL', drain: 'OK', delete: 'INTERNAL' },
  [State.Deleting]: { create: 'INTERNAL', configure: 'INTERNAL', drain: 'INTERNAL', delete: 'OK' },
  [State.Failed]: {
    create: 'INTERNAL',
    configure: 'INTERNAL',
    drain: 'INTERNAL',
    delete: 'INTERNAL',
  },
};

function benchIn(state: StateCode): Bench {
  const bench = new Bench();
  const [spec] = bench.specs;
  assert.ok(spec !== undefined);
  const { fake } = bench;
  if (state === State.Speculative || state === State.Creating) fake.addSpeculative(spec);
  else if (state === State.Configured || state === State.Draining) fake.addConfigured(spec, 'c');
  else fake.addIdle(spec);
  if (state === State.Creating) bench.call('create');
  if (state === State.Configuring) bench.call('configure');
  if (state === State.Draining) bench.call('drain');
  if (state === State.Deleting) bench.call('delete');
  if (state === State.Failed) fake.failMachine(spec.id, 'broken');
  assert.equal(bench.state(), state);
  return bench;
}

test('every state against every call: accepted, replayed or refused, never FAILED_PRECONDITION', () => {
  for (const [text, row] of Object.entries(matrix)) {
    const state = Number(text) as StateCode;
    for (const kind of operations) {
      const bench = benchIn(state);
      const before = bench.fake.get(bench.id);
      const answer = status(() => bench.call(kind));
      assert.equal(answer, row[kind], `${kind} in state ${state}`);
      if (answer !== 'OK') assert.deepEqual(bench.fake.get(bench.id), before);
    }
  }
});

test('a replay gives the same operation id, a new cycle a new one', async () => {
  const bench = new Bench({ instantTransitions: true }).seed();
  const created = bench.call('create').operationId;
  assert.equal(bench.call('create').operationId, created);
  const ids = [created];
  for (const kind of ['configure', 'drain', 'configure', 'drain', 'delete', 'create'] as const) {
    const { operationId } = bench.call(kind);
    assert.equal(bench.call(kind).operationId, operationId);
    ids.push(operationId);
  }
  assert.equal(new Set(ids).size, ids.length);
  const other = bench.specs[1]?.id ?? '';
  assert.ok(!ids.includes(bench.call('create', other).operationId));
  const second = new FakeProvider({ runtime: bench.time.runtimeFor('second life') });
  second.addSpeculative(bench.specs[0] as FakeSpec);
  assert.ok(!ids.includes(second.create({ machineId: bench.id, token: unfenced }).operationId));
});

test('arguments, then fence, then existence, then replay, then position', () => {
  const bench = new Bench({ instantTransitions: true }).seed();
  assert.equal(
    status(() => bench.call('create', '', token(1n, 1n))),
    'INVALID_ARGUMENT',
  );
  assert.equal(
    status(() => bench.call('create', 'ghost', token(5n, 5n))),
    'NOT_FOUND',
  );
  assert.equal(
    status(() => bench.call('drain', 'ghost', token(5n, 5n))),
    'FAILED_PRECONDITION',
  );
  assert.equal(
    status(() => bench.fake.get('ghost')),
    'NOT_FOUND',
  );
  assert.equal(
    status(() => bench.call('drain', bench.id, token(2n, 2n))),
    'INTERNAL',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(2n, 2n))),
    'FAILED_PRECONDITION',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(2n, 3n))),
    'OK',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(2n, 3n))),
    'FAILED_PRECONDITION',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(2n, 4n))),
    'OK',
  );
  const other = bench.specs[1]?.id;
  assert.equal(
    status(() => bench.call('create', other, token(1n, 1n))),
    'OK',
    'per machine',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(1n, 1n, 't'))),
    'OK',
    'per shard',
  );
  assert.equal(
    status(() => bench.call('create')),
    'OK',
    'no token, no fence',
  );
});

test('negative tokens are compared as signed numbers, and refused only where asked', () => {
  const bench = new Bench({ instantTransitions: true }).seed();
  for (const [epoch, sequence, expected] of [
    [-7n, -3n, 'OK'],
    [-7n, -3n, 'FAILED_PRECONDITION'],
    [-7n, -2n, 'OK'],
    [-8n, 9n, 'FAILED_PRECONDITION'],
    [-1n, -9n, 'OK'],
    [0n, 0n, 'OK'],
    [0n, -1n, 'FAILED_PRECONDITION'],
  ] as const) {
    const answer = status(() => bench.call('create', bench.id, token(epoch, sequence)));
    assert.equal(answer, expected, `${epoch}/${sequence}`);
  }
  const strict = new Bench({ instantTransitions: true, strictTokens: true }).seed();
  for (const bad of [token(-1n, 1n), token(1n, -1n)]) {
    const answer = status(() => strict.call('create', strict.id, bad));
    assert.equal(answer, 'INVALID_ARGUMENT');
  }
  assert.equal(strict.state(), State.Speculative);
  assert.equal(
    status(() => strict.call('create', strict.id, token(0n, 0n))),
    'OK',
    'no mark was moved',
  );
});

test('a negative grace is an argument error that touches nothing', () => {
  const bench = benchIn(State.Configured);
  const order = { machineId: bench.id, token: token(1n, 1n), gracePeriodSeconds: -1n };
  assert.equal(
    status(() => bench.fake.drain(order)),
    'INVALID_ARGUMENT',
  );
  assert.equal(bench.state(), State.Configured);
  assert.equal(
    status(() => bench.call('drain', bench.id, token(1n, 1n))),
    'OK',
    'the mark stayed',
  );
});

test('fixed capacity: Delete is unimplemented before anything is touched', () => {
  const bench = new Bench({ isFixedCapacity: true, instantTransitions: true }).seed();
  bench.call('create');
  assert.equal(
    status(() => bench.call('delete', bench.id, token(9n, 9n))),
    'UNIMPLEMENTED',
  );
  assert.equal(
    status(() => bench.call('configure', bench.id, token(1n, 1n))),
    'OK',
  );
});

test('binding and metadata: set at acceptance, kept verbatim, cleared with the drain', async () => {
  const bench = new Bench({}, 1).seed();
  bench.call('create');
  assert.equal(bench.fake.get(bench.id).host, undefined, 'no host before Idle');
  await bench.time.runFor(20);
  assert.equal(bench.state(), State.Idle);
  const { host } = bench.fake.get(bench.id);
  assert.equal(host?.provider, 'fake');
  const given = new Map([
    ['__proto__', '\u0000'],
    ['empty', ''],
  ]);
  const order = { machineId: bench.id, token: unfenced, clusterId: 'c', shardMetadata: given };
  const { machine } = bench.fake.configure(order);
  given.set('later', 'x');
  assert.equal(machine?.shardMetadata.size, 2);
  assert.equal(bench.fake.get(bench.id).shardMetadata.size, 2, 'no caller reaches into the store');
  assert.deepEqual([machine?.state, machine?.cluster], [State.Configuring, 'c']);
  await bench.time.runFor(20);
  bench.call('drain');
  const draining = bench.fake.get(bench.id);
  assert.deepEqual([draining.state, draining.cluster], [State.Draining, 'c']);
  assert.deepEqual(draining.host, host);
  await bench.time.runFor(20);
  const drained = bench.fake.get(bench.id);
  assert.deepEqual(
    [drained.state, drained.cluster, drained.shardMetadata.size],
    [State.Idle, '', 0],
  );
  assert.deepEqual(drained.host, host, 'the host outlives its binding');
  bench.call('delete');
  assert.deepEqual(bench.fake.get(bench.id).host, host);
  await bench.time.runFor(20);
  assert.equal(bench.fake.get(bench.id).host, undefined);
});

test('transitions take their latency, instant ones none', async () => {
  const slow = new Bench({ latencyMs: 50 }).seed();
  slow.call('create');
  await slow.time.runFor(49);
  assert.equal(slow.state(), State.Creating);
  await slow.time.runFor(1);
  assert.equal(slow.state(), State.Idle);
  const instant = new Bench({ instantTransitions: true }).seed();
  assert.equal(instant.call('create').machine?.state, State.Idle);
  assert.equal(instant.time.pendingTimers, 0);
});

test('staged kinds wait for completeStaged, also in instant mode', () => {
  const bench = new Bench({
    instantTransitions: true,
    createStaged: true,
    configureStaged: true,
    drainStaged: true,
  }).seed();
  const path: readonly [OperationKind, StateCode, StateCode][] = [
    ['create', State.Creating, State.Idle],
    ['configure', State.Configuring, State.Configured],
    ['drain', State.Draining, State.Idle],
  ];
  for (const [kind, via, to] of path) {
    assert.equal(bench.call(kind).machine?.state, via);
    assert.equal(bench.call(kind).machine?.state, via, 'a replay does not push it on');
    assert.equal(bench.fake.completeStaged(bench.id), true);
    assert.equal(bench.state(), to);
    assert.equal(bench.fake.completeStaged(bench.id), false);
  }
  assert.equal(bench.call('delete').machine?.state, State.Speculative, 'Delete is never staged');
});

test('createLatency: Creating dwells, and a ticker ends it', async () => {
  const rows: readonly (readonly [number, number])[] = [
    [30, 100],
    [250, 250],
    [600, 1_000],
  ];
  for (const [createLatencyMs, endsAtMs] of rows) {
    const bench = new Bench({ createLatencyMs, instantTransitions: true }).seed();
    bench.call('create');
    await bench.time.runFor(endsAtMs - 1);
    assert.equal(bench.state(), State.Creating, `${createLatencyMs}`);
    await bench.time.runFor(1);
    assert.equal(bench.state(), State.Idle, `${createLatencyMs}`);
    assert.equal(bench.time.pendingTimers, 0, 'no ticker without work');
  }
});

test('failNext: one call of one kind on one machine, and nothing changes', () => {
  const bench = new Bench({ instantTransitions: true }).seed();
  const error = new Error('out of stock');
  bench.fake.failNext(bench.id, 'create', error);
  bench.call('create', bench.specs[1]?.id);
  assert.throws(() => bench.call('create', bench.id, token(1n, 1n)), error);
  assert.equal(bench.state(), State.Speculative);
  assert.equal(
    status(() => bench.call('create', bench.id, token(1n, 1n))),
    'FAILED_PRECONDITION',
  );
  assert.equal(
    status(() => bench.call('create', bench.id, token(1n, 2n))),
    'OK',
  );
});

test('failJoins: a Configure whose node never joins ends Failed, with the reason', async () => {
  const bench = new Bench();
  for (const spec of bench.specs) bench.fake.addIdle(spec);
  const [first = '', second = ''] = bench.specs.map(({ id }) => id);
  bench.fake.failJoins(({ id }) => (id === first ? 'the node never joined' : undefined));
  for (const id of [first, second]) bench.call('configure', id);
  await bench.time.runFor(1_000);
  const { state, lastError } = bench.fake.get(first);
  assert.deepEqual([state, lastError], [State.Failed, 'the node never joined']);
  assert.equal(bench.state(second), State.Configured);
});

test('failMachine: terminal, and the transition under way is discarded', async () => {
  const bench = new Bench().seed();
  bench.call('create');
  bench.fake.failMachine(bench.id, 'broken');
  await bench.time.runFor(1_000);
  const { state, lastError } = bench.fake.get(bench.id);
  assert.deepEqual([state, lastError], [State.Failed, 'broken']);
});

test('removeMachine: gone, and a late completion brings nothing back', async () => {
  const bench = new Bench().seed();
  bench.call('create');
  bench.fake.removeMachine(bench.id);
  await bench.time.runFor(1_000);
  assert.equal(
    status(() => bench.fake.get(bench.id)),
    'NOT_FOUND',
  );
  assert.equal(bench.fake.machineCount, 2);
});

test('shedSpeculative takes the first slots in id order', () => {
  const bench = new Bench({ instantTransitions: true }, 7).seed();
  const sorted = bench.specs.map(({ id }) => id).sort();
  bench.call('create', sorted[0]);
  assert.equal(bench.fake.shedSpeculative(0.5), 3);
  assert.equal(bench.fake.speculativeCount, 3);
  assert.deepEqual(
    sorted.map((id) => status(() => bench.fake.get(id)) === 'OK'),
    [true, false, false, false, true, true, true],
  );
});

test('counters, a random configured machine, and setAllocatable', () => {
  const bench = new Bench({ instantTransitions: true }).seed();
  assert.equal(bench.fake.randomConfiguredMachine(), undefined);
  bench.call('create');
  bench.call('configure');
  assert.deepEqual([bench.fake.configuredCount, bench.fake.speculativeCount], [1, 2]);
  assert.equal(bench.fake.randomConfiguredMachine(), bench.id);
  bench.fake.setAllocatable(bench.id, new Map([['cpu', '9']]));
  assert.deepEqual(bench.fake.get(bench.id).allocatable, new Map([['cpu', '9']]));
});

test('close leaves no timer', async () => {
  const bench = new Bench({ createLatencyMs: 100 }).seed();
  bench.call('create');
  const plain = new Bench().seed();
  plain.call('create');
  for (const { fake, time } of [bench, plain]) {
    assert.equal(time.pendingTimers, 1);
    fake.close();
    assert.equal(time.pendingTimers, 0);
  }
});
