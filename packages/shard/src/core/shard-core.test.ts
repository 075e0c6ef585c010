// Proves the shard's cycle against an asynchronous provider: demand becomes machines, withdrawal
// gives them back, every step is told, nothing is done twice, and trouble burns no machine.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ActionKind, decodeShardMetadata, State } from '@bigfleet/engine';
import { type FailureCode, fromMap, TokenSource } from '@bigfleet/wire';
import type { Provider } from '../provider/provider.ts';
import { failureOf, ProviderError } from '../provider/provider-error.ts';
import { ProviderSource } from '../provider/provider-source.ts';
import type { ListMode } from '../provider/reconcile/list-plan.ts';
import { FakeProvider, InProcessProvider } from '../testing/index.ts';
import { fourCores, openRails, type Stage, stage } from './testing/stage.ts';

const failure = (status: FailureCode, message: string): ProviderError =>
  new ProviderError({ failure: failureOf(status), status, message });
const outcomes = ({ executed }: Stage): string[] => executed.map(({ outcome }) => outcome);
const statesOf = ({ changes }: Stage, id: string): (number | 'gone')[] =>
  changes
    .filter(({ machine }) => machine.id === id)
    .map(({ machine, isRemoved }) => (isRemoved ? 'gone' : machine.state));

test('a slot becomes a node: every state is told, once, to the right cluster', async () => {
  const shard = stage();
  shard.fake.addSpeculative(fourCores('slot'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(40_000);
  assert.equal(shard.stateOf('slot'), State.Configured);
  assert.deepEqual(statesOf(shard, 'slot'), [
    State.Speculative,
    State.Creating,
    State.Idle,
    State.Configuring,
    State.Configured,
  ]);
  const bound = shard.changes.filter(({ machine }) => machine.state >= State.Configuring);
  assert.ok(bound.every(({ cluster }) => cluster === 'blue'));
  assert.deepEqual(outcomes(shard), ['success', 'success']);
  await shard.stop();
});

test('at steady demand no action at all', async () => {
  const shard = stage();
  for (const id of ['a', 'b', 'c']) shard.fake.addSpeculative(fourCores(id));
  shard.core.start();
  await shard.demand('blue', 8);
  await shard.virtual.runFor(40_000);
  const before = shard.executed.length;
  await shard.virtual.runFor(300_000);
  assert.equal(shard.executed.length, before);
  assert.equal(shard.fake.configuredCount, 2);
  await shard.stop();
});

test('a provider keeps what a restart needs: the stamps of the need', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4, 2_000);
  await shard.virtual.runFor(20_000);
  const stored = shard.fake.get('host').shardMetadata;
  const { assigned, problems } = decodeShardMetadata(fromMap(stored));
  assert.deepEqual(problems, []);
  assert.equal(assigned.priority, 2_000);
  assert.notEqual(assigned.needFingerprint, '');
  await shard.stop();
});

test('withdrawn demand drains, and the last update reaches the former owner', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(20_000);
  await shard.demand('blue', 0);
  await shard.virtual.runFor(40_000);
  assert.deepEqual(shard.executed.map(({ order }) => order.kind).slice(0, 2), [
    ActionKind.Bootstrap,
    ActionKind.Reclaim,
  ]);
  const idle = shard.changes.filter(
    ({ machine, from }) => machine.state === State.Idle && from === State.Draining,
  );
  assert.deepEqual(
    idle.map(({ cluster, machine }) => [cluster, machine.cluster]),
    [['blue', '']],
  );
  await shard.stop();
});

test('an operator that cannot be reached costs no machine', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.world.blob = { kind: 'no_session' };
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(25_000);
  assert.equal(shard.stateOf('host'), State.Idle);
  assert.ok(outcomes(shard).every((outcome) => outcome === 'no_session'));
  const machine = shard.core.fleet.read(0);
  assert.deepEqual([machine.cluster, machine.assigned.needFingerprint], ['', '']);
  assert.equal(shard.fake.get('host').cluster, '', 'the provider was never asked');
  await shard.stop();
});

test('a blob that is stale on arrival is pulled again, but not for ever', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  let pulls = 0;
  shard.world.blob = {
    kind: 'blob',
    userData: Uint8Array.of(1),
    isExpired: () => (pulls++, true),
  };
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(5_000);
  assert.equal(pulls, 3);
  assert.equal(shard.stateOf('host'), State.Idle);
  await shard.stop();
});

for (const status of ['UNAVAILABLE', 'DEADLINE_EXCEEDED'] as const) {
  test(`${status} burns no machine: the provider's truth is adopted, and it is tried again`, async () => {
    const shard = stage();
    shard.fake.addIdle(fourCores('host'));
    shard.fake.failNext('host', 'configure', failure(status, 'a blip'));
    shard.core.start();
    await shard.demand('blue', 4);
    await shard.virtual.runFor(40_000);
    assert.equal(shard.stateOf('host'), State.Configured);
    assert.deepEqual(outcomes(shard), ['provider_error', 'success']);
    await shard.stop();
  });
}

for (const listMode of ['full', 'incremental'] as const) {
  test(`a definite refusal makes the machine Failed for a while: ${listMode}`, () =>
    refusedForAWhile(listMode));
}

async function refusedForAWhile(listMode: ListMode): Promise<void> {
  const shard = stage({ listMode });
  shard.fake.addSpeculative(fourCores('slot'));
  shard.fake.failNext('slot', 'create', failure('INVALID_ARGUMENT', 'no such shape'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(5_000);
  assert.equal(shard.stateOf('slot'), State.Failed);
  assert.equal(shard.core.fleet.read(0).lastError, 'create: no such shape');
  await shard.virtual.runFor(120_000);
  assert.notEqual(shard.stateOf('slot'), State.Failed, 'believed again after the cool-down');
  await shard.stop();
}

test('without its provider a machine is left as it is, and is bought when it is back', async () => {
  const shard = stage();
  shard.fake.addSpeculative(fourCores('slot'));
  shard.core.start();
  await shard.virtual.runFor(1_000);
  const [source] = shard.providers;
  assert.ok(source !== undefined);
  shard.providers.remove(source.name);
  await shard.demand('blue', 4);
  await shard.virtual.runFor(15_000);
  assert.equal(shard.stateOf('slot'), State.Speculative, 'no edge is walked halfway');
  assert.ok(outcomes(shard).every((outcome) => outcome === 'provider_error'));
  shard.providers.add(source);
  await shard.virtual.runFor(40_000);
  assert.equal(shard.stateOf('slot'), State.Configured);
  await shard.stop();
});

/** A provider that takes every question and answers none. */
function hanging(): ProviderSource {
  const mute = (): Promise<never> => new Promise(() => {});
  const provider: Provider = {
    create: mute,
    configure: mute,
    drain: mute,
    delete: mute,
    get: mute,
    list: mute,
  };
  return new ProviderSource({ name: 'mute', provider });
}

test('a provider that hangs delays no decision about the others', async () => {
  const shard = stage();
  for (const id of ['a', 'b']) shard.fake.addIdle(fourCores(id));
  shard.core.start();
  await shard.virtual.runFor(1_000);
  shard.providers.add(hanging());
  await shard.demand('blue', 4);
  await shard.virtual.runFor(2_000);
  assert.equal(shard.fake.configuredCount, 1);
  const cycles = shard.core.cycleCount;
  await shard.demand('blue', 8);
  await shard.virtual.runFor(1_000);
  assert.equal(shard.fake.configuredCount, 2, 'and later cycles do not wait for it at all');
  assert.ok(shard.core.cycleCount > cycles);
  assert.equal(shard.cycles.at(-1)?.refreshes.get('mute')?.kind, 'unanswered');
});

test('a provider that fell silent gets no new calls, which would hold the workers of the others', async () => {
  const shard = stage();
  const { runtime } = shard.virtual;
  const beta = new FakeProvider({ runtime, latencyMs: 500 });
  beta.addIdle(fourCores('far'));
  const inner = new InProcessProvider({
    runtime,
    fake: beta,
    tokens: new TokenSource('shard-0', 1n),
  });
  const frozen = Promise.withResolvers<void>();
  let isMute = false;
  let callCount = 0;
  const answer = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isMute) await frozen.promise;
    return call();
  };
  const provider: Provider = {
    create: (...given) => answer(() => inner.create(...given)),
    configure: (...given) => {
      callCount++;
      return answer(() => inner.configure(...given));
    },
    drain: (...given) => answer(() => inner.drain(...given)),
    delete: (...given) => answer(() => inner.delete(...given)),
    get: (...given) => answer(() => inner.get(...given)),
    list: (...given) => answer(() => inner.list(...given)),
  };
  shard.providers.add(new ProviderSource({ name: 'beta', provider }));
  shard.core.start();
  await shard.virtual.runFor(2_000);
  isMute = true;
  await shard.virtual.runFor(30_000);
  await shard.demand('blue', 4);
  await shard.virtual.runFor(30_000);
  assert.equal(callCount, 0);
  isMute = false;
  frozen.resolve();
  await shard.virtual.runFor(30_000);
  assert.equal(beta.configuredCount, 1, 'it is used again as soon as it answers a List');
  await shard.stop();
});

test('who has never been heard may run what is wanted: decisions wait for it, but not for ever', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.providers.add(hanging());
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(55_000);
  assert.equal(shard.fake.configuredCount, 0);
  await shard.virtual.runFor(10_000);
  assert.equal(shard.fake.configuredCount, 1);
});

test('a fenced call latches actuation off and changes nothing here', async () => {
  const shard = stage();
  for (const id of ['a', 'b']) shard.fake.addIdle(fourCores(id));
  shard.fake.failNext('a', 'configure', failure('FAILED_PRECONDITION', 'newer token seen'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(5_000);
  assert.deepEqual(outcomes(shard), ['fenced']);
  assert.equal(shard.core.isFenced, true);
  await shard.demand('blue', 8);
  await shard.virtual.runFor(60_000);
  assert.equal(shard.executed.length, 1, 'nothing more is executed');
  assert.ok(shard.withheld.length > 0);
  await shard.stop();
});

test('paused: everything is decided and told, nothing is done', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.world.rails = { ...openRails, isPaused: true, isDryRun: true };
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(5_000);
  assert.deepEqual([...new Set(shard.withheld)], ['suppressed host'], 'paused beats dry run');
  assert.equal(shard.executed.length, 0);
  shard.world.rails = openRails;
  await shard.virtual.runFor(20_000);
  assert.equal(shard.stateOf('host'), State.Configured);
  await shard.stop();
});

test('truncation asks for the next cycle at once, rail 1 does not', async () => {
  const shard = stage();
  for (let at = 0; at < 30; at++) shard.fake.addIdle(fourCores(`m${at}`));
  shard.world.rails = { ...openRails, maxActionsPerCycle: 10 };
  shard.core.start();
  await shard.demand('blue', 120);
  await shard.virtual.runFor(3_000);
  assert.equal(shard.released.length, 30, 'three cycles in a row');
  shard.world.rails = { ...openRails, reclaimCapFraction: 0.05 };
  await shard.virtual.runFor(20_000);
  await shard.demand('blue', 0);
  await shard.virtual.runFor(5_000);
  const reclaims = shard.released.filter(({ kind }) => kind === ActionKind.Reclaim);
  assert.equal(reclaims.length, 1, 'at most a twentieth, never none, and no cycle in between');
  await shard.stop();
});

test('rail 1 is measured against what was decided about, not against what came since', async () => {
  const shard = stage({ executeConcurrency: 32 });
  for (let at = 0; at < 40; at++) {
    if (at < 20) shard.fake.addConfigured(fourCores(`m${at}`), 'blue');
    else shard.fake.addIdle(fourCores(`m${at}`));
  }
  shard.world.rails = { ...openRails, reclaimCapFraction: 0.1 };
  const decide = shard.host.cycle.bind(shard.host);
  let isArmed = false;
  shard.host.cycle = async (options) => {
    const answer = await decide(options);
    if (isArmed && answer.actions.count > 0) arrive(shard);
    return answer;
  };
  shard.core.start();
  await shard.virtual.runFor(1_000);
  isArmed = true;
  await shard.demand('blue', 0);
  await shard.virtual.runFor(1_000);
  const disposed = shard.cycles.find(({ answer }) => answer.actions.count > 0)?.disposition;
  assert.deepEqual(
    [disposed?.emitted[ActionKind.Reclaim], disposed?.cappedReclaimCount],
    [2, 18],
    'a tenth of 20, although 40 are Configured by now',
  );
  await shard.stop();
});

/** Everything that is idle becomes a node of blue, unasked. */
function arrive({ core, fake }: Stage): void {
  const { fleet } = core;
  for (const id of fleet.inventory.ids) {
    const slot = id === undefined || id === '' ? -1 : fleet.inventory.slotOf(id);
    if (slot < 0 || fleet.stateOf(slot) !== State.Idle) continue;
    fleet.observe({ ...fleet.read(slot), state: State.Configured, cluster: 'blue' });
  }
  assert.equal(fleet.configuredCount('blue'), 40);
  assert.equal(fake.configuredCount, 20);
}

test('a host that vanishes is replaced, and its cluster is told', async () => {
  const shard = stage();
  for (const id of ['a', 'b']) shard.fake.addIdle(fourCores(id));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(15_000);
  const lost = shard.fake.randomConfiguredMachine() ?? '';
  shard.fake.failMachine(lost, 'host lost: gone');
  await shard.virtual.runFor(40_000);
  assert.equal(shard.stateOf(lost), State.Failed);
  const told = shard.changes.filter(
    ({ machine, from }) => machine.id === lost && from === State.Configured,
  );
  assert.deepEqual(
    told.map(({ cluster }) => cluster),
    ['blue'],
  );
  assert.equal(shard.fake.configuredCount, 1);
  await shard.stop();
});

test('operator first: the provider is called when the desk says so, with what is left', async () => {
  const shard = stage();
  shard.fake.addIdle(fourCores('host'));
  shard.core.start();
  await shard.demand('blue', 4);
  await shard.virtual.runFor(20_000);
  shard.world.drainStart = 'operator_first';
  await shard.demand('blue', 0);
  await shard.virtual.runFor(30_000);
  assert.equal(shard.stateOf('host'), State.Draining);
  assert.equal(shard.fake.get('host').state, State.Configured, 'not yet asked');
  assert.equal(shard.core.fleet.pendingOf(0), 'drain_wait', 'a List does not undo it');
  const waiting = shard.released.at(-1);
  assert.equal(waiting?.kind, ActionKind.Reclaim);
  assert.ok(shard.core.drainDue(waiting, 42.9));
  await shard.virtual.runFor(20_000);
  assert.equal(shard.stateOf('host'), State.Idle);
  assert.equal(shard.core.fleet.pendingOf(0), 'none');
  await shard.stop();
});

test('stop lets what runs finish and takes no more', async () => {
  const shard = stage({ executeConcurrency: 1 });
  for (let at = 0; at < 5; at++) shard.fake.addIdle(fourCores(`m${at}`));
  shard.core.start();
  await shard.demand('blue', 20);
  const stopped = shard.core.stop(new AbortController().signal);
  await shard.virtual.runFor(60_000);
  await stopped;
  const after = shard.executed.length;
  shard.core.wake();
  await shard.virtual.runFor(60_000);
  assert.equal(shard.executed.length, after);
  assert.equal(shard.core.fleet.pendingCount, 0);
});

test('inputs leave for the engine when a cycle begins: it takes them in beside the List', async (context) => {
  const shard = stage();
  const order: string[] = [];
  const { fake, host } = shard;
  const [list, cycle] = [fake.list.bind(fake), host.cycle.bind(host)];
  context.mock.method(host, 'shipInputs', () => void order.push('inputs'));
  context.mock.method(fake, 'list', (request: Parameters<typeof list>[0]) => {
    order.push('list');
    return list(request);
  });
  context.mock.method(host, 'cycle', (options: Parameters<typeof cycle>[0]) => {
    order.push('question');
    return cycle(options);
  });
  shard.core.start();
  await shard.virtual.runFor(0);
  assert.deepEqual(order, ['inputs', 'list', 'question']);
  await shard.stop();
});
