// Engine §12 Phase 3: bound machines that nobody claims are reclaimed once their cluster was heard;
// idle ones are given back when their hold is over, and never earlier.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bucketOfDollars } from '@bigfleet/base';
import { ActionKind } from '../../model/action.ts';
import { CapacityType, type ReleasePolicy } from '../../model/capacity-type.ts';
import { State } from '../../model/state.ts';
import { applyActions } from '../apply.ts';
import {
  acted,
  claimedBy,
  cores,
  fleet,
  machine,
  machines,
  need,
  NOW_MS,
  told,
  type RunCycle,
} from '../build.ts';

export function describePhase3(run: RunCycle): void {
  describe('phase 3', () => {
    describeReclaim(run);
    describeRelease(run);
  });
}

function describeReclaim(run: RunCycle): void {
  test('everything is excess when a cluster reports no demand', () => {
    const output = run(fleet({ machines: machines(3, 'c', { state: 'Configured' }) }));
    assert.deepEqual(acted(output, ActionKind.Reclaim).toSorted(), ['c1', 'c2', 'c3']);
    assert.deepEqual(output.actions[0], {
      kind: ActionKind.Reclaim,
      machineId: 'c3',
      cluster: 'a',
      fingerprint: '',
      group: '',
      graceSeconds: 600,
      preemptorPriority: 0,
      reason: 'phase3.excess',
    });
  });

  test('nothing before the first roll-up, cluster by cluster', () => {
    const all = [
      ...machines(2, 'a', { state: 'Configured', cluster: 'a' }),
      ...machines(2, 'b', { state: 'Configured', cluster: 'b' }),
    ];
    assert.deepEqual(told(run(fleet({ machines: all, reported: [] }))), []);
    assert.deepEqual(told(run(fleet({ machines: all, reported: ['b'] }))), [
      'Reclaim b2',
      'Reclaim b1',
    ]);
  });

  test('a restart closes the gate again: demand and flags are gone, nothing is reclaimed', () => {
    const row = need({ wants: cores(1) });
    const input = fleet({ machines: machines(2, 'c', { state: 'Configured' }), needs: [row] });
    assert.deepEqual(told(run(input)), ['Reclaim c2']);
    assert.deepEqual(told(run({ ...input, needs: [], reportedClusters: new Set() })), []);
  });

  test('an exact fit is left alone', () => {
    const output = run(
      fleet({
        machines: machines(3, 'c', { state: 'Configured' }),
        needs: [need({ wants: cores(3) })],
      }),
    );
    assert.deepEqual(told(output), []);
  });

  test('release order: expensive, then low reclamation penalty, then the later id', () => {
    const loss = (dollars: number): object => ({ reclamationBucket: bucketOfDollars(dollars) });
    const all = [
      machine({ id: 'c1', state: 'Configured', price: 2, assigned: loss(8) }),
      machine({ id: 'c2', state: 'Configured', price: 9, assigned: loss(8) }),
      machine({ id: 'c3', state: 'Configured', price: 2, assigned: loss(1) }),
      machine({ id: 'c4', state: 'Configured', price: 2, assigned: loss(1) }),
    ];
    assert.deepEqual(told(run(fleet({ machines: all }))), [
      'Reclaim c2',
      'Reclaim c4',
      'Reclaim c3',
      'Reclaim c1',
    ]);
  });

  test('clusters in order of their names', () => {
    const all = ['b', 'a', 'c'].map((cluster) =>
      machine({ id: cluster, state: 'Configured', cluster, price: cluster === 'c' ? 9 : 1 }),
    );
    assert.deepEqual(told(run(fleet({ machines: all }))), ['Reclaim a', 'Reclaim b', 'Reclaim c']);
  });

  test('kept and reclaimed together are all that is Configured', () => {
    const all = machines(5, 'c', { state: 'Configured' });
    const output = run(fleet({ machines: all, needs: [need({ wants: cores(2) })] }));
    const kept = claimedBy(output, 0);
    assert.deepEqual(kept, ['c1', 'c2']);
    assert.deepEqual(
      [...kept, ...acted(output, ActionKind.Reclaim)].toSorted(),
      all.map(({ id }) => id),
    );
  });

  test('Configuring and Creating excess matures; Draining and withheld are left alone', () => {
    const all = [
      machine({ id: 'c1', state: 'Configuring' }),
      machine({ id: 'c2', state: 'Creating' }),
      machine({ id: 'c3', state: 'Draining' }),
      machine({ id: 'c4', state: 'Configured', withheld: 'transfer_frozen' }),
    ];
    assert.deepEqual(told(run(fleet({ machines: all, reported: ['a'] }))), []);
  });

  test('steady demand is inert whatever order the roll-ups arrived in', () => {
    const rows = ['a', 'b', 'c'].map((cluster) => need({ cluster, wants: cores(2) }));
    let input = fleet({ machines: machines(4, 'i', {}), needs: rows });
    input = applyActions(input, run(input));
    for (const order of [rows, rows.toReversed(), [rows[1], rows[2], rows[0]]]) {
      const needs = order.flatMap((row, at) =>
        row === undefined ? [] : [{ ...row, arrivalUnixNanos: BigInt(at + 1) }],
      );
      assert.deepEqual(told(run({ ...input, needs })), []);
    }
  });
}

function describeRelease(run: RunCycle): void {
  const types = [
    { type: CapacityType.OnDemand, holdMs: 600_000 },
    { type: CapacityType.Spot, holdMs: 60_000 },
  ] as const;
  const idleFor = (type: 1 | 2 | 3 | 4, idleMs: number, policy?: ReleasePolicy) =>
    fleet({
      machines: [machine({ id: 'i', capacityType: type })],
      idleSinceMs: new Map([['i', NOW_MS - idleMs]]),
      ...(policy === undefined ? {} : { releasePolicy: policy }),
    });

  for (const { type, holdMs } of types) {
    test(`capacity type ${type} is held for exactly ${holdMs} ms`, () => {
      assert.deepEqual(told(run(idleFor(type, holdMs - 1))), []);
      assert.deepEqual(run(idleFor(type, holdMs)).actions, [
        {
          kind: ActionKind.Delete,
          machineId: 'i',
          cluster: '',
          fingerprint: '',
          group: '',
          graceSeconds: 0,
          preemptorPriority: 0,
          reason: 'phase3.release',
        },
      ]);
    });
  }

  test('owned and committed capacity is held for ever, a zero policy releases nothing', () => {
    const year = 365 * 86_400_000;
    assert.deepEqual(told(run(idleFor(CapacityType.BareMetal, year))), []);
    assert.deepEqual(told(run(idleFor(CapacityType.Reserved, year))), []);
    const zero: ReleasePolicy = { onDemandHoldMs: 0, spotHoldMs: 0 };
    assert.deepEqual(told(run(idleFor(CapacityType.OnDemand, year, zero))), []);
    assert.deepEqual(told(run(idleFor(CapacityType.Spot, year, zero))), []);
    const own: ReleasePolicy = { onDemandHoldMs: 5, spotHoldMs: 0 };
    assert.deepEqual(told(run(idleFor(CapacityType.OnDemand, 5, own))), ['Delete i']);
  });

  test('an idle machine that is claimed is bootstrapped, not deleted', () => {
    const input = { ...idleFor(CapacityType.Spot, 1e9), needs: [need({ wants: cores(1) })] };
    assert.deepEqual(told(run(input)), ['Bootstrap i']);
  });

  test('not gated by the first roll-up; ids ascending; withheld and unstamped are kept', () => {
    const all = [
      machine({ id: 'i2' }),
      machine({ id: 'i1' }),
      machine({ id: 'i3', withheld: 'transfer_frozen' }),
      machine({ id: 'i4' }),
    ];
    const output = run(
      fleet({
        machines: all,
        reported: [],
        idleSinceMs: new Map(['i1', 'i2', 'i3'].map((id) => [id, 0])),
      }),
    );
    assert.deepEqual(told(output), ['Delete i1', 'Delete i2']);
  });

  test('a restart stamps anew: the hold starts again', () => {
    const input = idleFor(CapacityType.Spot, 60_000);
    assert.deepEqual(told(run(input)), ['Delete i']);
    assert.deepEqual(told(run({ ...input, idleSinceMs: new Map([['i', NOW_MS]]) })), []);
  });

  test('surplus is reclaimed, held, deleted once, and not bought again', () => {
    let input = fleet({
      machines: machines(2, 'c', { state: 'Configured' }),
      needs: [need({ wants: cores(1) })],
    });
    const all: string[] = [];
    for (let minute = 0; minute < 30; minute++) {
      const output = run(input);
      all.push(...told(output));
      input = applyActions(input, output, { elapsedMs: 60_000 });
    }
    assert.deepEqual(all, ['Reclaim c2', 'Delete c2']);
    assert.equal(input.machines[1]?.state, State.Speculative);
  });
}
