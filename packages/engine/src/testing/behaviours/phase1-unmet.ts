// engine §12 Phase 1, what stays open: the residual, its reason, held-off and failing needs.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldOffKey } from '../../model/cycle.ts';
import { CapacityType } from '../../model/capacity-type.ts';
import type { Machine } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { Operator } from '../../model/requirement.ts';
import { applyActions } from '../apply.ts';
import {
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
  one,
  resources,
  type RunCycle,
  told,
} from '../build.ts';

const PINNED = Number.POSITIVE_INFINITY;
const spot = (init: MachineInit): Machine =>
  machine({ capacityType: CapacityType.Spot, probability: 0.1, price: 1.8, ...init });

export function describeUnmet(run: RunCycle): void {
  describe('phase 1, unmet', () => {
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
            machine({
              id: 'elsewhere',
              state: 'Speculative',
              type: 'bad',
              provider: 'q',
              price: 8,
            }),
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
      const output = run(
        fleet({ machines: all, needs: [need({ wants: cores(9) })], reported: [] }),
      );
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
  });
}
