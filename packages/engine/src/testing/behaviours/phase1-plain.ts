// Engine §12 Phase 1 for plain needs: who is credited, what is acquired, in which order, and what is
// left over when supply runs out.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldOffKey } from '../../model/cycle.ts';
import { ActionKind } from '../../model/action.ts';
import { CapacityType } from '../../model/capacity-type.ts';
import type { Machine } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { Operator } from '../../model/requirement.ts';
import { State } from '../../model/state.ts';
import { applyActions, mature } from '../apply.ts';
import {
  acted,
  brakedNeeds,
  brakedTypes,
  claimedBy,
  cores,
  fleet,
  type FleetInit,
  machine,
  type MachineInit,
  machines,
  need,
  resources,
  told,
} from '../build.ts';
import type { RunCycle } from './run.ts';

const PINNED = Number.POSITIVE_INFINITY;
const spot = (init: MachineInit): Machine =>
  machine({ capacityType: CapacityType.Spot, probability: 0.1, price: 1.8, ...init });
const speculative = (init: MachineInit): Machine => machine({ ...init, state: 'Speculative' });

interface AcquisitionCase {
  readonly name: string;
  readonly machines: readonly Machine[];
  readonly needs: readonly Need[];
  readonly fleet?: Omit<FleetInit, 'machines' | 'needs'>;
  readonly told: readonly string[];
}

const one = (init: Partial<Parameters<typeof need>[0]> = {}): Need =>
  need({ wants: cores(1), ...init });

const acquisitionCases: readonly AcquisitionCase[] = [
  {
    name: 'an Idle machine is bootstrapped',
    machines: [machine({ id: 'i1' })],
    needs: [one()],
    told: ['Bootstrap i1'],
  },
  {
    name: 'without Idle the cheapest effective cost is provisioned',
    machines: [speculative({ id: 's1', price: 3 }), speculative({ id: 's2', price: 2 })],
    needs: [one()],
    told: ['Provision s2'],
  },
  {
    name: 'a low penalty takes cheap spot',
    machines: [spot({ id: 'spot', state: 'Speculative' }), speculative({ id: 'stable', price: 6 })],
    needs: [one({ interruption: 4 })],
    told: ['Provision spot'],
  },
  {
    name: 'a high penalty takes on-demand over cheap spot',
    machines: [spot({ id: 'spot', state: 'Speculative' }), speculative({ id: 'stable', price: 6 })],
    needs: [one({ interruption: 64 })],
    told: ['Provision stable'],
  },
  {
    name: 'risk-free Idle beats cheaper Speculative',
    machines: [machine({ id: 'i1', price: 9 }), speculative({ id: 's1', price: 1 })],
    needs: [one({ interruption: 64 })],
    told: ['Bootstrap i1'],
  },
  {
    name: 'Idle is ordered by effective cost, not by price',
    machines: [spot({ id: 'cheap' }), machine({ id: 'stable', price: 2 })],
    needs: [one({ interruption: 64 })],
    told: ['Bootstrap stable'],
  },
  {
    name: 'Idle of equal cost: low reclamation penalty first, then id',
    machines: [
      machine({
        id: 'i1',
        assigned: { reclamationBucket: one({ reclamation: 8 }).profile.reclamationBucket },
      }),
      machine({ id: 'i3' }),
      machine({ id: 'i2' }),
    ],
    needs: [need({ wants: cores(3) })],
    told: ['Bootstrap i2', 'Bootstrap i3', 'Bootstrap i1'],
  },
  {
    name: 'Speculative of equal cost: by id, whatever it is stamped with',
    machines: [
      speculative({
        id: 's1',
        assigned: { reclamationBucket: one({ reclamation: 8 }).profile.reclamationBucket },
      }),
      speculative({ id: 's2' }),
    ],
    needs: [one()],
    told: ['Provision s1'],
  },
  {
    name: 'penalty 0 takes idle spot before cheaper stable Speculative',
    machines: [spot({ id: 'spot' }), speculative({ id: 'stable', price: 1 })],
    needs: [one()],
    told: ['Bootstrap spot'],
  },
  {
    name: 'a high penalty passes idle spot over, and returns to it when the rest is used up',
    machines: [
      spot({ id: 'spot1' }),
      spot({ id: 'spot2', price: 1 }),
      speculative({ id: 'stable', price: 6 }),
    ],
    needs: [need({ wants: cores(3), interruption: 64 })],
    told: ['Provision stable', 'Bootstrap spot2', 'Bootstrap spot1'],
  },
  {
    name: 'a high penalty returns to idle spot when the quota of the rest is spent',
    machines: [
      spot({ id: 'spot' }),
      speculative({ id: 's1', price: 6 }),
      speculative({ id: 's2', price: 6 }),
    ],
    needs: [need({ wants: cores(2), interruption: 64 })],
    fleet: { quota: { provider: 1 } },
    told: ['Provision s1', 'Bootstrap spot'],
  },
  {
    name: 'cheaper but riskier Speculative does not outbid Idle',
    machines: [
      spot({ id: 'idle', price: 5, probability: 0.1 }),
      spot({ id: 'spec', price: 1, probability: 0.2, state: 'Speculative' }),
    ],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'less risky but dearer Speculative does not outbid Idle',
    machines: [spot({ id: 'idle', price: 1 }), speculative({ id: 'stable', price: 9 })],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'equally risky Speculative does not outbid Idle',
    machines: [
      spot({ id: 'idle', price: 5 }),
      spot({ id: 'spec', price: 1, state: 'Speculative' }),
    ],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'step 2 takes a machine that outbids, not the cheapest',
    machines: [
      spot({ id: 'idle', price: 5, probability: 0.1 }),
      spot({ id: 'cheapest', price: 0.5, probability: 0.1, state: 'Speculative' }),
      speculative({ id: 'stable', price: 8 }),
    ],
    needs: [one({ interruption: 64 })],
    told: ['Provision stable'],
  },
  {
    name: 'Pinned and probability 0 is finite: cheapest stable machine first',
    machines: [machine({ id: 'i1', price: 3 }), machine({ id: 'i2', price: 2 })],
    needs: [need({ wants: cores(2), interruption: PINNED })],
    told: ['Bootstrap i2', 'Bootstrap i1'],
  },
  {
    name: 'higher priority wins a contested pool',
    machines: [machine({ id: 'i1' })],
    needs: [one({ cluster: 'low', priority: 1 }), one({ cluster: 'high', priority: 2 })],
    told: ['Bootstrap i1'],
  },
  {
    name: 'a machine too small for the unit is never claimed',
    machines: [machine({ id: 'small' }), machine({ id: 'large', has: cores(2), price: 9 })],
    needs: [need({ wants: cores(2), unit: cores(2) })],
    told: ['Bootstrap large'],
  },
  {
    name: 'a machine that contributes nothing is never claimed',
    machines: [machine({ id: 'disk', has: resources({ 'ephemeral-storage': 9 }), price: 0 })],
    needs: [one()],
    told: [],
  },
  {
    name: 'a machine that reduces no open dimension any more is not claimed',
    machines: [
      machine({ id: 'm1', has: resources({ cpu: 2000, memory: 1 }) }),
      machine({ id: 'm2', has: resources({ cpu: 2000 }), price: 2 }),
      machine({ id: 'm3', has: resources({ memory: 9 }), price: 3 }),
    ],
    needs: [need({ wants: resources({ cpu: 1000, memory: 5 }) })],
    told: ['Bootstrap m1', 'Bootstrap m3'],
  },
  {
    name: 'a machine of the wrong shape is never claimed',
    machines: [machine({ id: 'std' }), machine({ id: 'gpu', labels: { gpu: 'a100' }, price: 9 })],
    needs: [one({ requirements: [{ key: 'gpu', operator: Operator.In, values: ['a100'] }] })],
    told: ['Bootstrap gpu'],
  },
  {
    name: 'withheld machines are in no pool',
    machines: [
      machine({ id: 'i1', withheld: 'transfer_reserved' }),
      speculative({ id: 's1', withheld: 'not_owned' }),
      speculative({ id: 's2', price: 9 }),
    ],
    needs: [one()],
    told: ['Provision s2'],
  },
  {
    name: 'memory above 8 TiB is exact: one KiB short is short',
    machines: [
      machine({ id: 'm1', has: resources({ memory: 2 ** 34 }) }),
      machine({ id: 'm2', has: resources({ memory: 1 }), price: 2 }),
      machine({ id: 'm3', has: resources({ memory: 1 }), price: 3 }),
    ],
    needs: [need({ wants: resources({ memory: 2 ** 34 + 1 }) })],
    told: ['Bootstrap m1', 'Bootstrap m2'],
  },
  {
    name: 'nothing is demanded, nothing is done',
    machines: [machine({ id: 'i1' }), speculative({ id: 's1' })],
    needs: [need({ wants: resources({}) })],
    told: [],
  },
];

export function describePhase1Plain(run: RunCycle): void {
  describe('phase 1, plain needs', () => {
    for (const entry of acquisitionCases) {
      test(entry.name, () => {
        const input = fleet({ ...entry.fleet, machines: entry.machines, needs: entry.needs });
        assert.deepEqual(told(run(input)), entry.told);
        const mirrored = {
          ...input,
          machines: input.machines.toReversed(),
          needs: input.needs.toReversed(),
        };
        assert.deepEqual(told(run(mirrored)), entry.told, 'input order must not matter');
      });
    }
    describeContention(run);
    describeCredit(run);
    describeCreating(run);
    describeUnmet(run);
  });
}

function describeContention(run: RunCycle): void {
  test('the contested machine goes to the higher priority', () => {
    const needs = [one({ cluster: 'low', priority: 1 }), one({ cluster: 'high', priority: 2 })];
    const output = run(fleet({ machines: [machine({ id: 'i1' })], needs }));
    assert.equal(output.actions[0]?.cluster, 'high');
  });

  const int32 = { lowest: -(2 ** 31), highest: 2 ** 31 - 1 };
  test('int32 extremes order as numbers', () => {
    const needs = [
      one({ cluster: 'low', priority: int32.lowest }),
      one({ cluster: 'high', priority: int32.highest }),
    ];
    const output = run(fleet({ machines: [machine({ id: 'i1' })], needs }));
    assert.equal(output.actions[0]?.cluster, 'high');
  });

  test('penalty buckets break priority ties in acquisition: interruption, then reclamation', () => {
    const needs = [
      one({ cluster: 'a', reclamation: 64 }),
      one({ cluster: 'b', interruption: 0.5 }),
      one({ cluster: 'c', interruption: 0.5, reclamation: 0.5 }),
    ];
    const output = run(fleet({ machines: machines(3, 'i', {}), needs }));
    assert.deepEqual(
      output.actions.map(({ cluster }) => cluster),
      ['c', 'b', 'a'],
    );
  });

  test('penalty buckets do not break ties in crediting: the older row is credited', () => {
    const older = one({ arrival: 1n });
    const dearer = one({ arrival: 2n, interruption: 64 });
    const output = run(
      fleet({ machines: [machine({ id: 'm', state: 'Configured' })], needs: [dearer, older] }),
    );
    assert.deepEqual(claimedBy(output, 0), ['m']);
    assert.equal(output.verdicts[0]?.need, older);
  });

  test('quota is drawn in order of precedence and never touches Idle', () => {
    const needs = [one({ cluster: 'low', priority: 1 }), one({ cluster: 'high', priority: 2 })];
    const all = [
      machine({ id: 'i1', has: cores(1), price: 5, labels: { only: 'low' } }),
      ...machines(2, 's', { state: 'Speculative' }),
    ];
    const output = run(fleet({ machines: all.slice(1), needs, quota: { provider: 1 } }));
    assert.deepEqual(
      output.actions.map(({ cluster }) => cluster),
      ['high'],
    );
    const withIdle = run(fleet({ machines: all, needs, quota: { provider: 0 } }));
    assert.deepEqual(told(withIdle), ['Bootstrap i1']);
  });

  test('thirty rows of one fingerprint, five bound, twenty-five idle: twenty-five bootstraps', () => {
    const needs = Array.from({ length: 30 }, (_, at) => one({ group: `g${at}` }));
    const bound = machines(5, 'c', { state: 'Configured' });
    const output = run(fleet({ machines: [...bound, ...machines(25, 'i', {})], needs }));
    assert.equal(acted(output, ActionKind.Bootstrap).length, 25);
    assert.equal(output.actions.length, 25);
    assert.ok(output.verdicts.every(({ satisfied }) => satisfied));
  });

  test('actions carry destination, fingerprint, group and reason', () => {
    const row = one({ cluster: 'x', priority: 3, group: 'g' });
    const output = run(
      fleet({
        machines: [machine({ id: 'i1' }), machine({ id: 's1', state: 'Speculative' })],
        needs: [{ ...row, aggregate: cores(2) }],
      }),
    );
    const common = {
      cluster: 'x',
      fingerprint: row.profile.fingerprint,
      group: 'g',
      graceSeconds: 0,
      preemptorPriority: 0,
    };
    assert.deepEqual(output.actions, [
      { ...common, kind: ActionKind.Bootstrap, machineId: 'i1', reason: 'phase1.idle' },
      { ...common, kind: ActionKind.Provision, machineId: 's1', reason: 'phase1.speculative' },
    ]);
    const [verdict] = output.verdicts;
    assert.deepEqual(
      [verdict?.claimedCount, verdict?.bootstrapCount, verdict?.provisionCount],
      [2, 1, 1],
    );
  });
}

function describeCredit(run: RunCycle): void {
  test('what is bound satisfies: no action', () => {
    const output = run(
      fleet({
        machines: [machine({ id: 'c1', state: 'Configured' }), machine({ id: 'i1' })],
        needs: [one()],
      }),
    );
    assert.deepEqual(told(output), []);
    assert.equal(output.verdicts[0]?.satisfied, true);
    assert.equal(output.verdicts[0]?.reasonCode, 'satisfied');
  });

  test('Configuring counts from its stamping; Draining and foreign machines do not', () => {
    const all = [
      machine({ id: 'c1', state: 'Configuring' }),
      machine({ id: 'c2', state: 'Draining' }),
      machine({ id: 'c3', state: 'Configured', cluster: 'b' }),
    ];
    const output = run(fleet({ machines: all, needs: [need({ wants: cores(2) })], reported: [] }));
    assert.deepEqual(claimedBy(output, 0), ['c1']);
    assert.deepEqual(output.verdicts[0]?.deficit, cores(1));
  });

  test('keep order: cheap, then valuable, then id; Configured before Configuring', () => {
    const valuable = { reclamationBucket: one({ reclamation: 8 }).profile.reclamationBucket };
    const all = [
      machine({ id: 'dear', state: 'Configured', price: 5, assigned: valuable }),
      machine({ id: 'plain2', state: 'Configured' }),
      machine({ id: 'plain1', state: 'Configured' }),
      machine({ id: 'valuable', state: 'Configured', assigned: valuable }),
      machine({ id: 'cheap', state: 'Configuring', price: 0 }),
    ];
    const kept = (wanted: number): string[] =>
      claimedBy(run(fleet({ machines: all, needs: [need({ wants: cores(wanted) })] })), 0);
    assert.deepEqual(kept(1), ['valuable']);
    assert.deepEqual(kept(2), ['plain1', 'valuable']);
    assert.deepEqual(kept(3), ['plain1', 'plain2', 'valuable']);
    assert.deepEqual(kept(4), ['dear', 'plain1', 'plain2', 'valuable']);
    assert.deepEqual(kept(5), ['cheap', 'dear', 'plain1', 'plain2', 'valuable']);
  });

  test('credit goes by priority', () => {
    const needs = [one({ priority: 1, arrival: 1n }), one({ priority: 2, arrival: 2n })];
    const output = run(fleet({ machines: [machine({ id: 'c', state: 'Configured' })], needs }));
    assert.deepEqual(
      output.verdicts.map(({ satisfied }) => satisfied),
      [true, false],
    );
  });

  test('a withheld bound machine is still its cluster’s supply', () => {
    const bound = machine({ id: 'c1', state: 'Configured', withheld: 'transfer_frozen' });
    const output = run(fleet({ machines: [bound], needs: [one()] }));
    assert.deepEqual(claimedBy(output, 0), ['c1']);
  });

  test('Pinned keeps a bound machine whose probability rose; another Pinned need does not get it', () => {
    const served = one({ interruption: PINNED });
    const other = one({ interruption: PINNED, priority: 9 });
    const bound = machine({ id: 'c', state: 'Configured', serves: served, probability: 0.2 });
    const output = run(fleet({ machines: [bound], needs: [served, other] }));
    assert.deepEqual(told(output), []);
    assert.deepEqual(
      output.verdicts.map(({ need: { profile }, satisfied }) => [profile.priority, satisfied]),
      [
        [9, false],
        [0, true],
      ],
    );
  });

  test('a folded Pinned gang keeps the machine that it was given before it folded', () => {
    const gang = need({ same: 'rack', wants: cores(1), interruption: PINNED, group: 'g' });
    const bound = machine({
      id: 'c',
      state: 'Configured',
      serves: gang,
      labels: { rack: 'r' },
      probability: 0.2,
    });
    const output = run(fleet({ machines: [bound], needs: [gang] }));
    assert.equal(output.verdicts[0]?.need.profile.same, undefined);
    assert.deepEqual(claimedBy(output, 0), ['c']);
    assert.deepEqual(told(output), []);
  });
}

function describeCreating(run: RunCycle): void {
  test('own Creating is credited once; foreign and unattributed Creating count for nobody', () => {
    const row = one({ group: 'g1' });
    const sibling = one({ group: 'g2', arrival: 2n });
    const own = machine({ id: 'own', state: 'Creating', serves: row });
    const foreign = [
      machine({ id: 'f1', state: 'Creating', serves: one({ cluster: 'b' }) }),
      machine({ id: 'f2', state: 'Creating', serves: one({ priority: 5 }) }),
      machine({ id: 'f3', state: 'Creating' }),
      { ...machine({ id: 'f4', state: 'Creating', serves: row }), intendedCluster: '' },
    ];
    const output = run(fleet({ machines: [...foreign, own], needs: [row, sibling] }));
    assert.deepEqual([...output.claims], [['own', 0]]);
    assert.equal(output.verdicts[1]?.satisfied, false);
  });

  test('a plain need is credited by fingerprint, whatever group is stamped', () => {
    const row = one();
    const own = machine({ id: 'own', state: 'Creating', serves: row, assigned: { group: 'x' } });
    assert.deepEqual(claimedBy(run(fleet({ machines: [own], needs: [row] })), 0), ['own']);
  });

  test('Creating that fails re-opens exactly its deficit', () => {
    const row = need({ wants: cores(2) });
    const creating = machines(2, 'c', { state: 'Creating', serves: row });
    const pool = machines(5, 's', { state: 'Speculative' });
    assert.deepEqual(told(run(fleet({ machines: [...creating, ...pool], needs: [row] }))), []);
    const failed = machine({ id: 'c1', state: 'Failed' });
    const output = run(fleet({ machines: [failed, ...creating.slice(1), ...pool], needs: [row] }));
    assert.deepEqual(told(output), ['Provision s1']);
  });

  for (const dwell of [0, 1, 2, 3, 5]) {
    test(`one lost machine causes one acquisition at a create dwell of ${dwell} cycles`, () => {
      const row = need({ wants: cores(3) });
      let input = fleet({
        machines: [
          ...machines(2, 'kept', { state: 'Configured', serves: row }),
          machine({ id: 'lost', state: 'Failed' }),
          ...machines(5, 's', { state: 'Speculative' }),
        ],
        needs: [row],
      });
      const bornIn = new Map<string, number>();
      const all: string[] = [];
      for (let cycle = 0; cycle < dwell + 6; cycle++) {
        input = mature(
          input,
          ({ id, state }) => state === State.Creating && cycle - (bornIn.get(id) ?? 0) > dwell,
        );
        const output = run(input);
        all.push(...told(output));
        for (const id of acted(output, ActionKind.Provision)) bornIn.set(id, cycle);
        input = applyActions(input, output, { creates: true });
      }
      assert.deepEqual(all, ['Provision s1', 'Bootstrap s1']);
    });
  }
}

function describeUnmet(run: RunCycle): void {
  test('stockout: part is acquired, the rest is the residual vector', () => {
    const row = need({ wants: resources({ cpu: 3000, memory: 10 }), priority: 4 });
    const all = machines(2, 'i', { has: resources({ cpu: 1000, memory: 8 }) });
    const output = run(fleet({ machines: all, needs: [row] }));
    const [verdict] = output.verdicts;
    assert.deepEqual(verdict?.deficit, cores(1));
    assert.equal(verdict?.claimedCount, 2);
    const shortfall = output.memory.shortfalls.get(row.profile.fingerprint);
    assert.deepEqual(shortfall?.deficit, cores(1));
    assert.equal(shortfall?.ageCycles, 1);
  });

  test('a dense machine covers many units: ten demanded, eight covered, two left', () => {
    const output = run(
      fleet({
        machines: [machine({ id: 'i', has: cores(8) })],
        needs: [need({ wants: cores(10), unit: cores(1) })],
      }),
    );
    assert.deepEqual(output.verdicts[0]?.deficit, cores(2));
  });

  interface UnmetCase {
    readonly name: string;
    readonly code: string;
    readonly enum: string;
    readonly fleet: FleetInit;
  }
  const heldOff = one();
  const cases: readonly UnmetCase[] = [
    {
      name: 'no machine of the shape in any state',
      code: 'no_matching_supply',
      enum: 'NO_MATCHING_SUPPLY',
      fleet: {
        machines: [machine({ id: 'i' })],
        needs: [one({ requirements: [{ key: 'gpu', operator: Operator.Exists, values: [] }] })],
      },
    },
    {
      name: 'a Failed machine of the shape is matching supply',
      code: 'priority_starved',
      enum: 'PRIORITY_STARVED',
      fleet: { machines: [machine({ id: 'f', state: 'Failed' })], needs: [one()] },
    },
    {
      name: 'shapes match, none hosts the unit',
      code: 'min_unit_too_large',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: [machine({ id: 'i' })],
        needs: [need({ wants: cores(2), unit: cores(2) })],
      },
    },
    {
      name: 'Pinned with only interruptible supply',
      code: 'no_stable_supply',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: [spot({ id: 'i' }), spot({ id: 's', state: 'Speculative' })],
        needs: [one({ interruption: PINNED })],
      },
    },
    {
      name: 'the operator refused the bootstrap',
      code: 'bootstrap_refused',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: [machine({ id: 'i' })],
        needs: [heldOff],
        heldOff: [heldOffKey('a', heldOff.profile.fingerprint)],
      },
    },
    {
      name: 'its Configures fail',
      code: 'configure_failing',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: [machine({ id: 'i' })],
        needs: [heldOff],
        brakes: brakedNeeds([heldOff, 0]),
      },
    },
    {
      name: 'only Speculative of a failing type is left',
      code: 'type_failing',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: machines(1, 's', { state: 'Speculative', type: 'bad' }),
        needs: [one()],
        brakes: brakedTypes(['provider', 'bad', 0]),
      },
    },
    {
      name: 'a spent slice says nothing of the type beside it',
      code: 'quota_exhausted',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: machines(1, 's', { state: 'Speculative', type: 'bad' }),
        needs: [one()],
        quota: { provider: 0 },
        brakes: brakedTypes(['provider', 'bad', 0]),
      },
    },
    {
      name: 'only Speculative is left and the slice is used up',
      code: 'quota_exhausted',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: machines(1, 's', { state: 'Speculative' }),
        needs: [one()],
        quota: { provider: 0 },
      },
    },
    {
      name: 'everything is held by equals',
      code: 'priority_starved',
      enum: 'PRIORITY_STARVED',
      fleet: {
        machines: [machine({ id: 'c', state: 'Configured', serves: one({ cluster: 'b' }) })],
        needs: [one({ cluster: 'b' }), one({ cluster: 'a', arrival: 2n })],
      },
    },
  ];
  for (const entry of cases) {
    test(`unmet: ${entry.name}`, () => {
      const output = run(fleet(entry.fleet));
      assert.deepEqual(told(output), []);
      const verdict = output.verdicts.find(({ satisfied }) => !satisfied);
      assert.deepEqual([verdict?.reasonCode, verdict?.unmetReason], [entry.code, entry.enum]);
      const [shortfall] = output.memory.shortfalls.values();
      assert.equal(shortfall?.reasonCode, entry.code);
    });
  }

  test('a held-off need keeps what is bound to it and does not hold back others', () => {
    const held = need({ wants: cores(2) });
    const input = fleet({
      machines: [machine({ id: 'c', state: 'Configured', serves: held }), machine({ id: 'i' })],
      needs: [held, one({ cluster: 'b', arrival: 2n })],
      heldOff: [heldOffKey('a', held.profile.fingerprint)],
    });
    const output = run(input);
    assert.deepEqual(claimedBy(output, 0), ['c']);
    assert.deepEqual(
      output.actions.map(({ cluster }) => cluster),
      ['b'],
    );
  });

  test('a failing need tries what it may, keeps what is bound to it and leaves the rest', () => {
    const failing = need({ wants: cores(4) });
    const input = fleet({
      machines: [
        machine({ id: 'c', state: 'Configured', serves: failing }),
        ...machines(3, 'i', {}),
      ],
      needs: [failing, one({ cluster: 'b', arrival: 2n })],
      brakes: brakedNeeds([failing, 1]),
    });
    const output = run(input);
    assert.deepEqual(claimedBy(output, 0), ['c', 'i1']);
    assert.deepEqual(claimedBy(output, 1), ['i2']);
    assert.equal(output.verdicts[0]?.reasonCode, 'configure_failing');
    assert.deepEqual(output.verdicts[0]?.deficit, cores(2));
  });

  test('gangs of one failing profile share its tries', () => {
    const gangs = ['g1', 'g2', 'g3'].map((group, at) =>
      need({ wants: cores(1), group, arrival: BigInt(at + 1) }),
    );
    const [first] = gangs;
    const output = run(
      fleet({
        machines: machines(3, 'i', {}),
        needs: gangs,
        brakes: brakedNeeds([first as Need, 2]),
      }),
    );
    assert.deepEqual(
      output.verdicts.map(({ satisfied }) => satisfied),
      [true, true, false],
    );
  });

  test('a failing type is not bought; what is idle of it, and other types, are used', () => {
    const output = run(
      fleet({
        machines: [
          machine({ id: 'i', type: 'bad' }),
          ...machines(3, 's', { state: 'Speculative', type: 'bad', price: 0.5 }),
          machine({ id: 'good', state: 'Speculative', type: 'good', price: 9 }),
          machine({ id: 'elsewhere', state: 'Speculative', type: 'bad', provider: 'q', price: 8 }),
        ],
        needs: [need({ wants: cores(4) })],
        brakes: brakedTypes(['provider', 'bad', 1]),
      }),
    );
    assert.deepEqual(told(output), [
      'Bootstrap i',
      'Provision s1',
      'Provision elsewhere',
      'Provision good',
    ]);
  });

  test('matching supply is counted for unsatisfied needs only, whoever holds it', () => {
    const all = [
      ...machines(1, 'c', { state: 'Configured', cluster: 'b' }),
      ...machines(2, 'i', {}),
      ...machines(3, 's', { state: 'Speculative' }),
    ];
    const output = run(fleet({ machines: all, needs: [need({ wants: cores(9) })], reported: [] }));
    assert.deepEqual(output.verdicts[0]?.matchingSupply, {
      idle: 2,
      speculative: 3,
      configured: 1,
    });
    const met = run(fleet({ machines: all, needs: [one()], reported: [] }));
    assert.equal(met.verdicts[0]?.matchingSupply, undefined);
  });

  test('shortfalls of one fingerprint are summed and age once per cycle, then are forgotten', () => {
    const unit = new Map([['cpu', 500]]);
    const rowA = need({ cluster: 'a', wants: cores(2), unit: cores(1), arrival: 2n });
    const rowB = need({ cluster: 'b', wants: cores(3), unit });
    let input = fleet({ machines: [], needs: [rowB, rowA] });
    for (let age = 1; age <= 7; age++) {
      const output = run(input);
      const shortfall = output.memory.shortfalls.get(rowA.profile.fingerprint);
      assert.deepEqual(shortfall?.deficit, cores(5));
      assert.deepEqual(shortfall?.minUnit, cores(1));
      assert.deepEqual(shortfall?.clusters, ['a', 'b']);
      assert.equal(shortfall?.ageCycles, age);
      input = applyActions(input, output);
    }
    const output = run({ ...input, needs: [] });
    assert.equal(output.memory.shortfalls.size, 0);
  });
}
