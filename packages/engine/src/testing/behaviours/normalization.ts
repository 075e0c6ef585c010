// Engine §12 Normalisation, seen through a whole cycle: which rows come out of the fold, in which
// order, and that a served gang is not torn apart by a bigger machine.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CycleOutput } from '../../model/cycle.ts';
import { compareDemand, type Need } from '../../model/need.ts';
import { Operator, ZONE_KEY } from '../../model/requirement.ts';
import { resourcesKey } from '../../model/resources.ts';
import {
  acrossZones,
  claimedBy,
  cores,
  fleet,
  machine,
  machines,
  need,
  RACK_KEY,
  told,
  type RunCycle,
} from '../build.ts';

const gang = (group: string, size: number, init: Partial<Parameters<typeof need>[0]> = {}): Need =>
  need({ same: RACK_KEY, group, wants: cores(size), unit: cores(1), ...init });

const rows = (output: CycleOutput): string[] =>
  output.verdicts.map(
    ({ need: { cluster, profile, group, aggregate, minUnit } }) =>
      `${cluster} ${profile.same === undefined ? 'plain' : 'same'} [${group}] ` +
      `${resourcesKey(aggregate)} by ${resourcesKey(minUnit)}`,
  );

export function describeNormalization(run: RunCycle): void {
  describe('normalisation', () => {
    const big = machine({ id: 'big', rack: 'r1', has: cores(4), state: 'Speculative' });

    test('gangs of one size become one row: summed, unit one gang, Same and group gone', () => {
      const output = run(
        fleet({ machines: [big], needs: [gang('g1', 2), gang('g2', 2), gang('g3', 2)] }),
      );
      assert.deepEqual(rows(output), ['a plain [] cpu=6000 by cpu=2000']);
    });

    test('spread, priority, penalties and the earliest stamped arrival are kept', () => {
      const init = { priority: 7, interruption: 4, reclamation: 8, spread: [acrossZones(2)] };
      const needs = [0n, 9n, 5n].map((arrival, at) => gang(`g${at}`, 2, { ...init, arrival }));
      const [verdict] = run(fleet({ machines: [big], needs })).verdicts;
      const plain = need({ wants: cores(1), ...init });
      assert.equal(verdict?.need.profile.fingerprint, plain.profile.fingerprint);
      assert.deepEqual(verdict?.need.profile.hardSpread, acrossZones(2));
      assert.equal(verdict?.need.arrivalUnixNanos, 5n);
    });

    test('sizes and clusters fold separately; a gang too large for any machine is untouched', () => {
      const needs = [gang('g1', 2), gang('g2', 3), gang('g3', 5), gang('g4', 2, { cluster: 'b' })];
      assert.deepEqual(rows(run(fleet({ machines: [big], needs }))), [
        'a same [g3] cpu=5000 by cpu=1000',
        'a plain [] cpu=2000 by cpu=2000',
        'a plain [] cpu=3000 by cpu=3000',
        'b plain [] cpu=2000 by cpu=2000',
      ]);
    });

    test('pass-through rows keep demand order, folded rows follow by cluster', () => {
      const needs = [
        gang('fold', 2, { cluster: 'z', priority: 9 }),
        gang('fold', 2, { cluster: 'b', priority: 1 }),
        need({ cluster: 'c', wants: cores(1), priority: 3, arrival: 9n }),
        need({ cluster: 'd', wants: cores(1), priority: 3, arrival: 2n }),
        gang('wide', 9, { cluster: 'a', priority: 5 }),
      ];
      const order = (list: readonly Need[]): string[] =>
        run(fleet({ machines: [big], needs: list })).verdicts.map(
          (verdict) => verdict.need.cluster,
        );
      assert.deepEqual(order(needs), ['a', 'd', 'c', 'b', 'z']);
      assert.deepEqual(order(needs.toReversed()), ['a', 'd', 'c', 'b', 'z']);
    });

    test('without Same every row passes through, in demand order', () => {
      const needs = [1, 2, 3].map((priority) => need({ wants: cores(1), priority }));
      const output = run(fleet({ machines: [big], needs }));
      assert.deepEqual(
        output.verdicts.map((verdict) => verdict.need),
        needs.toSorted(compareDemand),
      );
    });

    test('the normalised rows are a fixed point of normalisation', () => {
      // Another priority: a row with the folded gangs' own key would be merged when fed back.
      const plain = need({ wants: cores(1), priority: 7 });
      const needs = [gang('g1', 2), gang('g2', 2), gang('g3', 9), plain];
      const once = run(fleet({ machines: [big], needs }));
      const again = run(
        fleet({ machines: [big], needs: once.verdicts.map((verdict) => verdict.need) }),
      );
      assert.deepEqual(rows(again).toSorted(), rows(once).toSorted());
    });

    const hosts = [
      { by: 'Idle', state: 'Idle', folds: true },
      { by: 'Speculative', state: 'Speculative', folds: true },
      { by: 'own Configured', state: 'Configured', cluster: 'a', folds: true },
      { by: 'own Configuring', state: 'Configuring', cluster: 'a', folds: true },
      { by: "another cluster's Configured", state: 'Configured', cluster: 'b', folds: false },
      { by: 'own Draining', state: 'Draining', cluster: 'a', folds: false },
      { by: 'Creating', state: 'Creating', folds: false },
      { by: 'withheld Idle', state: 'Idle', withheld: 'not_owned', folds: false },
      {
        by: 'own withheld Configured',
        state: 'Configured',
        withheld: 'transfer_frozen',
        folds: true,
      },
      { by: 'Idle outside every rack', state: 'Idle', rack: undefined, folds: false },
    ] as const;
    for (const { by, folds, ...init } of hosts) {
      test(`a gang ${folds ? 'folds' : 'does not fold'} by ${by}`, () => {
        const { rack, ...rest } = { rack: 'r1', ...init };
        const host = machine({
          id: 'host',
          has: cores(4),
          ...rest,
          ...(rack === undefined ? {} : { rack }),
        });
        const output = run(fleet({ machines: [host], needs: [gang('g1', 4)] }));
        assert.equal(output.verdicts[0]?.need.profile.same === undefined, folds);
      });
    }

    test('a Pinned gang does not fold by a machine that may be interrupted', () => {
      const spot = machine({ id: 'spot', rack: 'r1', has: cores(4), probability: 0.1 });
      const pinned = gang('g1', 4, { interruption: Number.POSITIVE_INFINITY });
      assert.deepEqual(rows(run(fleet({ machines: [spot], needs: [pinned] }))), [
        'a same [g1] cpu=4000 by cpu=1000',
      ]);
    });

    test('a served gang keeps its small machines when a bigger machine appears', () => {
      const served = gang('g1', 2);
      const own = machines(2, 'own', { state: 'Configured', serves: served, rack: 'r1' });
      const output = run(fleet({ machines: [...own, big], needs: [served] }));
      assert.deepEqual(rows(output), ['a same [g1] cpu=2000 by cpu=1000']);
      assert.deepEqual(claimedBy(output, 0), ['own1', 'own2']);
      assert.deepEqual(told(output), []);
    });

    test('a gang folds when one of its own machines covers it alone', () => {
      const served = gang('g1', 2);
      const own = [
        machine({ id: 'small', state: 'Configured', serves: served, rack: 'r1' }),
        machine({ id: 'large', state: 'Configured', serves: served, rack: 'r1', has: cores(2) }),
      ];
      const output = run(fleet({ machines: own, needs: [served] }));
      assert.deepEqual(rows(output), ['a plain [] cpu=2000 by cpu=2000']);
      assert.deepEqual(claimedBy(output, 0), ['large']);
    });

    test("another gang's or another cluster's machines are no incumbents", () => {
      const others = [
        machine({ id: 'o1', state: 'Configured', rack: 'r1', serves: gang('g2', 2) }),
        machine({
          id: 'o2',
          state: 'Configured',
          rack: 'r1',
          serves: gang('g1', 2, { cluster: 'b' }),
        }),
      ];
      const output = run(fleet({ machines: [...others, big], needs: [gang('g1', 2)] }));
      assert.deepEqual(rows(output), ['a plain [] cpu=2000 by cpu=2000']);
    });

    test('gangs that differ only in their Same key fold into one row', () => {
      const needs = [gang('g1', 2), gang('g2', 2, { same: ZONE_KEY })];
      assert.deepEqual(rows(run(fleet({ machines: [big], needs }))), [
        'a plain [] cpu=4000 by cpu=2000',
      ]);
    });

    test('requirements other than Same survive the fold', () => {
      const requirements = [{ key: 'gpu', operator: Operator.DoesNotExist, values: [] }];
      const [verdict] = run(
        fleet({ machines: [big], needs: [gang('g1', 2, { requirements })] }),
      ).verdicts;
      assert.deepEqual(verdict?.need.profile.requirements, requirements);
    });
  });
}
