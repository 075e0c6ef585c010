// engine §12 Phase 1, contention: the outcome is that of one pass by precedence, whatever the order in
// which needs and machines are told (docs/adr/0029, docs/adr/0065).

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ActionKind } from '../../model/action.ts';
import {
  acted,
  claimedBy,
  cores,
  fleet,
  machine,
  machines,
  one,
  type RunCycle,
  told,
} from '../build.ts';

export function describeContention(run: RunCycle): void {
  describe('phase 1, contention', () => {
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

    test('of two equals the older row takes the machine, whichever is told first', () => {
      const older = one({ cluster: 'b', arrival: 1n });
      const younger = one({ cluster: 'a', arrival: 2n });
      for (const needs of [
        [older, younger],
        [younger, older],
      ]) {
        const output = run(fleet({ machines: [machine({ id: 'i1' })], needs }));
        assert.deepEqual(
          output.actions.map(({ cluster }) => cluster),
          ['b'],
        );
      }
    });

    test('needs in any order end up as in one pass by precedence: nothing is displaced or lost', () => {
      const ranked = [
        one({ cluster: 'first', priority: 2 }),
        one({ cluster: 'second', priority: 1, interruption: 64 }),
        one({ cluster: 'third', priority: 1, interruption: 0.5, reclamation: 0.5 }),
        one({ cluster: 'fourth', priority: 1, interruption: 0.5 }),
        one({ cluster: 'fifth', priority: 1 }),
      ];
      for (let turn = 0; turn < ranked.length; turn++) {
        const turned = [...ranked.slice(turn), ...ranked.slice(0, turn)];
        for (const needs of [turned, turned.toReversed()]) {
          const output = run(fleet({ machines: machines(3, 'i', {}), needs }));
          assert.deepEqual(
            output.actions.map(({ cluster, machineId }) => `${cluster} ${machineId}`),
            ['first i1', 'second i2', 'third i3'],
          );
          assert.equal(output.claims.size, 3);
        }
      }
    });
  });
}
