// Proves that any kept moment is shown exactly as it was when it was now: machines, needs and every sum,
// after any sequence of deltas, snapshots, cut snapshots and new epochs, and within any bound of history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { answers, params, type ViewName } from '../api/index.ts';
import type { CycleFacts, Fleet, MachineFacts, NeedFacts, ShardFacts } from '../facts.ts';
import { DEFAULT_LIMITS, FleetMirror } from '../mirror/fleet-mirror.ts';
import { STATE_NAMES } from '../words.ts';
import { nobodyOutside } from '../testing/synthetic-fleet.ts';
import { createFleet, type FleetLimits } from './fleet.ts';
import { type Picture, RandomFeed } from './testing/random-feed.ts';

const SEEDS = Number(process.env['BIGFLEET_SEEDS'] ?? 20);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);
const STEPS = 60;

interface Stage {
  readonly fleet: Fleet;
  readonly feed: RandomFeed;
}

function stage(seed: string, limits: Partial<FleetLimits> = {}): Stage {
  let made: Fleet | undefined;
  const feed = new RandomFeed(seed, (nowMs) => {
    made = createFleet({ nowMs, isSimulated: false, outside: nobodyOutside, limits });
    return made;
  });
  assert.ok(made !== undefined);
  return { fleet: made, feed };
}

/** By (machine, shard), only what both sides spell the same way. */
function machinesOf(picture: Picture): unknown[] {
  const rows = [...picture.shards].flatMap(([shard, { machines }]) =>
    [...machines.values()].map((facts) => ({ shard, ...told(facts) })),
  );
  return rows.sort(byName);
}

function told(facts: MachineFacts): { machine: string } & Record<string, unknown> {
  const { machine, cluster, provider, instanceType, region, zone, rack, dollarsPerHour } = facts;
  const { priority, node, sinceMs, pendingAction, lastError, need, group } = facts;
  return {
    machine,
    state: STATE_NAMES[facts.state - 1],
    cluster,
    provider,
    instanceType,
    region,
    zone,
    rack,
    dollarsPerHour,
    interruptionProbability: facts.interruptionProbability,
    priority,
    node,
    sinceMs,
    pendingAction,
    lastError,
    need,
    group,
  };
}

function byName(a: { machine: string; shard: string }, b: typeof a): number {
  if (a.machine !== b.machine) return a.machine < b.machine ? -1 : 1;
  return a.shard < b.shard ? -1 : 1;
}

async function shownMachines(fleet: Fleet, at: number): Promise<unknown[]> {
  const answer = await fleet.answer('machines', params.machines.parse({ at, limit: 5_000 }));
  assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
  return answer.value.machines
    .map(({ capacityType: _, interruptionPenalty: __, ...row }) => row)
    .sort(byName);
}

async function shownNeeds(fleet: Fleet, at: number): Promise<unknown[]> {
  const answer = await fleet.answer('needs', params.needs.parse({ at, limit: 5_000 }));
  assert.ok(answer.ok);
  return answer.value.needs
    .map(({ shard, cluster, fingerprint, group, reason, claimed, unmetSinceMs, resources }) =>
      JSON.stringify([
        shard,
        cluster,
        fingerprint,
        group,
        reason,
        claimed,
        unmetSinceMs,
        resources,
      ]),
    )
    .sort();
}

function needsOf(picture: Picture): unknown[] {
  return [...picture.shards]
    .flatMap(([shard, { needs }]) =>
      [...needs.values()].map((need) => {
        const { cluster, fingerprint, group, reason, claimed, unmetSinceMs, resources } = need;
        const row = [shard, cluster, fingerprint, group, reason, claimed, unmetSinceMs, resources];
        return JSON.stringify(row);
      }),
    )
    .sort();
}

for (let seed = FIRST; seed < FIRST + SEEDS; seed++) {
  test(`every moment comes back as it was (seed ${seed})`, async () => {
    const { fleet, feed } = stage(String(seed));
    for (let step = 0; step < STEPS; step++) {
      feed.step();
      assert.deepEqual(await shownMachines(fleet, 0), machinesOf(feed.pictures.at(-1) as Picture));
    }
    for (const picture of feed.pictures) {
      assert.deepEqual(await shownMachines(fleet, picture.atMs), machinesOf(picture));
      assert.deepEqual(await shownNeeds(fleet, picture.atMs), needsOf(picture));
    }
  });
}

test('a moment between two steps shows the earlier one', async () => {
  const { fleet, feed } = stage('between');
  for (let step = 0; step < 20; step++) feed.step();
  for (const [at, picture] of feed.pictures.entries()) {
    const next = feed.pictures[at + 1];
    if (next === undefined || next.atMs - picture.atMs < 2) continue;
    assert.deepEqual(await shownMachines(fleet, next.atMs - 1), machinesOf(picture));
  }
});

/** Sums by the slow way: everything from the rows. */
async function checkSums(fleet: Fleet, at: number, picture: Picture): Promise<void> {
  const rows = [...picture.shards.values()].flatMap(({ machines }) => [...machines.values()]);
  const billed = rows.filter(({ state }) => state >= 3 && state <= 7);
  const cents = (values: readonly number[]): number =>
    values.reduce((sum, dollars) => sum + Math.round(dollars * 10_000), 0);
  const total = cents(billed.map(({ dollarsPerHour }) => dollarsPerHour));
  const exact = (dollars: number): number => Math.round(dollars * 10_000);
  const now = await fleet.answer('now', { at });
  const cost = await fleet.answer('cost', params.cost.parse({ at }));
  const map = await fleet.answer('map', params.map.parse({ at }));
  const clusters = await fleet.answer('clusters', params.clusters.parse({ at }));
  assert.ok(now.ok && cost.ok && map.ok && clusters.ok);
  const sum = (shares: readonly { dollarsPerHour: number }[]): number =>
    exact(shares.reduce((all, { dollarsPerHour }) => all + dollarsPerHour, 0));
  assert.equal(exact(now.value.dollarsPerHour), total, 'the total is the sum of what is billed');
  const line = now.value.spending.dollarsPerHour;
  assert.equal(exact(line.at(-1) ?? Number.NaN), total, 'the line of spending ends with it');
  assert.equal(sum(now.value.supply), total, 'states');
  assert.equal(sum(now.value.capacity), total, 'capacity types');
  assert.equal(exact(cost.value.dollarsPerHour), total, 'cost');
  assert.equal(sum(cost.value.byCapacityType), total, 'cost by capacity type');
  assert.equal(sum(cost.value.byProvider), total, 'cost by provider');
  assert.equal(sum([...cost.value.byCluster, cost.value.idle]), total, 'clusters and idle');
  assert.equal(sum([...cost.value.byPriority, cost.value.idle]), total, 'priorities and idle');
  assert.equal(
    exact(cost.value.matrix.dollarsPerHour.flat().reduce((all, part) => all + part, 0)),
    sum(cost.value.byPriority),
    'the matrix is what runs',
  );
  assert.equal(sum(map.value.groups), total, 'groups of the map');
  assert.equal(map.value.total, rows.length);
  assert.equal(map.value.cells?.machine.length, rows.length);
  for (const [place, name] of STATE_NAMES.entries()) {
    const count = rows.filter(({ state }) => state === place + 1).length;
    assert.equal(now.value.supply[place]?.count, count, name);
  }
  const bound = rows.filter(({ cluster }) => cluster !== '').length;
  assert.equal(
    clusters.value.clusters.reduce((all, row) => all + row.machines, 0),
    bound,
  );
}

test('sums that are kept up to date equal sums from the rows, now and at every past moment', async () => {
  const { fleet, feed } = stage('sums');
  for (let step = 0; step < STEPS; step++) {
    feed.step();
    await checkSums(fleet, 0, feed.pictures.at(-1) as Picture);
  }
  for (const picture of feed.pictures) await checkSums(fleet, picture.atMs, picture);
});

test('a moment that is not kept is refused, and the oldest that is kept is exact', async () => {
  const { fleet, feed } = stage('bounded', { historyBytes: 6_000 });
  for (let step = 0; step < 200; step++) feed.step();
  assert.ok(fleet.sizes().historyBytes <= 6_000);
  const now = await fleet.answer('now', { at: 0 });
  assert.ok(now.ok);
  const { oldestMs } = now.value.frame;
  const kept = feed.pictures.filter(({ atMs }) => atMs >= oldestMs);
  assert.ok(kept.length > 3 && kept.length < feed.pictures.length, `${kept.length} are kept`);
  for (const picture of kept) {
    assert.deepEqual(await shownMachines(fleet, picture.atMs), machinesOf(picture));
  }
  const early = await fleet.answer('now', { at: oldestMs - 1 });
  assert.equal(early.ok ? '' : early.error.code, 'moment_not_kept');
  const late = await fleet.answer('now', { at: feed.nowMs + 1 });
  assert.equal(late.ok ? '' : late.error.code, 'moment_not_yet');
});

test('history ends at its age', async () => {
  const { fleet, feed } = stage('age', { historyMs: 60_000 });
  for (let step = 0; step < 100; step++) feed.step();
  const now = await fleet.answer('now', { at: 0 });
  assert.ok(now.ok);
  assert.ok(now.value.frame.oldestMs >= now.value.frame.atMs - 60_000 - 20_000);
});

test('every answer is what its schema says, at any moment and with any filter', async () => {
  const { fleet, feed } = stage('schema');
  for (let step = 0; step < 80; step++) feed.step();
  const random = createRandom('schema');
  const filters = [
    {},
    { cluster: '__proto__' },
    { provider: 'q', state: 'Configured' },
    { zone: 'z1', capacity: 'Spot', q: 'M-1' },
    { shard: 'two', q: '😀' },
    { shard: 'nobody' },
  ];
  const views = (Object.keys(params) as ViewName[]).filter(
    (view) => !['record', 'explain', 'whatif', 'coordinator'].includes(view),
  );
  for (let round = 0; round < 60; round++) {
    const at = feed.pictures[random.below(feed.pictures.length)]?.atMs ?? 0;
    for (const view of views) {
      const filter = filters[random.below(filters.length)] ?? {};
      const known = Object.entries(filter).filter(([name]) => name in params[view].shape);
      const query = params[view].parse({ at, ...Object.fromEntries(known) });
      const answer = await fleet.answer(view, query);
      assert.ok(answer.ok, view);
      answers[view].parse(JSON.parse(JSON.stringify(answer.value)));
    }
  }
});

test('the cells of the map keep their places while the machines are the same', async () => {
  const { fleet, feed } = stage('places');
  for (let step = 0; step < 30; step++) feed.step();
  for (const picture of feed.pictures) {
    const map = await fleet.answer('map', params.map.parse({ at: picture.atMs, by: 'provider' }));
    assert.ok(map.ok && map.value.cells !== null);
    const { machine, group } = map.value.cells;
    const places = machine.map((id, at) => ({ id, group: group[at] ?? 0 }));
    const sorted = [...places].sort((a, b) => a.group - b.group);
    assert.deepEqual(places, sorted, 'groups are in order');
    const again = await fleet.answer('map', params.map.parse({ at: picture.atMs, by: 'provider' }));
    assert.ok(again.ok);
    assert.deepEqual(again.value.cells, map.value.cells);
  }
});

test('a snapshot whose totals do not fit is refused and changes nothing', async () => {
  const { fleet, feed } = stage('totals');
  for (let step = 0; step < 10; step++) feed.step();
  const before = await shownMachines(fleet, 0);
  const { version } = fleet;
  const shard = fleet.shard('one', 'one:1');
  shard.begin({ epoch: 9n, cycle: 1, isResumed: false });
  const ended = shard.snapshotEnd({ machines: 1, needs: 0, atMs: feed.nowMs });
  assert.equal(ended.ok ? '' : ended.error.code, 'snapshot_incomplete');
  assert.deepEqual(await shownMachines(fleet, 0), before);
  assert.equal(fleet.version, version);
});

test('a step that comes late changes a moment that was shown already', async () => {
  const { fleet, feed } = stage('late');
  for (let step = 0; step < 30; step++) feed.step();
  const before = await shownMachines(fleet, feed.nowMs);
  const machines = feed.pictures.at(-1)?.shards.get('two')?.machines ?? new Map();
  const [gone] = machines.keys();
  assert.ok(gone !== undefined);
  fleet.shard('two', 'two:1').cycle({
    cycle: 1_000,
    atMs: feed.nowMs,
    machinesChanged: [],
    machinesRemoved: [gone],
    needsChanged: [],
    needsRemoved: [],
    actions: {},
    shortfalls: 0,
    dollarsPerHour: 0,
  });
  assert.equal((await shownMachines(fleet, feed.nowMs)).length, before.length - 1);
});

test('names that nothing has any more are forgotten, and no row and no past moment loses its own', async () => {
  let nowMs = 1_700_000_000_000;
  const fleet = createFleet({ nowMs: () => nowMs, isSimulated: false, outside: nobodyOutside });
  const feed = fleet.shard('s', '');
  const count = 30_000;
  const rounds = 5;
  const row = (round: number, at: number): MachineFacts => ({
    machine: `m-${round}-${at}`,
    state: 5,
    cluster: 'c',
    provider: 'p',
    instanceType: 't',
    region: '',
    zone: 'z',
    rack: `r-${round}`,
    capacityType: 3,
    dollarsPerHour: 1 + round,
    interruptionProbability: 0,
    priority: 0,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    node: `n-${round}-${at}`,
    sinceMs: nowMs,
    pendingAction: '',
    lastError: '',
    need: '',
    group: '',
  });
  const moments: number[] = [];
  for (let round = 0; round < rounds; round++) {
    nowMs += 1_000;
    moments.push(nowMs);
    feed.begin({ epoch: 1n, cycle: round, isResumed: false });
    feed.snapshotPart(
      Array.from({ length: count }, (_, at) => row(round, at)),
      [],
    );
    assert.ok(feed.snapshotEnd({ machines: count, needs: 0, atMs: nowMs }).ok);
  }
  for (const [round, at] of moments.entries()) {
    const query = params.machines.parse({ at, q: `-${round}-29999` });
    const answer = await fleet.answer('machines', query);
    assert.ok(answer.ok);
    assert.deepEqual(
      answer.value.machines.map(({ machine, node, rack, dollarsPerHour }) => ({
        machine,
        node,
        rack,
        dollarsPerHour,
      })),
      [
        {
          machine: `m-${round}-29999`,
          node: `n-${round}-29999`,
          rack: `r-${round}`,
          dollarsPerHour: 1 + round,
        },
      ],
    );
  }
});

const noChanges = {
  machinesChanged: [],
  machinesRemoved: [],
  needsChanged: [],
  needsRemoved: [],
  actions: {},
  shortfalls: 0,
  dollarsPerHour: 0,
};

test('a status of every second is shown as it was, and history holds what moved and no more', () => {
  const sessions = 200;
  const seconds = 100;
  const startMs = 1_700_000_000_000;
  let nowMs = startMs;
  const tell = (): void => undefined;
  const mirror = new FleetMirror({ nowMs: () => nowMs, limits: DEFAULT_LIMITS, tell });
  const shard = mirror.shard('s', '');
  shard.snapshotEnd({ machines: 0, needs: 0, atMs: nowMs });
  const told: ShardFacts[] = [];
  for (let second = 1; second <= seconds; second++) {
    nowMs += 1_000;
    const status: ShardFacts = {
      epoch: 1n,
      startedMs: startMs,
      isReady: second < 50,
      isPaused: false,
      isDryRun: false,
      rails: ['paused: false by somebody'],
      version: 'v1',
      phases: [],
      providers: [],
      // One in a hundred has reported since.
      sessions: Array.from({ length: sessions }, (_, at) => ({
        cluster: `cluster-${at}`,
        isConnected: true,
        sinceMs: startMs,
        lastRollupMs: at % 100 === second ? nowMs : (told.at(-1)?.sessions[at]?.lastRollupMs ?? 0),
        quarantinedRollups: 0,
        identity: `bigfleet://cluster/cluster-${at}`,
        tellsNodes: true,
        phantoms: [],
      })),
      brakes: [],
    };
    told.push(structuredClone(status));
    // A status has no time of its own: it belongs to the step before it.
    shard.cycle({ ...noChanges, cycle: second, atMs: nowMs });
    shard.status(status);
  }
  const shown = told.map((_, at) => {
    const world = mirror.world(startMs + 1_000 * (at + 1));
    assert.ok(world.ok);
    return world.value.shards[0]?.head.status;
  });
  assert.deepEqual(shown, told);
  const rows = new Set(shown.flatMap((status) => status?.sessions ?? []));
  assert.ok(rows.size <= sessions + 2 * seconds, `${rows.size} rows of sessions are held`);
  const bytes = mirror.sizes().historyBytes;
  assert.ok(bytes > rows.size * 100, `${bytes} bytes are too few for what is held`);
});

test('statuses that no step holds cost nothing, however long a shard tells no cycle', () => {
  const startMs = 1_700_000_000_000;
  let nowMs = startMs;
  const tell = (): void => undefined;
  const mirror = new FleetMirror({ nowMs: () => nowMs, limits: DEFAULT_LIMITS, tell });
  const other = mirror.shard('other', '');
  const shard = mirror.shard('s', '');
  for (const each of [other, shard]) each.snapshotEnd({ machines: 0, needs: 0, atMs: nowMs });
  // Its cycle stands still, or its feed hangs, for half an hour; its sessions go on.
  for (let second = 1; second <= 1_800; second += 5) {
    nowMs = startMs + second * 1_000;
    other.cycle({ ...noChanges, cycle: second, atMs: nowMs });
    shard.status({
      epoch: 1n,
      startedMs: startMs,
      isReady: true,
      isPaused: false,
      isDryRun: false,
      rails: [],
      version: 'v1',
      phases: [],
      providers: [],
      sessions: Array.from({ length: 1_000 }, (_, at) => ({
        cluster: `cluster-${at}`,
        isConnected: true,
        sinceMs: startMs,
        lastRollupMs: nowMs,
        quarantinedRollups: 0,
        identity: `bigfleet://cluster/cluster-${at}`,
        tellsNodes: true,
        phantoms: [],
      })),
      brakes: [],
    });
  }
  shard.cycle({ ...noChanges, cycle: 1, atMs: nowMs });
  const bytes = mirror.sizes().historyBytes;
  assert.ok(bytes < 2 ** 20, `${bytes} bytes for one status of a thousand sessions`);
  const past = mirror.world(startMs + 60_000);
  assert.ok(past.ok, past.ok ? '' : past.error.message);
});

test('a need that is gone counts with its texts', () => {
  const startMs = 1_700_000_000_000;
  const fleet = createFleet({ nowMs: () => startMs, isSimulated: false, outside: nobodyOutside });
  const need: NeedFacts = {
    cluster: 'c',
    fingerprint: 'f',
    group: '',
    priority: 0,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    requirements: Array.from({ length: 60 }, (_, at) => `key-${at} In [${'v'.repeat(400)}]`),
    resources: { cpu: '1' },
    isSatisfied: true,
    deficit: {},
    reason: '',
    claimed: 1,
    ageCyclesUnmet: 0,
    isEscalated: false,
    isParked: false,
    domain: '',
    matching: { idle: 0, configured: 0, speculative: 0 },
    awaitingDrain: 0,
  };
  const feed = fleet.shard('s', '');
  feed.snapshotPart([], [need]);
  assert.ok(feed.snapshotEnd({ machines: 0, needs: 1, atMs: startMs }).ok);
  const held = (change: Partial<CycleFacts>): number => {
    const before = fleet.sizes().historyBytes;
    feed.cycle({ ...noChanges, ...change, cycle: 1, atMs: startMs });
    return fleet.sizes().historyBytes - before;
  };
  assert.ok(held({ needsChanged: [{ ...need, claimed: 2 }] }) < 1_000, 'its texts are shared');
  assert.ok(held({ needsRemoved: [need] }) > 60 * 400, 'nobody else has its texts');
});

test('a shard whose clock runs a day ahead takes no moment from the others', async () => {
  const startMs = 1_700_000_000_000;
  let nowMs = startMs;
  const fleet = createFleet({ nowMs: () => nowMs, isSimulated: false, outside: nobodyOutside });
  const cycles: number[] = [];
  fleet.subscribe((event) => {
    if (event.name === 'cycle') cycles.push(event.data.atMs);
  });
  const right = fleet.shard('right', '');
  const ahead = fleet.shard('ahead', '');
  for (const feed of [right, ahead]) {
    feed.snapshotEnd({ machines: 0, needs: 0, atMs: nowMs });
  }
  const DAY_MS = 24 * 3_600_000;
  for (let cycle = 1; cycle <= 20; cycle++) {
    nowMs += 10_000;
    right.cycle({ ...noChanges, cycle, atMs: nowMs, shortfalls: cycle });
    const isWrong = cycle >= 5 && cycle < 10;
    ahead.cycle({ ...noChanges, cycle, atMs: isWrong ? nowMs + 2 * DAY_MS : nowMs });
  }
  assert.ok(Math.max(...cycles) <= nowMs + 300_000);
  const now = await fleet.answer('shards', { at: 0 });
  assert.ok(now.ok);
  assert.ok(now.value.frame.atMs <= nowMs + 300_000, 'now is not in two days');
  assert.equal(now.value.frame.oldestMs, startMs);
  for (let cycle = 1; cycle <= 20; cycle++) {
    const past = await fleet.answer('shards', { at: startMs + cycle * 10_000 });
    assert.ok(past.ok, past.ok ? '' : past.error.message);
    const row = past.value.shards.find(({ shard }) => shard === 'right');
    assert.equal(row?.shortfalls, cycle);
  }
});
