// Proves the dashboard against real shards on the in-memory network, under virtual time: a decision appears
// with the numbers of its record, a broken feed is stale in time and loses and doubles nothing, a shard that
// starts again is followed, shards come and go with the registry, and several dashboards show the same.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type DashboardSettings, startDashboard } from '@bigfleet/dashboard';
import {
  type Answer,
  answers,
  type Decision,
  type Problem,
  problem,
  streamEvents,
  type ViewName,
} from '@bigfleet/dashboard/api';
import { actionKindName, decodeRecord, isDispositions } from '@bigfleet/engine';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import { createClient, ShardQuery } from '@bigfleet/wire';
import { RealShards } from '../ctl/testing/real-shard.ts';
import { createTestCa } from '../ctl/testing/certificates.ts';

const SETTINGS: DashboardSettings = {
  listen: { kind: 'listen', host: '127.0.0.1', port: 0 },
  shards: [],
  coordinators: [],
  recordsDirs: new Map(),
  rackLabels: ['rack'],
  teams: [],
  conformanceReports: new Map(),
  isSimulated: false,
  webDir: '/nothing',
  allowedHosts: [],
  maxStreams: 8,
  historyBytes: 1 << 20,
  recordsBytes: 1 << 20,
  tls: { cert: '', key: '', ca: '', requireTls: false },
  build: { version: 'test', revision: 'test' },
};
const realTurn = (): Promise<void> => realRuntime().timers.turn();
const SHARD_0 = { shard: 'shard-0', address: 'shard-0:7780' };

interface StreamEvent {
  readonly event: string;
  /** As the schema of its event reads it. */
  readonly data: unknown;
}

type Query = Readonly<Record<string, string>>;

/** A dashboard in the world of the shards, and tabs that look at it over real sockets. */
class Dashboard {
  readonly #world: RealShards;
  readonly #base: string;
  readonly events: StreamEvent[] = [];
  readonly #tab = new AbortController();

  static async start(
    t: TestContext,
    world: RealShards,
    settings: Partial<DashboardSettings>,
    from = 'dashboard',
  ): Promise<Dashboard> {
    const { runtime } = world.time;
    const running = await startDashboard({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
      registry: createRegistry(),
      env: {},
      settings: { ...SETTINGS, ...settings },
      network: { connect: ({ target }) => world.memory.connect({ from, to: target }) },
    });
    const dashboard = new Dashboard(world, `http://${running.address}`);
    t.after(async () => {
      dashboard.#tab.abort();
      let isDone = false;
      const stopped = running.stop().then(() => (isDone = true));
      while (!isDone) await dashboard.runFor(100);
      await stopped;
    });
    await dashboard.runFor(2_000);
    return dashboard;
  }

  constructor(world: RealShards, base: string) {
    this.#world = world;
    this.#base = base;
  }

  /** Virtual time, and what the sockets carry meanwhile. */
  async runFor(ms: number): Promise<void> {
    await this.#world.time.runFor(ms);
    for (let turns = 0; turns < 20; turns++) await realTurn();
  }

  /** An answer, as the schema reads it. */
  async get<V extends ViewName>(view: V, query: Query = {}): Promise<Answer<V>> {
    return answers[view].parse(await this.#ask(view, query)) as Answer<V>;
  }

  async refusal(view: ViewName, query: Query = {}): Promise<Problem> {
    return problem.parse(await this.#ask(view, query));
  }

  async #ask(view: ViewName, query: Query): Promise<unknown> {
    let body: unknown;
    const asked = fetch(`${this.#base}/api/v1/${view}?${new URLSearchParams(query).toString()}`)
      .then((response) => response.json())
      .then((read) => (body = read));
    for (let steps = 0; body === undefined && steps < 2_000; steps++) await this.runFor(10);
    await asked;
    return body;
  }

  async shard(name = 'shard-0'): Promise<Answer<'shards'>['shards'][number]> {
    const { shards } = await this.get('shards');
    return shards.find(({ shard }) => shard === name) ?? assert.fail(`no shard ${name}`);
  }

  /** As an EventSource does, until the end of the test. */
  async open(query = ''): Promise<void> {
    const { signal } = this.#tab;
    const { body } = await fetch(`${this.#base}/api/v1/stream${query}`, { signal });
    assert.ok(body !== null);
    const read = async (): Promise<void> => {
      let rest = '';
      for await (const text of body.pipeThrough(new TextDecoderStream())) {
        const frames = `${rest}${text}`.split('\n\n');
        rest = frames.pop() ?? '';
        this.events.push(...frames.map(parseFrame));
      }
    };
    read().catch((error: unknown) => assert.ok(signal.aborted, String(error)));
    await this.runFor(0);
  }

  /** Of one kind, in their order. */
  told(event: keyof typeof streamEvents): readonly unknown[] {
    return this.events.filter((each) => each.event === event).map(({ data }) => data);
  }

  get decisions(): readonly Decision[] {
    return this.told('decision').map((data) => streamEvents.decision.parse(data));
  }
}

function parseFrame(frame: string): StreamEvent {
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1] ?? '';
  const data: unknown = JSON.parse(field('data') || '{}');
  return { event: field('event'), data };
}

async function oneShard(t: TestContext, idleCount = 6): Promise<RealShards> {
  const world = new RealShards();
  t.after(() => world.stop());
  world.startCoordinator([{ clusterId: 'blue', shardId: 'shard-0' }]);
  await world.startShard('shard-0', idleCount);
  return world;
}

/** What the shard itself recorded, over the wire. */
async function recorded(dashboard: Dashboard, world: RealShards): Promise<readonly string[]> {
  const channel = world.memory.connect({ from: 'auditor', to: 'shard-0:7780' });
  const lines: string[] = [];
  let isDone = false;
  const read = async (): Promise<void> => {
    for await (const frame of createClient(ShardQuery, channel).listRecords({})) {
      if (isDispositions(frame.payload)) continue;
      const record = decodeRecord(frame.payload);
      assert.ok(record.ok);
      for (const [place, action] of record.value.actions.entries()) {
        const { machineId, cluster, shape } = action;
        const id = `shard-0/${frame.shardEpoch}/${frame.cycle}/${place}`;
        const kind = actionKindName(action.kind);
        lines.push([id, kind, machineId, cluster, shape.pricePerHour].join(' '));
      }
    }
    isDone = true;
  };
  const reading = read();
  while (!isDone) await dashboard.runFor(10);
  await reading;
  channel.close();
  return lines.sort();
}

function lineOf({ id, kind, machine, cluster, dollarsPerHour }: Decision): string {
  return [id, kind, machine, cluster, dollarsPerHour].join(' ');
}

test('a decision appears on the stream with the numbers of its record', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { shards: [SHARD_0] });
  await dashboard.open('?view=now');
  await world.connect('blue', 'shard-0', 8, 1_000);
  await dashboard.runFor(5_000);
  const expected = await recorded(dashboard, world);
  assert.ok(expected.length >= 2, `${expected.length} decisions`);
  assert.deepEqual(dashboard.decisions.map(lineOf).sort(), expected);
  const [first] = dashboard.decisions;
  assert.equal(first?.need?.cluster, 'blue');
  // The page that watches has been told as well, with two machines' dollars.
  const { answer } = streamEvents.view.parse(dashboard.told('view').at(-1));
  const newest = answers.now.parse(answer);
  assert.equal(newest.decisions.length, expected.length);
  assert.equal(Math.round(newest.dollarsPerHour * 100), 6 * 20);
});

test('an explanation is the shard’s own', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { shards: [SHARD_0] });
  await world.connect('blue', 'shard-0', 8, 1_000);
  await dashboard.runFor(5_000);
  const { needs } = await dashboard.get('needs');
  const [{ cluster, fingerprint } = { cluster: '', fingerprint: '' }] = needs;
  const { kind, candidates } = await dashboard.get('explain', { cluster, fingerprint });
  assert.equal(kind, 'explained');
  assert.ok(candidates.some(({ isChosen, dollarsPerHour }) => isChosen && dollarsPerHour === 0.2));
  const missing = await dashboard.refusal('explain', { machine: 'nowhere' });
  assert.match(missing.code, /not_found/);
});

test('decisions of before the dashboard are fetched', async (t) => {
  const world = await oneShard(t);
  await world.connect('blue', 'shard-0', 8, 1_000);
  await world.time.runFor(600_000);
  const dashboard = await Dashboard.start(t, world, { shards: [SHARD_0] });
  await dashboard.runFor(1_000);
  const { decisions } = await dashboard.get('decisions');
  assert.deepEqual(decisions.map(lineOf).sort(), await recorded(dashboard, world));
});

test('a feed that is cut is stale within three seconds and resumes without loss or repetition', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { shards: [SHARD_0] });
  await dashboard.open();
  await world.connect('blue', 'shard-0', 4, 1_000);
  await dashboard.runFor(5_000);
  assert.equal((await dashboard.shard()).state, 'live');
  for (const cut of ['reset', 'partition'] as const) {
    world.memory.apply({ kind: cut, a: 'dashboard', b: 'shard-0' });
    if (cut === 'reset') world.memory.apply({ kind: 'refuse', address: 'shard-0:7780' });
    await dashboard.runFor(3_000);
    const stale = await dashboard.shard();
    assert.equal(stale.state, 'stale', cut);
    assert.match(stale.problem, /shard-0/, cut);
    await world
      .connect(cut === 'reset' ? 'red' : 'green', 'shard-0', 4, 1_000)
      .catch(() => undefined);
    await dashboard.runFor(10_000);
    world.memory.apply({ kind: 'admit', address: 'shard-0:7780' });
    world.memory.apply({ kind: 'heal', a: 'dashboard', b: 'shard-0' });
    await world.connect(`later-${cut}`, 'shard-0', 4, 1_000);
    await dashboard.runFor(30_000);
    assert.deepEqual((await dashboard.shard()).state, 'live', cut);
  }
  const told = dashboard.decisions.map(lineOf);
  assert.equal(new Set(told).size, told.length, 'none twice');
  assert.deepEqual(told.toSorted(), await recorded(dashboard, world));
  assert.equal((await dashboard.shard()).snapshots, 1, 'both went on from their cursor');
  const states = dashboard
    .told('source')
    .map((data) => streamEvents.source.parse(data))
    .filter(({ kind }) => kind === 'shard')
    .map(({ state }) => state);
  assert.deepEqual(
    states.filter((state, at) => state !== states[at - 1]),
    ['stale', 'live', 'stale', 'live'],
  );
});

test('a shard that starts again with a higher epoch is followed, and what it forgot is forgotten', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { shards: [SHARD_0] });
  await dashboard.open();
  await world.connect('blue', 'shard-0', 8, 1_000);
  await dashboard.runFor(5_000);
  const before = dashboard.decisions.length;
  await world.stopShard('shard-0');
  assert.equal((await dashboard.shard()).state, 'stale');
  await world.startShard('shard-0', 3, { epoch: 5n });
  await dashboard.runFor(30_000);
  const again = await dashboard.shard();
  assert.deepEqual([again.state, again.epoch], ['live', '5']);
  const machines = await dashboard.get('machines');
  assert.equal(machines.total, 3);
  await world.connect('blue', 'shard-0', 4, 1_000);
  await dashboard.runFor(10_000);
  const since = dashboard.decisions.slice(before).filter(({ epoch }) => epoch === '5');
  assert.equal(since.length, 1);
});

test('shards come and go with the registry of the coordinator, which is optional', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { coordinators: ['coordinator:7790'] });
  await dashboard.runFor(3_000);
  assert.equal((await dashboard.shard()).state, 'live');
  await world.startShard('shard-1', 2);
  await dashboard.runFor(5_000);
  assert.equal((await dashboard.shard('shard-1')).state, 'live');
  const { coordinator, bindings } = await dashboard.get('coordinator');
  assert.deepEqual([coordinator?.term, bindings.length], ['7', 1]);
  world.memory.apply({ kind: 'partition', a: 'dashboard', b: 'coordinator' });
  await dashboard.runFor(6_000);
  const { frame } = await dashboard.get('coordinator');
  assert.deepEqual(
    frame.sources.filter(({ kind }) => kind === 'coordinator').map(({ state }) => state),
    ['stale'],
  );
  assert.equal((await dashboard.shard('shard-1')).state, 'live', 'shards go on without it');
  world.memory.apply({ kind: 'heal', a: 'dashboard', b: 'coordinator' });
  world.registered.splice(1, 1);
  await dashboard.runFor(10_000);
  assert.equal((await dashboard.shard('shard-1')).state, 'absent');
});

test('the instruction queue says what waits since when, and never zero for what was not told', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, { coordinators: ['coordinator:7790'] });
  const queue = async (): Promise<Answer<'coordinator'>['queue']> => {
    await dashboard.runFor(4_000);
    return (await dashboard.get('coordinator')).queue;
  };
  const [old] = await queue();
  assert.deepEqual([old?.shard, old?.pending, old?.pendingSinceMs], ['shard-0', null, null]);
  assert.ok((old?.reportMs ?? 0) > 0, 'the registry knows when it last heard');
  world.pendingInstructions['shard-0'] = 2;
  const [waiting] = await queue();
  assert.equal(waiting?.pending, 2);
  assert.ok(waiting.pendingSinceMs !== null);
  world.pendingInstructions['shard-0'] = 1;
  const [still] = await queue();
  assert.deepEqual([still?.pending, still?.pendingSinceMs], [1, waiting.pendingSinceMs]);
  world.pendingInstructions['shard-0'] = 0;
  const [clear] = await queue();
  assert.deepEqual([clear?.pending, clear?.pendingSinceMs], [0, null]);
  world.pendingInstructions['shard-0'] = 3;
  const [again] = await queue();
  assert.ok((again?.pendingSinceMs ?? 0) > waiting.pendingSinceMs, 'it begins anew');
});

test('an address that leads to another shard is not believed', async (t) => {
  const world = await oneShard(t);
  const wrong = { shard: 'shard-9', address: 'shard-0:7780' };
  const dashboard = await Dashboard.start(t, world, { shards: [wrong] });
  await dashboard.runFor(5_000);
  const { state, problem } = await dashboard.shard('shard-9');
  assert.equal(state, 'connecting');
  assert.equal(problem, 'at the address of shard shard-9 answers shard shard-0');
});

test('two dashboards show the same', async (t) => {
  const world = await oneShard(t);
  const [one, two] = [
    await Dashboard.start(t, world, { shards: [SHARD_0] }, 'dashboard-1'),
    await Dashboard.start(t, world, { shards: [SHARD_0] }, 'dashboard-2'),
  ];
  await world.connect('blue', 'shard-0', 12, 1_000);
  await one.runFor(20_000);
  const picture = async (dashboard: Dashboard): Promise<unknown> => {
    const [now, machines] = [await dashboard.get('now'), await dashboard.get('machines')];
    return [now.supply, now.dollarsPerHour, now.decisions, machines.machines];
  };
  assert.deepEqual(await picture(one), await picture(two));
});

test('without any source it serves, and each page names the flag', async (t) => {
  const world = await oneShard(t);
  const dashboard = await Dashboard.start(t, world, {});
  const flags = async (view: 'now' | 'coordinator'): Promise<readonly string[]> => {
    const { frame } = await dashboard.get(view);
    return frame.sources.filter(({ state }) => state === 'absent').map(({ flag }) => flag);
  };
  assert.ok((await flags('now')).includes('--shard'));
  assert.ok((await flags('coordinator')).includes('--coordinator'));
  const whatIf = await dashboard.refusal('whatif');
  assert.match(whatIf.message, /--records-dir/);
  const pod = await dashboard.refusal('explain', { cluster: 'blue', pod: 'default/web-1' });
  assert.match(pod.message, /--kubeconfig/);
});

test('a what-if over the records of a real shard is answered by a thread of its own', async (t) => {
  const world = new RealShards();
  await world.startShard('shard-0', 6);
  await world.connect('blue', 'shard-0', 8, 1_000);
  await world.time.runFor(600_000);
  await world.stop();
  const folder = mkdtempSync(path.join(tmpdir(), 'dashboard-what-if-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await world.writeRecords('shard-0', folder);
  const runtime = realRuntime();
  const running = await startDashboard({
    runtime,
    logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
    registry: createRegistry(),
    env: {},
    settings: { ...SETTINGS, recordsDirs: new Map([['shard-0', folder]]) },
  });
  t.after(() => running.stop());
  const ask = async (set: string): Promise<unknown> => {
    const query = new URLSearchParams({ set });
    const answer = await fetch(`http://${running.address}/api/v1/whatif?${query.toString()}`);
    return await answer.json();
  };
  assert.equal(problem.parse(await ask('prices=cheap')).code, 'parameter_invalid');
  const dearer = async (): Promise<Answer<'whatif'>> =>
    answers.whatif.parse(await ask('price:m6i.large=×1.5'));
  let answer = await dearer();
  assert.equal(answer.status, 'running');
  while (answer.status === 'running') {
    await realTurn();
    answer = await dearer();
  }
  assert.deepEqual([answer.status, answer.problem], ['done', '']);
  const { baseline, changed } = answer.result ?? assert.fail('done has a result');
  assert.ok(baseline.dollars > 0);
  assert.equal(Math.round(changed.dollars * 1e4), Math.round(baseline.dollars * 1.5 * 1e4));
});

test('a certificate that may change things is refused at the start', async (t) => {
  const runtime = realRuntime();
  const ca = await createTestCa();
  t.after(() => ca.remove());
  const start = async (san: string): Promise<void> => {
    const tls = await ca.issue(san);
    const running = await startDashboard({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
      registry: createRegistry(),
      env: {},
      settings: { ...SETTINGS, tls: { ...tls, requireTls: true } },
    });
    await running.stop();
  };
  await start('bigfleet://readonly');
  for (const san of [
    'bigfleet://admin',
    'bigfleet://shard/shard-0',
    'bigfleet://cluster/blue',
    'spiffe://x',
  ]) {
    await assert.rejects(start(san), (error: unknown) => {
      assert.ok(error instanceof BigFleetError, String(error));
      assert.equal(error.code, 'identity_denied');
      assert.match(error.message, /bigfleet:\/\/readonly only/);
      return true;
    });
  }
});
