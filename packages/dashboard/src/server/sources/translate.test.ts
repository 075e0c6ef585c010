// Proves that what a shard sends reaches the model field by field, and that nonsense does not: names of
// prototypes, numbers that are none, states that do not exist, texts without end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decode,
  encodeInit,
  MachineViewSchema,
  NeedViewSchema,
  Operator,
  PenaltyBucket,
  PhaseTimingSchema,
  SessionViewSchema,
  ShardStatusSchema,
} from '@bigfleet/wire';
import { machineFacts, needFacts, phaseFacts, sessionFacts, shardFacts } from './translate.ts';

const KEYS = { rack: ['first/rack', 'second/rack'] };

type MachineInit = Parameters<typeof encodeInit<typeof MachineViewSchema>>[1];
type NeedInit = Parameters<typeof encodeInit<typeof NeedViewSchema>>[1];

function machine(init: MachineInit): ReturnType<typeof machineFacts> {
  return machineFacts(
    decode(MachineViewSchema, encodeInit(MachineViewSchema, init), 'INTERNAL'),
    KEYS,
  );
}

function need(init: NeedInit): ReturnType<typeof needFacts> {
  return needFacts(decode(NeedViewSchema, encodeInit(NeedViewSchema, init), 'INTERNAL'));
}

test('a machine: place from its labels, the rack by the first key that it has', () => {
  const facts = machine({
    machineId: 'm-1',
    state: 5,
    clusterId: 'blue',
    zone: 'eu-1a',
    pricePerHour: 0.25,
    labels: { 'topology.kubernetes.io/region': 'eu-1', 'second/rack': 'r7' },
    stateSinceUnixNanos: 1_767_225_600_123_456_789n,
    interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_8,
  });
  assert.deepEqual(
    [facts.region, facts.zone, facts.rack, facts.cluster, facts.dollarsPerHour, facts.sinceMs],
    ['eu-1', 'eu-1a', 'r7', 'blue', 0.25, 1_767_225_600_123],
  );
  assert.equal(facts.interruptionPenaltyBucket, 6);
});

test('a machine on its way belongs to the cluster that it is meant for', () => {
  assert.equal(machine({ state: 2, intendedClusterId: 'red' }).cluster, 'red');
  assert.equal(machine({ clusterId: 'blue', intendedClusterId: 'red' }).cluster, 'blue');
});

test('nonsense does not reach the sums', () => {
  const facts = machine({
    machineId: 'x'.repeat(100_000),
    state: 99 as never,
    capacityType: 42 as never,
    pricePerHour: Number.NaN,
    interruptionProbability: Number.POSITIVE_INFINITY,
    labels: Object.fromEntries([['__proto__', 'polluted']]),
    lastError: '\u0000'.repeat(10_000),
  });
  assert.deepEqual(
    [facts.state, facts.capacityType, facts.dollarsPerHour, facts.interruptionProbability],
    [8, 3, 0, 0],
  );
  assert.ok(facts.machine.length < 1_000 && facts.lastError.length < 1_000);
  assert.deepEqual([facts.region, facts.rack], ['', '']);
});

test('a need in words a person writes', () => {
  const facts = need({
    clusterId: 'blue',
    profileFingerprint: 'f-1',
    need: {
      requirements: [
        { key: 'zone', operator: Operator.IN, values: ['a', 'b'] },
        { key: 'rack', operator: Operator.SAME, values: [] },
        {
          key: 'type',
          operator: Operator.NOT_IN,
          values: Array.from({ length: 20 }, (_, at) => `t${at}`),
        },
      ],
      aggregateResources: { cpu: '64' },
      priority: 1_000,
      group: 'g',
    },
    residualDeficit: { resources: { cpu: '8' } },
    reasonCode: 'priority_starved',
    matchingSupply: { idle: 1, configured: 2, speculative: 3 },
  });
  assert.deepEqual(facts.requirements.slice(0, 2), ['zone In [a, b]', 'rack Same']);
  assert.match(facts.requirements[2] ?? '', /^type NotIn \[t0, .*t11, … 8 more\]$/);
  assert.deepEqual(
    [facts.deficit, facts.reason, facts.group],
    [{ cpu: '8' }, 'priority_starved', 'g'],
  );
  assert.deepEqual(facts.matching, { idle: 1, configured: 2, speculative: 3 });
});

test('a shard without codes tells the established reason; a satisfied need has none', () => {
  assert.equal(need({ unmetReason: 2 }).reason, 'no_matching_supply');
  assert.equal(need({ satisfied: true, reasonCode: 'satisfied' }).reason, '');
});

test('settings that differ from the flags are told with who changed them and why', () => {
  const status = decode(
    ShardStatusSchema,
    encodeInit(ShardStatusSchema, {
      actuation: {
        paused: true,
        overridden: ['paused', 'something_new'],
        changedBy: 'bigfleet://admin',
        reason: 'incident 7',
      },
    }),
    'INTERNAL',
  );
  const { rails, isPaused } = shardFacts(status, { sessions: [], brakes: [], phases: [] });
  assert.equal(isPaused, true);
  assert.deepEqual(rails, [
    'paused: true by bigfleet://admin (incident 7)',
    'something_new by bigfleet://admin (incident 7)',
  ]);
});

test('a phase in milliseconds, and no number that is none', () => {
  const phase = (init: Parameters<typeof encodeInit<typeof PhaseTimingSchema>>[1]): unknown =>
    phaseFacts(decode(PhaseTimingSchema, encodeInit(PhaseTimingSchema, init), 'INTERNAL'));
  const timed = { phase: 'phase1', p50Seconds: 0.25, p99Seconds: 0.5, maxSeconds: 2, cycles: 9 };
  const facts = { phase: 'phase1', p50Ms: 250, p99Ms: 500, maxMs: 2_000, cycles: 9 };
  assert.deepEqual(phase(timed), facts);
  const nonsense = { p50Seconds: Number.NaN, p99Seconds: -1, maxSeconds: Infinity, cycles: -2 };
  const none = { phase: '', p50Ms: 0, p99Ms: 0, maxMs: 0, cycles: 0 };
  assert.deepEqual(phase(nonsense), none);
});

test('a session tells its phantoms, and whether it could', () => {
  const session = (init: Parameters<typeof encodeInit<typeof SessionViewSchema>>[1]) =>
    sessionFacts(decode(SessionViewSchema, encodeInit(SessionViewSchema, init), 'INTERNAL'));
  const told = session({ extensions: ['node-identity'], phantomMachineIds: ['m-1', 'm-2'] });
  assert.deepEqual([told.tellsNodes, told.phantoms], [true, ['m-1', 'm-2']]);
  const old = session({ extensions: ['reclaim-completion'] });
  assert.deepEqual([old.tellsNodes, old.phantoms], [false, []]);
  const ids = Array.from({ length: 5_000 }, (_, at) => `m-${at}`);
  assert.equal(session({ phantomMachineIds: ids }).phantoms.length, 2_000);
});
