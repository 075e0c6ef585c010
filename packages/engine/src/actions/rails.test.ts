// Proves rail 1: the arithmetic of the cap, that the head of the emission order is kept, that no
// other kind is touched, and that a drain rolls over until it is done, cycle by cycle.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ActionKind, type ActionKindCode } from '../model/action.ts';
import { applyRails, deployedRails, railsOff, reclaimCap } from './rails.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);

interface Told {
  readonly kind: ActionKindCode;
  readonly cluster: string;
  readonly name: string;
}

const { Bootstrap, Provision, Reclaim, Preempt, Delete } = ActionKind;

function told(kind: ActionKindCode, cluster: string, name: string): Told {
  return { kind, cluster, name };
}

function reclaims(cluster: string, count: number): Told[] {
  return Array.from({ length: count }, (_, at) => told(Reclaim, cluster, `${cluster}${at}`));
}

function names(actions: readonly Told[]): string[] {
  return actions.map(({ name }) => name);
}

test('the arithmetic of the cap', () => {
  for (const [fraction, configured, cap] of [
    [0.05, 0, 1],
    [0.05, 1, 1],
    [0.05, 19, 1],
    [0.05, 20, 1],
    [0.05, 21, 1],
    [0.05, 39, 1],
    [0.05, 40, 2],
    [0.05, 100, 5],
    [0.25, 40, 10],
    [0.5, 7, 3],
    [1, 7, 7],
    [0, 100, Number.POSITIVE_INFINITY],
    [-1, 100, Number.POSITIVE_INFINITY],
  ] as const) {
    assert.equal(reclaimCap(configured, fraction), cap, `${fraction} × ${configured}`);
  }
});

test('the deployed rails are on, the library’s zero value is off', () => {
  assert.deepEqual(deployedRails, { reclaimCapFraction: 0.05, maxActionsPerCycle: 0 });
  const all = reclaims('a', 50);
  const off = applyRails(all, () => 50, railsOff);
  assert.deepEqual(off, { kept: all, deferredByReclaimCap: [], deferredByMaxActions: [] });
});

test('the head of the emission order is kept, per cluster', () => {
  const counts = new Map([
    ['a', 40],
    ['b', 100],
    ['c', 3],
  ]);
  const actions = [...reclaims('a', 4), ...reclaims('b', 7), ...reclaims('c', 2)];
  const railed = applyRails(actions, (cluster) => counts.get(cluster) ?? 0, deployedRails);
  assert.deepEqual(names(railed.kept), ['a0', 'a1', 'b0', 'b1', 'b2', 'b3', 'b4', 'c0']);
  assert.deepEqual(names(railed.deferredByReclaimCap), ['a2', 'a3', 'b5', 'b6', 'c1']);
  assert.deepEqual(railed.deferredByMaxActions, []);
});

test('no other kind is capped, and the order stays', () => {
  const others = [Bootstrap, Provision, Preempt, Delete].flatMap((kind) =>
    Array.from({ length: 30 }, (_, at) => told(kind, kind === Delete ? '' : 'a', `${kind}-${at}`)),
  );
  const actions = [...others.slice(0, 60), ...reclaims('a', 3), ...others.slice(60)];
  const railed = applyRails(actions, () => 10, deployedRails);
  assert.deepEqual(names(railed.deferredByReclaimCap), ['a1', 'a2']);
  const expected = names(actions).filter((name) => name !== 'a1' && name !== 'a2');
  assert.deepEqual(names(railed.kept), expected);
});

test('the action limit keeps the first N of what the cap allows', () => {
  const actions = [...reclaims('a', 3), told(Bootstrap, 'b', 'x'), told(Delete, '', 'y')];
  const railed = applyRails(actions, () => 1, { reclaimCapFraction: 0.05, maxActionsPerCycle: 2 });
  assert.deepEqual(names(railed.kept), ['a0', 'x']);
  assert.deepEqual(names(railed.deferredByReclaimCap), ['a1', 'a2']);
  assert.deepEqual(names(railed.deferredByMaxActions), ['y']);
});

test('a drain of 100 machines takes at least 20 cycles and ends', () => {
  let left = 100;
  let cycles = 0;
  while (left > 0) {
    const { kept } = applyRails(reclaims('a', left), () => left, deployedRails);
    assert.ok(kept.length >= 1);
    left -= kept.length;
    cycles += 1;
  }
  assert.ok(cycles >= 20, `${cycles} cycles`);
});

test(`nothing is lost, and k cycles reclaim at most the sum of k caps (seed ${seed})`, () => {
  const action = fc.record({
    kind: fc.constantFrom<ActionKindCode>(1, 2, 3, 3, 3, 4, 5),
    cluster: fc.constantFrom('a', 'b'),
    name: fc.uuid(),
  });
  const cycle = fc.record({
    actions: fc.array(action, { maxLength: 30 }),
    configured: fc.nat(60),
  });
  const fractions = fc.constantFrom(0.05, 0.1, 0.5, 1);
  fc.assert(
    fc.property(
      fc.array(cycle, { maxLength: 5 }),
      fractions,
      fc.nat(20),
      (cycles, fraction, limit) => {
        const rails = { reclaimCapFraction: fraction, maxActionsPerCycle: limit };
        const used = { a: 0, b: 0 };
        const allowed = { a: 0, b: 0 };
        for (const { actions, configured } of cycles) {
          const railed = applyRails(actions, () => configured, rails);
          const parts = [railed.kept, railed.deferredByReclaimCap, railed.deferredByMaxActions];
          assert.deepEqual(names(parts.flat()).sort(), names(actions).sort());
          assert.ok(railed.deferredByReclaimCap.every(({ kind }) => kind === Reclaim));
          if (limit > 0) assert.ok(railed.kept.length <= limit);
          else assert.equal(railed.deferredByMaxActions.length, 0);
          for (const cluster of ['a', 'b'] as const) {
            allowed[cluster] += reclaimCap(configured, fraction);
            used[cluster] += railed.kept.filter(
              (kept) => kept.kind === Reclaim && kept.cluster === cluster,
            ).length;
            assert.ok(used[cluster] <= allowed[cluster]);
          }
        }
      },
    ),
    { seed, numRuns: 300 },
  );
});
