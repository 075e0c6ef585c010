// Proves that decisions are the engine's own, told once however often their record comes, that a record cut
// in the middle is counted and never thrown, and that numbers on every page are those of the record.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRecord } from '@bigfleet/engine';
import { answers, type Decision, params } from '../api/index.ts';
import type { Fleet, MachineFacts, ModelEvent, RecordFacts, ShardFeed } from '../facts.ts';
import { nobodyOutside, SMALL, SyntheticFleet } from '../testing/synthetic-fleet.ts';
import { createFleet, type FleetLimits } from './fleet.ts';

const START_MS = 1_700_000_000_000;

interface Stage {
  readonly fleet: Fleet;
  readonly events: ModelEvent[];
  /** Every record as it was told, by shard. */
  readonly records: (RecordFacts & { readonly shard: string })[];
}

/** A living fleet, with its records overheard. */
function stage(cycles: number, limits: Partial<FleetLimits> = {}): Stage {
  let nowMs = START_MS;
  const fleet = createFleet({
    nowMs: () => nowMs,
    isSimulated: true,
    outside: nobodyOutside,
    limits,
  });
  const events: ModelEvent[] = [];
  fleet.subscribe((event) => events.push(event));
  const records: Stage['records'] = [];
  const overheard: Fleet = {
    ...fleet,
    shard: (name, address) =>
      listening(fleet.shard(name, address), (facts) => {
        records.push({ ...facts, shard: name });
      }),
  };
  const synthetic = new SyntheticFleet({ ...SMALL, seed: 'decisions' });
  synthetic.begin(overheard, nowMs);
  for (let cycle = 0; cycle < cycles; cycle++) {
    nowMs += 10_000;
    synthetic.step(nowMs);
  }
  return { fleet, events, records };
}

function listening(feed: ShardFeed, onRecord: (facts: RecordFacts) => void): ShardFeed {
  return {
    begin: (hello) => feed.begin(hello),
    snapshotPart: (machines, needs) => feed.snapshotPart(machines, needs),
    snapshotEnd: (totals) => feed.snapshotEnd(totals),
    cycle: (facts) => feed.cycle(facts),
    status: (facts) => feed.status(facts),
    source: (state, problem) => feed.source(state, problem),
    record: (facts) => {
      onRecord(facts);
      feed.record(facts);
    },
  };
}

function toldDecisions(events: readonly ModelEvent[]): Decision[] {
  return events.flatMap((event) => (event.name === 'decision' ? [event.data] : []));
}

test('every action of every record is told once, in its order, with its numbers', () => {
  const { events, records } = stage(40);
  const told = new Map(toldDecisions(events).map((decision) => [decision.id, decision]));
  let actions = 0;
  for (const { shard, epoch, cycle, payload } of records) {
    const decoded = decodeRecord(payload);
    if (!decoded.ok) continue;
    decoded.value.actions.forEach((action, place) => {
      const decision = told.get(`${shard}/${epoch}/${cycle}/${place}`);
      assert.ok(decision !== undefined);
      assert.equal(decision.machine, action.machineId);
      assert.equal(decision.cluster, action.cluster);
      assert.equal(decision.dollarsPerHour, action.shape.pricePerHour);
      assert.equal(decision.need?.fingerprint, decoded.value.needs[action.need]?.fingerprint);
      actions += 1;
    });
  }
  assert.ok(actions > 20, `${actions} actions are too few to say anything`);
  assert.equal(told.size, actions);
  assert.equal(toldDecisions(events).length, actions);
});

test('actions that a rail held back say so', () => {
  const { events } = stage(120);
  const held = toldDecisions(events).filter(({ heldBack }) => heldBack !== '');
  assert.ok(held.length > 0, 'no rail held anything back');
  assert.ok(
    held.every(({ heldBack, kind }) => heldBack === 'deferred_reclaim_cap' && kind === 'Reclaim'),
  );
});

test('records that come again, in any order, change nothing', async () => {
  const { fleet, events, records } = stage(30);
  const query = params.decisions.parse({});
  const before = await fleet.answer('decisions', query);
  const count = events.length;
  for (const { shard, ...facts } of [...records].reverse()) fleet.shard(shard, '').record(facts);
  for (const { shard, ...facts } of records) fleet.shard(shard, '').record(facts);
  const after = await fleet.answer('decisions', query);
  assert.ok(before.ok && after.ok);
  assert.deepEqual(after.value.decisions, before.value.decisions);
  assert.equal(events.length, count);
});

test('a back-fill that comes late stands in the order of its times', async () => {
  const { records, events } = stage(30);
  const fleet = createFleet({
    nowMs: () => START_MS + 400_000,
    isSimulated: true,
    outside: nobodyOutside,
  });
  const half = records.length / 2;
  for (const { shard, ...facts } of [...records.slice(half), ...records.slice(0, half)]) {
    fleet.shard(shard, '').record(facts);
  }
  // What waits for its fate is told with the next word of its shard.
  for (const shard of new Set(records.map((record) => record.shard))) {
    fleet.shard(shard, '').snapshotEnd({ machines: 0, needs: 0, atMs: START_MS });
  }
  const answer = await fleet.answer('decisions', params.decisions.parse({ limit: 5_000 }));
  assert.ok(answer.ok);
  const times = answer.value.decisions.map(({ atMs }) => atMs);
  assert.deepEqual(
    times,
    [...times].sort((a, b) => b - a),
  );
  assert.equal(times.length, toldDecisions(events).length);
});

test('a record cut in the middle, or of another kind, is counted and the next one is read', async () => {
  const { records } = stage(20);
  const fleet = createFleet({ nowMs: () => START_MS, isSimulated: true, outside: nobodyOutside });
  const feed = fleet.shard('s', '');
  const [first] = records;
  assert.ok(first !== undefined);
  const damaged = [
    first.payload.slice(0, first.payload.length >> 1),
    first.payload.map((byte, at) => (at === 9 ? byte ^ 255 : byte)),
    new Uint8Array(0),
    new TextEncoder().encode('<html>502 Bad Gateway</html>'),
  ];
  damaged.forEach((payload, at) => feed.record({ ...first, cycle: 100 + at, payload }));
  assert.equal(fleet.sizes().damagedRecords, damaged.length);
  const busy = records.find(({ payload }) => {
    const decoded = decodeRecord(payload);
    return decoded.ok && decoded.value.actions.length > 0;
  });
  assert.ok(busy !== undefined);
  feed.record({ ...busy, cycle: 200 });
  feed.snapshotEnd({ machines: 0, needs: 0, atMs: START_MS });
  const answer = await fleet.answer('decisions', params.decisions.parse({}));
  assert.ok(answer.ok);
  assert.equal(answer.value.damagedRecords, damaged.length);
  assert.ok(answer.value.total > 0);
});

/** Bytes that are no record: told like any other, and counted. */
function unreadable(cycle: number, atMs: number, epoch = 1n): RecordFacts {
  return { epoch, cycle, atMs, payload: new Uint8Array(), actionHash: '' };
}

test('a shard whose clock ran ahead silences no other shard, nor itself', () => {
  const fleet = createFleet({ nowMs: () => START_MS, isSimulated: true, outside: nobodyOutside });
  const told = (): number => fleet.sizes().damagedRecords;
  fleet.shard('ahead', '').record(unreadable(1, START_MS + 24 * 3_600_000));
  const busy = 200_000;
  for (let cycle = 1; cycle <= busy; cycle++) {
    fleet.shard('busy', '').record(unreadable(cycle, START_MS + cycle));
  }
  assert.equal(told(), 1 + busy);
  fleet.shard('calm', '').record(unreadable(1, START_MS));
  fleet.shard('ahead', '').record(unreadable(2, START_MS));
  assert.equal(told(), 3 + busy);
});

test('a back-fill that is longer than what is remembered is told whole, and each record once', () => {
  const fleet = createFleet({ nowMs: () => START_MS, isSimulated: true, outside: nobodyOutside });
  const feed = fleet.shard('s', '');
  const count = 40_000;
  feed.record(unreadable(count, START_MS, 2n));
  for (let cycle = 0; cycle < count; cycle++) feed.record(unreadable(cycle, START_MS, 2n));
  assert.equal(fleet.sizes().damagedRecords, count + 1);
  for (let cycle = 0; cycle <= count; cycle++) feed.record(unreadable(cycle, START_MS, 2n));
  for (let cycle = 0; cycle <= count; cycle++) feed.record(unreadable(cycle, START_MS, 1n));
  assert.equal(fleet.sizes().damagedRecords, count + 1);
  feed.record(unreadable(0, START_MS, 3n));
  assert.equal(fleet.sizes().damagedRecords, count + 2);
});

test('the record and the explanation show the numbers of the record', async () => {
  const { fleet, events, records } = stage(60);
  const provisions = toldDecisions(events).filter(({ kind }) => kind === 'Provision');
  assert.ok(provisions.length > 0);
  for (const decision of provisions.slice(0, 10)) {
    const { shard, epoch, cycle } = decision;
    const asked = await fleet.answer('record', { shard, epoch, cycle });
    assert.ok(asked.ok);
    answers.record.parse(asked.value);
    const kept = records.find((found) => found.shard === shard && found.cycle === cycle);
    assert.equal(asked.value.actionHash, kept?.actionHash);
    const row = asked.value.needs.find(
      ({ fingerprint, cluster, group }) =>
        fingerprint === decision.need?.fingerprint &&
        cluster === decision.need.cluster &&
        group === decision.need.group,
    );
    const chosen = row?.candidates.filter(({ isChosen }) => isChosen) ?? [];
    assert.ok(chosen.length > 0);
    for (const candidate of chosen) {
      const { dollarsPerHour, interruptionProbability, interruptionPenalty } = candidate;
      const cost = dollarsPerHour + interruptionProbability * (interruptionPenalty ?? 0);
      assert.equal(candidate.effectiveCost, cost, 'price + probability × penalty');
    }
    const told = await fleet.answer('explain', params.explain.parse({ machine: decision.machine }));
    assert.ok(told.ok, told.ok ? '' : told.error.message);
    answers.explain.parse(told.value);
    assert.ok(told.value.history.some(({ id }) => id === decision.id));
  }
});

test('a machine that leaves one cluster for another is a move with both its decisions', async () => {
  const { fleet } = stage(200);
  const answer = await fleet.answer('decisions', params.decisions.parse({ limit: 5_000 }));
  assert.ok(answer.ok);
  const byId = new Map(answer.value.decisions.map((decision) => [decision.id, decision]));
  assert.ok(answer.value.moves.length > 0, 'nothing moved');
  for (const move of answer.value.moves) {
    assert.equal(byId.get(move.fromId)?.cluster, move.from);
    assert.equal(byId.get(move.toId)?.cluster, move.to);
    assert.equal(byId.get(move.toId)?.machine, move.machine);
    assert.notEqual(move.from, move.to);
    assert.ok(move.fromMs < move.toMs);
  }
});

test('decisions and records are bounded, the newest stay', async () => {
  const { fleet } = stage(120, { decisions: 50, recordBytes: 20_000 });
  const { decisions, recordBytes } = fleet.sizes();
  assert.equal(decisions, 50);
  assert.ok(recordBytes <= 20_000);
  const answer = await fleet.answer('decisions', params.decisions.parse({}));
  assert.ok(answer.ok);
  assert.equal(answer.value.total, 50);
});

test('a text of a quarter of a megabyte does not stand in every row', async () => {
  const fleet = createFleet({ nowMs: () => START_MS, isSimulated: true, outside: nobodyOutside });
  const feed = fleet.shard('s', '');
  const long = 'x'.repeat(256 * 1_024);
  const machine = (id: string, rack: string): MachineFacts => ({
    machine: id,
    state: 5,
    cluster: long,
    provider: 'p',
    instanceType: 't',
    region: 'r',
    zone: 'z',
    rack,
    capacityType: 3,
    dollarsPerHour: 1,
    interruptionProbability: 0,
    priority: 0,
    interruptionPenaltyBucket: 1,
    reclamationPenaltyBucket: 1,
    node: long,
    sinceMs: START_MS,
    pendingAction: '',
    lastError: long,
    need: '',
    group: '',
  });
  feed.begin({ epoch: 1n, cycle: 1, isResumed: false });
  feed.snapshotPart([machine(`${long}1`, `${long}a`), machine(`${long}2`, `${long}b`)], []);
  assert.ok(feed.snapshotEnd({ machines: 2, needs: 0, atMs: START_MS }).ok);
  const answer = await fleet.answer('machines', params.machines.parse({}));
  assert.ok(answer.ok);
  assert.equal(answer.value.total, 2, 'cut names stay distinct');
  assert.ok(JSON.stringify(answer.value).length < 100_000);
  const map = await fleet.answer('map', params.map.parse({}));
  assert.ok(map.ok);
  assert.equal(map.value.groups.length, 2);
});
