// Engine §12 Phase 2: who may be drained for whom, in which order, with how much notice, and that
// drains in progress are counted before anyone else is drained.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bucketOfDollars } from '@bigfleet/base';
import { heldOffKey } from '../../model/cycle.ts';
import { ActionKind } from '../../model/action.ts';
import type { Machine } from '../../model/machine.ts';
import { type Need, needKey } from '../../model/need.ts';
import { State } from '../../model/state.ts';
import { applyActions, mature } from '../apply.ts';
import {
  acted,
  brakedNeeds,
  claimedBy,
  cores,
  fleet,
  machine,
  type MachineInit,
  machines,
  need,
  RACK_KEY,
  resources,
  told,
  type RunCycle,
} from '../build.ts';

const urgent = (init: Partial<Parameters<typeof need>[0]> = {}): Need =>
  need({ cluster: 'hot', wants: cores(1), priority: 1_000_000, ...init });

/** Configured in cluster a and demanded there, so that nothing but Phase 2 touches it. */
const victim = (
  init: MachineInit & { priority?: number; penalty?: number; loss?: number },
): Machine =>
  machine({
    state: 'Configured',
    cluster: 'a',
    ...init,
    assigned: {
      priority: init.priority ?? 0,
      interruptionBucket: bucketOfDollars(init.penalty ?? 0),
      reclamationBucket: bucketOfDollars(init.loss ?? 0),
    },
  });

const demandOfA = (count: number, priority = -5): Need =>
  need({ cluster: 'a', wants: cores(count), priority });

export function describePhase2(run: RunCycle): void {
  describe('phase 2', () => {
    test('nothing is unsatisfied, nothing is preempted', () => {
      const output = run(fleet({ machines: [victim({ id: 'v' })], needs: [demandOfA(1)] }));
      assert.deepEqual(told(output), []);
    });

    test('an inversion preempts exactly enough and is no shortfall', () => {
      const all = ['v1', 'v2', 'v3', 'v4'].map((id) => victim({ id }));
      const output = run(
        fleet({ machines: all, needs: [demandOfA(4), urgent({ wants: cores(2) })] }),
      );
      assert.deepEqual(told(output), ['Preempt v1', 'Preempt v2']);
      const [verdict] = output.verdicts;
      assert.equal(verdict?.victimCount, 2);
      assert.deepEqual(verdict?.freed, cores(2));
      assert.deepEqual(verdict?.deficit, cores(2));
      assert.equal(verdict?.satisfied, false);
      // The victims do not drain yet, so it is not awaiting_drain before the next cycle.
      assert.equal(verdict?.reasonCode, 'priority_starved');
      assert.equal(output.memory.shortfalls.size, 0);
    });

    test('the action names source, grace, preemptor priority and reason', () => {
      const output = run(
        fleet({ machines: [victim({ id: 'v' })], needs: [demandOfA(1), urgent()] }),
      );
      assert.deepEqual(output.actions, [
        {
          kind: ActionKind.Preempt,
          machineId: 'v',
          cluster: 'a',
          fingerprint: '',
          group: '',
          graceSeconds: 10,
          preemptorPriority: 1_000_000,
          reason: 'phase2.inversion',
        },
      ]);
    });

    test('Preempt beats Reclaim on one machine', () => {
      const output = run(fleet({ machines: [victim({ id: 'v' })], needs: [urgent()] }));
      assert.deepEqual(told(output), ['Preempt v']);
    });
    describeEligibility(run);
    describeOrder(run);
    describeGrace(run);
    describeGangs(run);
    describeDrains(run);
  });
}

function describeEligibility(run: RunCycle): void {
  interface Case {
    readonly name: string;
    readonly machines: readonly Machine[];
    readonly needs: readonly Need[];
  }
  const spared: readonly Case[] = [
    {
      name: 'equal priority',
      machines: [victim({ id: 'v', priority: 1_000_000 })],
      needs: [demandOfA(1), urgent()],
    },
    {
      name: 'higher priority',
      machines: [victim({ id: 'v', priority: 1_000_001 })],
      needs: [demandOfA(1), urgent()],
    },
    {
      name: 'another shape',
      machines: [victim({ id: 'v' })],
      needs: [demandOfA(1), urgent({ requirements: [{ key: 'gpu', operator: 3, values: [] }] })],
    },
    {
      name: 'too small for the unit',
      machines: [victim({ id: 'v' })],
      needs: [demandOfA(1), urgent({ wants: cores(2), unit: cores(2) })],
    },
    {
      name: 'infinite cost for a Pinned preemptor',
      machines: [victim({ id: 'v', probability: 0.01 })],
      needs: [demandOfA(1), urgent({ interruption: Number.POSITIVE_INFINITY })],
    },
    {
      name: 'a stale low stamp under a claimant of equal priority',
      machines: [victim({ id: 'v', priority: 0 })],
      needs: [demandOfA(1, 1_000_000), urgent()],
    },
    {
      name: 'claimed by a higher need of the preemptor’s own cluster',
      machines: [victim({ id: 'v', cluster: 'hot' })],
      needs: [urgent({ priority: 2_000_000 }), urgent({ priority: 1_000_000 })].map((row, at) =>
        at === 0 ? { ...row, group: 'first' } : row,
      ),
    },
    {
      name: 'withheld',
      machines: [victim({ id: 'v', withheld: 'transfer_frozen' })],
      needs: [demandOfA(1), urgent()],
    },
    {
      name: 'nothing in it reduces the deficit',
      machines: [victim({ id: 'v', has: resources({ memory: 9 }) })],
      needs: [need({ wants: resources({ memory: 9 }), priority: -5 }), urgent()],
    },
  ];
  for (const { name, machines: all, needs } of spared) {
    test(`spared: ${name}`, () => {
      const output = run(fleet({ machines: all, needs }));
      assert.deepEqual(acted(output, ActionKind.Preempt), []);
      assert.ok(output.memory.shortfalls.size > 0);
    });
  }

  test('only Configured machines are victims', () => {
    const all = (['Configuring', 'Creating', 'Deleting', 'Failed'] as const).map((state) =>
      machine({ id: state, state, cluster: 'a' }),
    );
    const output = run(fleet({ machines: all, needs: [demandOfA(9), urgent()] }));
    assert.deepEqual(acted(output, ActionKind.Preempt), []);
  });

  test('own supply of another dimension is never drained', () => {
    const memory = resources({ memory: 1 });
    const bound = machines(1, 'm', { state: 'Configured', cluster: 'hot', has: memory });
    const needs = [urgent({ priority: 5, wants: memory }), urgent({ priority: 9 })];
    assert.deepEqual(told(run(fleet({ machines: bound, needs }))), []);
  });

  test('a stale high stamp protects as well', () => {
    const all = [victim({ id: 'v', priority: 2_000_000 })];
    assert.deepEqual(told(run(fleet({ machines: all, needs: [demandOfA(1), urgent()] }))), []);
  });

  test('an infinite-cost machine is not preempted in any later cycle either', () => {
    const pinned = urgent({ interruption: Number.POSITIVE_INFINITY });
    let input = fleet({
      machines: [victim({ id: 'v', probability: 0.5 })],
      needs: [demandOfA(1), pinned],
    });
    for (let cycle = 0; cycle < 5; cycle++) {
      const output = run(input);
      assert.deepEqual(told(output), []);
      input = applyActions(input, output);
    }
  });

  test('a failing need has no more machines drained for it than it may try', () => {
    for (const [allowed, victimCount] of [
      [0, 0],
      [1, 1],
      [2, 2],
    ] as const) {
      const row = urgent({ wants: cores(3) });
      const output = run(
        fleet({
          machines: [victim({ id: 'v1' }), victim({ id: 'v2' }), victim({ id: 'v3' })],
          needs: [demandOfA(3), row],
          brakes: brakedNeeds([row, allowed]),
        }),
      );
      assert.equal(told(output).length, victimCount, `allowed ${allowed}`);
      assert.equal(output.verdicts[0]?.need.cluster, 'hot');
      assert.equal(output.memory.shortfalls.size, 1);
    }
  });

  test('a held-off need never preempts', () => {
    const row = urgent();
    const output = run(
      fleet({
        machines: [victim({ id: 'v' })],
        needs: [demandOfA(1), row],
        heldOff: [heldOffKey('hot', row.profile.fingerprint)],
      }),
    );
    assert.deepEqual(told(output), []);
    assert.equal(
      output.memory.shortfalls.get(row.profile.fingerprint)?.reasonCode,
      'bootstrap_refused',
    );
  });
}

function describeOrder(run: RunCycle): void {
  const cases: readonly (readonly [string, readonly Machine[], string])[] = [
    [
      'the lower priority',
      [victim({ id: 'v1', priority: 9 }), victim({ id: 'v2', priority: 8 })],
      'v2',
    ],
    [
      'the lower interruption penalty',
      [victim({ id: 'v1', penalty: 64 }), victim({ id: 'v2', penalty: 32 })],
      'v2',
    ],
    ['the lower reclamation penalty', [victim({ id: 'v1', loss: 1 }), victim({ id: 'v2' })], 'v2'],
    [
      'anything before a Pinned penalty',
      [
        victim({ id: 'v1', penalty: Number.POSITIVE_INFINITY }),
        victim({ id: 'v2', penalty: 8_388_608 }),
      ],
      'v2',
    ],
    [
      'low penalties before a priority gap of one',
      [victim({ id: 'v1', priority: 0, penalty: 64, loss: 64 }), victim({ id: 'v2', priority: 1 })],
      'v2',
    ],
    ['the smaller id', [victim({ id: 'v2' }), victim({ id: 'v1' })], 'v1'],
  ];
  for (const [name, all, first] of cases) {
    test(`first victim: ${name}`, () => {
      const output = run(fleet({ machines: all, needs: [demandOfA(2, -(2 ** 31)), urgent()] }));
      assert.deepEqual(told(output), [`Preempt ${first}`]);
    });
  }

  test('the priority of the claimant counts in the score', () => {
    const all = [
      victim({ id: 'v1', cluster: 'a', price: 1 }),
      victim({ id: 'v2', cluster: 'b', price: 1 }),
    ];
    const needs = [
      demandOfA(1, 500),
      need({ cluster: 'b', wants: cores(1), priority: 100 }),
      urgent(),
    ];
    assert.deepEqual(told(run(fleet({ machines: all, needs }))), ['Preempt v2']);
  });

  test('two preemptors, one victim: the higher gets it, the other is unresolved', () => {
    const needs = [
      demandOfA(1),
      urgent({ cluster: 'warm', priority: 10 }),
      urgent({ cluster: 'hot', priority: 20 }),
    ];
    const output = run(fleet({ machines: [victim({ id: 'v' })], needs }));
    assert.equal(output.actions[0]?.preemptorPriority, 20);
    assert.deepEqual(
      [...output.memory.shortfalls.values()].flatMap(({ clusters }) => clusters),
      ['warm'],
    );
  });

  test('what falls short after freeing something is preemption exhausted', () => {
    const row = urgent({ wants: cores(3) });
    const output = run(fleet({ machines: [victim({ id: 'v' })], needs: [demandOfA(1), row] }));
    const [verdict] = output.verdicts;
    assert.deepEqual(told(output), ['Preempt v']);
    assert.equal(verdict?.reasonCode, 'preemption_exhausted');
    assert.equal(verdict?.unmetReason, 'PREEMPTION_EXHAUSTED');
    assert.deepEqual(output.memory.shortfalls.get(row.profile.fingerprint)?.deficit, cores(2));
  });

  test('what frees nothing is starved, not exhausted', () => {
    const all = [victim({ id: 'v', priority: 2_000_000 })];
    const output = run(fleet({ machines: all, needs: [demandOfA(1), urgent()] }));
    assert.equal(output.verdicts[0]?.reasonCode, 'priority_starved');
    assert.equal(output.verdicts[0]?.unmetReason, 'PRIORITY_STARVED');
  });

  test('victims that reduce no open dimension any more are skipped', () => {
    const all = [
      victim({ id: 'v1', priority: 1, has: resources({ cpu: 1000 }) }),
      victim({ id: 'v2', priority: 2, has: resources({ cpu: 1000 }) }),
      victim({ id: 'v3', priority: 3, has: resources({ memory: 5 }) }),
    ];
    const row = urgent({ wants: resources({ cpu: 1000, memory: 5 }) });
    const output = run(fleet({ machines: all, needs: [demandOfA(2), row], reported: [] }));
    assert.deepEqual(told(output), ['Preempt v1', 'Preempt v3']);
  });
}

function describeGrace(run: RunCycle): void {
  for (const [priority, seconds] of [
    [0, 10],
    [99_999, 10],
    [100_000, 30],
    [100_001, 30],
    [499_999, 30],
    [500_001, 120],
    [899_999, 120],
    [900_001, 600],
    [999_999, 600],
    [-(2 ** 31), 10],
  ] as const) {
    test(`a victim of priority ${priority} gets ${seconds} s`, () => {
      const output = run(
        fleet({
          machines: [victim({ id: 'v', priority })],
          needs: [demandOfA(1, -(2 ** 31)), urgent()],
        }),
      );
      assert.equal(output.actions[0]?.graceSeconds, seconds);
    });
  }

  test('the grace goes by the effective priority', () => {
    const output = run(
      fleet({
        machines: [victim({ id: 'v', priority: 0 })],
        needs: [demandOfA(1, 950_000), urgent()],
      }),
    );
    assert.equal(output.actions[0]?.graceSeconds, 600);
  });
}

function describeGangs(run: RunCycle): void {
  const gang = urgent({ same: RACK_KEY, group: 'g', wants: cores(3), unit: cores(1) });
  const racked = (id: string, rack: string, priority = 0): Machine =>
    victim({ id, rack, priority });

  test('victims of a gang come from its domain only', () => {
    const all = [
      machine({ id: 'own', state: 'Configured', serves: gang, rack: 'r2' }),
      racked('v1', 'r1'),
      racked('v2', 'r1'),
      racked('v3', 'r2', 5),
      racked('v4', 'r2', 5),
    ];
    const output = run(fleet({ machines: all, needs: [demandOfA(4), gang] }));
    assert.deepEqual(told(output), ['Preempt v3', 'Preempt v4']);
  });

  test('a gang without a domain preempts nobody', () => {
    const output = run(fleet({ machines: [racked('v1', 'r1')], needs: [demandOfA(1), gang] }));
    assert.deepEqual(told(output), []);
  });

  test('a parked gang preempts nobody', () => {
    const input = fleet({
      machines: [
        machine({ id: 'own', state: 'Configured', serves: gang, rack: 'r1' }),
        racked('v1', 'r1'),
      ],
      needs: [demandOfA(1), gang],
    });
    assert.deepEqual(told(run(input)), ['Preempt v1']);
    const parkingAges = new Map([[needKey(gang), 8]]);
    assert.deepEqual(told(run({ ...input, memory: { ...input.memory, parkingAges } })), []);
  });
}

function describeDrains(run: RunCycle): void {
  test('drains in progress prevent a second round of victims, however long they take', () => {
    const all = ['v1', 'v2', 'v3', 'v4'].map((id) => victim({ id }));
    const row = urgent({ wants: cores(2) });
    let input = fleet({ machines: all, needs: [demandOfA(4), row] });
    const first = run(input);
    input = applyActions(input, first, { drains: true });
    for (let cycle = 0; cycle < 8; cycle++) {
      const output = run(input);
      assert.deepEqual(acted(output, ActionKind.Preempt), [], `cycle ${cycle}`);
      const verdict = output.verdicts[0];
      assert.equal(verdict?.reasonCode, 'awaiting_drain');
      assert.equal(verdict?.awaitingDrainCount, 2);
      assert.equal(output.memory.shortfalls.has(row.profile.fingerprint), false);
      input = applyActions(input, output, { drains: true });
    }
    const done = run(mature(input, ({ state }) => state === State.Draining));
    assert.deepEqual(acted(done, ActionKind.Bootstrap), ['v1', 'v2']);
    assert.deepEqual(claimedBy(done, 0), ['v1', 'v2']);
  });

  test('drains that cover a part leave only the rest to victims', () => {
    const all = [
      machine({ id: 'd', state: 'Draining', cluster: 'b' }),
      victim({ id: 'v1' }),
      victim({ id: 'v2' }),
    ];
    const output = run(
      fleet({ machines: all, needs: [demandOfA(2), urgent({ wants: cores(2) })] }),
    );
    assert.deepEqual(acted(output, ActionKind.Preempt), ['v1']);
    assert.equal(output.verdicts[0]?.awaitingDrainCount, 1);
    assert.deepEqual(output.verdicts[0]?.freed, cores(1));
  });

  test('each drain is credited once, to the higher preemptor', () => {
    const all = [machine({ id: 'd', state: 'Draining', cluster: 'b' })];
    const needs = [urgent({ cluster: 'warm', priority: 5 }), urgent({ priority: 6 })];
    const output = run(fleet({ machines: all, needs }));
    assert.deepEqual(
      output.verdicts.map(({ reasonCode }) => reasonCode),
      ['awaiting_drain', 'priority_starved'],
    );
  });

  test('all drains are credited before the first victim is chosen', () => {
    // The lower need could use the drain only; the higher one takes it first and needs no victim.
    const all = [machine({ id: 'd', state: 'Draining', cluster: 'b' }), victim({ id: 'v' })];
    const needs = [demandOfA(1), urgent({ cluster: 'warm', priority: 5 }), urgent({ priority: 6 })];
    const output = run(fleet({ machines: all, needs }));
    assert.equal(output.actions[0]?.preemptorPriority, 5);
    assert.equal(output.actions.length, 1);
  });

  test('a drain counts only where the machine would be of use', () => {
    const all = [
      machine({ id: 'd1', state: 'Draining', has: resources({ memory: 9 }) }),
      machine({ id: 'd2', state: 'Draining', probability: 0.1 }),
      machine({ id: 'd3', state: 'Draining', withheld: 'not_owned' }),
    ];
    const row = urgent({ interruption: Number.POSITIVE_INFINITY });
    const output = run(fleet({ machines: all, needs: [row], reported: [] }));
    assert.equal(output.verdicts[0]?.awaitingDrainCount, 0);
    assert.equal(output.memory.shortfalls.size, 1);
  });
}
