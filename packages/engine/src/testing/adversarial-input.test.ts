// Proves that hostile input neither throws out of a cycle nor bends it: what is wrong is refused
// with its code and changes nothing, what is impossible is a shortfall with its reason.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PenaltyBucket, UnmetCode } from '@bigfleet/base';
import { Engine } from '../cycle/engine.ts';
import { loadEngine, readCycle } from '../cycle/plain.ts';
import { type CycleOutput, heldOffKey } from '../model/cycle.ts';
import { ActionKind } from '../model/action.ts';
import { CapacityType } from '../model/capacity-type.ts';
import type { Machine } from '../model/machine.ts';
import { needKey } from '../model/need.ts';
import { INSTANCE_TYPE_KEY, Operator, type Requirement, ZONE_KEY } from '../model/requirement.ts';
import {
  acrossZones,
  acted,
  cores,
  fleet,
  machine,
  machines,
  NOW_MS,
  need,
  RACK_KEY,
  resources,
  told,
} from './build.ts';
import { inventoryText } from './inventory-model.ts';
import { decideBoth as decide } from './decide-both.ts';

const MAX = Number.MAX_SAFE_INTEGER;
const INT32_MIN = -(2 ** 31);
const INFINITE = Number.POSITIVE_INFINITY;

function reasons({ verdicts }: CycleOutput): UnmetCode[] {
  return verdicts.map(({ reasonCode }) => reasonCode);
}

// Records

const BAD_RECORDS: readonly [Partial<Record<keyof Machine, unknown>>, string][] = [
  [{ pricePerHour: Number.NaN }, 'price'],
  [{ pricePerHour: -1 }, 'price'],
  [{ pricePerHour: INFINITE }, 'price'],
  [{ interruptionProbability: Number.NaN }, 'interruption_probability'],
  [{ interruptionProbability: 1.0000001 }, 'interruption_probability'],
  [{ interruptionProbability: -Number.MIN_VALUE }, 'interruption_probability'],
  [{ state: 0 }, 'structural'],
  [{ state: 9 }, 'structural'],
  [{ state: 255 }, 'structural'],
  [{ state: Number.NaN }, 'structural'],
  [{ capacityType: 0 }, 'structural'],
  [{ capacityType: 5 }, 'structural'],
  [{ host: undefined }, 'structural'],
  [{ host: { provider: '', ref: '' } }, 'structural'],
  [{ cluster: '' }, 'structural'],
  [{ provider: 'another' }, 'duplicate_id'],
];

test('a bad record of a known machine is refused with its code; the last good one still decides', () => {
  const served = need({ wants: cores(2), priority: 3 });
  const input = fleet({
    machines: [machine({ id: 'm', state: 'Configured', serves: served }), machine({ id: 'i' })],
    needs: [served],
  });
  const expected = decide(input);
  for (const [changes, code] of BAD_RECORDS) {
    const engine = loadEngine(input);
    const before = inventoryText(engine.inventory);
    const bad = { ...input.machines[0], ...changes } as Machine;
    assert.deepEqual(engine.inventory.put(bad, NOW_MS), { ok: false, error: code });
    assert.equal(inventoryText(engine.inventory), before);
    engine.cycle({ nowMs: NOW_MS });
    assert.deepEqual(readCycle(engine), expected, code);
  }
});

test('machines in creation are credited in keep order, whatever their stamps say', () => {
  const served = need({ wants: cores(1) });
  const creating = (id: string, reclamationBucket: number, price: number): Machine =>
    machine({
      id,
      state: 'Creating',
      serves: served,
      price,
      assigned: { reclamationBucket: reclamationBucket as PenaltyBucket },
    });
  const output = decide(
    fleet({
      machines: [creating('a', 1, 1), creating('b', 9, 1), creating('c', 27, 2)],
      needs: [served],
    }),
  );
  assert.deepEqual([...output.claims.keys()], ['b']);
});

test('the same id again from its own provider is the same machine', () => {
  const engine = new Engine();
  for (const price of [1, 2, 3])
    assert.ok(engine.inventory.put(machine({ id: 'm', price }), NOW_MS).ok);
  engine.applyRollup('a', [need({ wants: cores(2) })]);
  engine.cycle({ nowMs: NOW_MS });
  assert.deepEqual(told(readCycle(engine)), ['Bootstrap m']);
});

// Clusters that vanish

test('a cluster that vanishes takes its demand, its memory and its claims along', () => {
  const gang = need({ wants: cores(9), same: RACK_KEY, group: 'g', cluster: 'gone' });
  const plain = need({ wants: cores(2), cluster: 'gone' });
  let input = fleet({
    machines: [
      machine({ id: 'bound', state: 'Configured', cluster: 'gone', rack: 'r1' }),
      machine({ id: 'coming', state: 'Configuring', cluster: 'gone', rack: 'r1' }),
      machine({ id: 'bought', state: 'Creating', cluster: 'gone', rack: 'r1' }),
    ],
    needs: [gang, plain],
    heldOff: [heldOffKey('gone', plain.profile.fingerprint), heldOffKey('never', 'x')],
  });
  const engine = loadEngine(input);
  for (let cycle = 0; cycle < 3; cycle++) {
    const expected = decide(input);
    engine.cycle({ nowMs: NOW_MS });
    assert.deepEqual(readCycle(engine), expected);
    input = { ...input, memory: expected.memory };
  }
  engine.applyRollup('gone', []);
  engine.setHeldOff(new Set());
  engine.cycle({ nowMs: NOW_MS });
  const output = readCycle(engine);
  assert.deepEqual(output, decide({ ...input, needs: [], heldOff: new Set() }));
  assert.deepEqual(told(output), ['Reclaim bound']);
  assert.equal(output.memory.parkingAges.size + output.memory.shortfalls.size, 0);
  for (const id of ['bound', 'coming', 'bought']) assert.ok(engine.inventory.remove(id));
  engine.cycle({ nowMs: NOW_MS });
  const empty = readCycle(engine);
  assert.deepEqual([empty.actions, empty.verdicts, [...empty.claims]], [[], [], []]);
});

test('memory and flags of clusters nobody knows are ignored', () => {
  const ghost = need({ wants: cores(1), same: RACK_KEY, cluster: 'ghost' });
  const output = decide(
    fleet({
      machines: [machine({ id: 'm', state: 'Configured', cluster: 'a' })],
      reported: ['ghost', ''],
      heldOff: [heldOffKey('ghost', 'fp'), 'no separator'],
      memory: {
        parkingAges: new Map([
          [needKey(ghost), 40],
          ['', 9],
        ]),
        shortfalls: new Map(),
      },
    }),
  );
  assert.deepEqual(told(output), []);
  assert.equal(output.memory.parkingAges.size, 0);
});

// Impossible requirements

const requirement = (
  key: string,
  operator: Requirement['operator'],
  ...values: string[]
): Requirement => ({
  key,
  operator,
  values,
});

test('impossible needs are shortfalls with their reason, and disturb nobody', () => {
  const rows: readonly [Partial<Parameters<typeof need>[0]>, UnmetCode][] = [
    [{ requirements: [requirement(ZONE_KEY, Operator.In)] }, 'no_matching_supply'],
    [
      {
        requirements: [
          requirement(ZONE_KEY, Operator.In, 'z1'),
          requirement(ZONE_KEY, Operator.NotIn, 'z1'),
        ],
      },
      'no_matching_supply',
    ],
    [
      {
        requirements: [
          requirement(RACK_KEY, Operator.Exists),
          requirement(RACK_KEY, Operator.DoesNotExist),
        ],
      },
      'no_matching_supply',
    ],
    [{ requirements: [requirement('__proto__', Operator.Exists)] }, 'no_matching_supply'],
    [{ requirements: [requirement(INSTANCE_TYPE_KEY, Operator.In, '')] }, 'no_matching_supply'],
    [{ unit: resources({ cpu: MAX }) }, 'min_unit_too_large'],
    [{ unit: resources({ 'nobody.has/this': 1 }) }, 'min_unit_too_large'],
    [{ wants: resources({ 'nobody.has/this': 1 }) }, 'priority_starved'],
    [{ same: 'no.such/key', group: 'g' }, 'topology_unsatisfiable'],
    [{ same: ZONE_KEY, sameValues: ['nowhere'], group: 'g' }, 'topology_unsatisfiable'],
  ];
  for (const [init, expected] of rows) {
    const hopeless = need({ wants: cores(2), priority: 9, cluster: 'h', ...init });
    const modest = need({ wants: cores(1) });
    const output = decide(
      fleet({ machines: [machine({ id: 'm', rack: 'r' })], needs: [hopeless, modest] }),
    );
    assert.deepEqual(reasons(output), [expected, 'satisfied'], hopeless.profile.fingerprint);
    assert.deepEqual(told(output), ['Bootstrap m']);
  }
});

test('a spread over a key that no machine has, and skews below one', () => {
  const spread = { topologyKey: 'no.such/key', maxSkew: INT32_MIN, whenUnsatisfiable: 1 };
  const nowhere = need({ wants: cores(1), spread: [spread] });
  const narrow = need({ wants: cores(2), spread: [acrossZones(INT32_MIN)], cluster: 'b' });
  const output = decide(
    fleet({
      machines: ['z1', 'z2', 'z1'].map((zone, at) => machine({ id: `m${at}`, zone })),
      needs: [nowhere, narrow],
    }),
  );
  assert.deepEqual(
    output.actions.map(({ cluster, machineId }) => `${cluster} ${machineId}`),
    ['b m0', 'b m1'],
  );
});

test('a need for nothing is satisfied by nothing', () => {
  const output = decide(
    fleet({ machines: machines(2, 'm', {}), needs: [need({ wants: resources({}) })] }),
  );
  assert.deepEqual(reasons(output), ['satisfied']);
  assert.deepEqual(told(output), []);
});

// Clocks and quotas

test('clocks and quotas at their ends', () => {
  const idle = machines(2, 'm', { capacityType: CapacityType.Spot });
  const stamps = (sinceMs: number): ReadonlyMap<string, number> =>
    new Map(idle.map(({ id }) => [id, sinceMs]));
  for (const [nowMs, sinceMs, deletes] of [
    [0, 0, 0],
    [60_000, 0, 2],
    [59_999, 0, 0],
    [0, MAX, 0],
    [MAX, 0, 2],
    [1_800_000_000_000, 1_800_000_000_000 - 60_000, 2],
  ] as const) {
    const output = decide(fleet({ machines: idle, nowMs, idleSinceMs: stamps(sinceMs) }));
    assert.equal(acted(output, ActionKind.Delete).length, deletes, `${nowMs} ${sinceMs}`);
  }
  const slots = machines(3, 's', { state: 'Speculative' });
  for (const [quota, bought] of [
    [-5, 0],
    [0, 0],
    [2, 2],
    [INFINITE, 3],
  ] as const) {
    const needs = [need({ wants: cores(3) })];
    const output = decide(fleet({ machines: slots, needs, quota: { provider: quota } }));
    assert.equal(acted(output, ActionKind.Provision).length, bought, `quota ${quota}`);
  }
});
