// engine §12 Phase 1, crediting: which bound, configuring and creating machines count for a need.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ActionKind } from '../../model/action.ts';
import { State } from '../../model/state.ts';
import { applyActions, mature } from '../apply.ts';
import {
  acted,
  claimedBy,
  cores,
  fleet,
  machine,
  machines,
  need,
  one,
  type RunCycle,
  told,
} from '../build.ts';

const PINNED = Number.POSITIVE_INFINITY;

export function describeCredit(run: RunCycle): void {
  describe('phase 1, credit', () => {
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
      const output = run(
        fleet({ machines: all, needs: [need({ wants: cores(2) })], reported: [] }),
      );
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
      const output = run(
        fleet({ machines: [failed, ...creating.slice(1), ...pool], needs: [row] }),
      );
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
  });
}
