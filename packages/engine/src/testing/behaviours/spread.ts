// Engine §12 Spread: the skew holds over everything that serves the need, bound machines and both
// pools included, and only DoNotSchedule is enforced.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CycleInput } from '../../model/cycle.ts';
import type { Machine } from '../../model/machine.ts';
import { ZONE_KEY } from '../../model/requirement.ts';
import {
  acrossZones,
  cores,
  fleet,
  type MachineInit,
  machines,
  need,
  RACK_KEY,
  told,
  type RunCycle,
} from '../build.ts';

interface SpreadCase {
  readonly name: string;
  readonly machines: readonly Machine[];
  readonly wanted: number;
  readonly skew: number;
  readonly perZone: Readonly<Record<string, number>>;
  readonly reasonCode: string;
}

const zone = (name: string, count: number, init: Partial<MachineInit> = {}): Machine[] =>
  machines(count, name, { zone: name, ...init });

const cases: readonly SpreadCase[] = [
  {
    name: 'three zones of four, six wanted',
    machines: [...zone('a', 4), ...zone('b', 4), ...zone('c', 4)],
    wanted: 6,
    skew: 1,
    perZone: { a: 2, b: 2, c: 2 },
    reasonCode: 'satisfied',
  },
  {
    name: 'a zone of one holds the others back, and the rest is a shortfall',
    machines: [...zone('a', 1), ...zone('b', 5), ...zone('c', 5)],
    wanted: 6,
    skew: 1,
    perZone: { a: 1, b: 2, c: 2 },
    reasonCode: 'spread_unsatisfiable',
  },
  {
    name: 'two zones at one and five dollars',
    machines: [...zone('a', 4, { price: 1 }), ...zone('b', 4, { price: 5 })],
    wanted: 4,
    skew: 1,
    perZone: { a: 2, b: 2 },
    reasonCode: 'satisfied',
  },
  {
    name: 'a wider skew lets the cheap zone run ahead',
    machines: [...zone('a', 9, { price: 1 }), ...zone('b', 9, { price: 5 })],
    wanted: 4,
    skew: 3,
    perZone: { a: 3, b: 1 },
    reasonCode: 'satisfied',
  },
  {
    name: 'a skew below one is one',
    machines: [...zone('a', 4, { price: 1 }), ...zone('b', 4, { price: 5 })],
    wanted: 4,
    skew: 0,
    perZone: { a: 2, b: 2 },
    reasonCode: 'satisfied',
  },
  {
    name: 'bound machines count from the start',
    machines: [
      ...zone('a', 2, { state: 'Configured' }),
      ...zone('b', 4),
      ...machines(4, 'x', { zone: 'a' }),
    ],
    wanted: 4,
    skew: 1,
    perZone: { a: 2, b: 2 },
    reasonCode: 'satisfied',
  },
  {
    name: 'Configuring counts as well',
    machines: [
      ...zone('a', 1, { state: 'Configuring' }),
      ...zone('b', 2, { price: 9 }),
      ...machines(4, 'x', { zone: 'a' }),
    ],
    wanted: 2,
    skew: 1,
    perZone: { a: 1, b: 1 },
    reasonCode: 'satisfied',
  },
  {
    name: 'the skew runs on over Idle and Speculative',
    machines: [
      ...zone('a', 2),
      ...machines(5, 'as', { zone: 'a', state: 'Speculative' }),
      ...zone('b', 1, { state: 'Speculative', price: 9 }),
    ],
    wanted: 5,
    skew: 1,
    perZone: { a: 2, b: 1 },
    reasonCode: 'spread_unsatisfiable',
  },
  {
    name: 'a machine without the key is in no bucket',
    machines: [...zone('a', 1), ...machines(3, 'x', { zone: '' })],
    wanted: 3,
    skew: 1,
    perZone: { a: 1 },
    reasonCode: 'priority_starved',
  },
];

export function describeSpread(run: RunCycle): void {
  describe('spread', () => {
    for (const entry of cases) {
      test(entry.name, () => {
        const row = need({ wants: cores(entry.wanted), spread: [acrossZones(entry.skew)] });
        const input = fleet({ machines: entry.machines, needs: [row] });
        assert.deepEqual(perZone(run, input), entry.perZone);
        assert.equal(run(input).verdicts[0]?.reasonCode, entry.reasonCode);
      });
    }

    test('ScheduleAnyway is ignored: the four cheapest in one zone', () => {
      const spread = [{ ...acrossZones(1), whenUnsatisfiable: 2 }];
      const all = [...zone('a', 4, { price: 5 }), ...zone('b', 4, { price: 1 })];
      const input = fleet({ machines: all, needs: [need({ wants: cores(4), spread })] });
      assert.deepEqual(perZone(run, input), { b: 4 });
    });

    test('only the first DoNotSchedule in canonical order is enforced', () => {
      const spread = [acrossZones(1), { ...acrossZones(1), topologyKey: RACK_KEY }];
      const all = [
        ...machines(2, 'r1', { rack: 'r1', zone: 'a' }),
        ...machines(2, 'r2', { rack: 'r2', zone: 'a' }),
        ...machines(2, 'b', { rack: 'r1', zone: 'b', price: 5 }),
      ];
      const input = fleet({ machines: all, needs: [need({ wants: cores(4), spread })] });
      // By rack, because example.com/… sorts before topology.kubernetes.io/….
      assert.deepEqual(perZone(run, input), { a: 4 });
    });

    test('Same beats spread', () => {
      const row = need({
        wants: cores(2),
        unit: cores(1),
        same: ZONE_KEY,
        group: 'g',
        spread: [acrossZones(1)],
      });
      const input = fleet({ machines: [...zone('a', 2), ...zone('b', 2)], needs: [row] });
      assert.deepEqual(perZone(run, input), { a: 2 });
    });

    test('heads compare by effective cost', () => {
      const row = need({ wants: cores(1), interruption: 8, spread: [acrossZones(1)] });
      const all = [
        ...zone('a', 1, { price: 1, probability: 0.5, state: 'Speculative' }),
        ...zone('b', 1, { price: 3, state: 'Speculative' }),
      ];
      assert.deepEqual(told(run(fleet({ machines: all, needs: [row] }))), ['Provision b1']);
    });

    test('Idle heads go before cheaper Speculative ones of another bucket', () => {
      const row = need({ wants: cores(1), spread: [acrossZones(1)] });
      const all = [...zone('a', 1, { price: 9 }), ...zone('b', 1, { state: 'Speculative' })];
      assert.deepEqual(told(run(fleet({ machines: all, needs: [row] }))), ['Bootstrap a1']);
    });

    test('passing over is judged inside the bucket', () => {
      const row = need({ wants: cores(1), interruption: 64, spread: [acrossZones(1)] });
      const risky = { price: 1, probability: 0.5 };
      const elsewhere = fleet({
        machines: [...zone('a', 1, risky), ...zone('b', 1, { state: 'Speculative', price: 2 })],
        needs: [row],
      });
      assert.deepEqual(told(run(elsewhere)), ['Bootstrap a1']);
      const inside = fleet({
        machines: [
          ...zone('a', 1, risky),
          ...machines(1, 's', { zone: 'a', state: 'Speculative', price: 2 }),
        ],
        needs: [row],
      });
      assert.deepEqual(told(run(inside)), ['Provision s1']);
    });

    test('spent quota is the reason only when nothing else is left', () => {
      const row = need({ wants: cores(9), spread: [acrossZones(1)] });
      const all = [
        ...zone('a', 3, { state: 'Speculative' }),
        ...zone('b', 3, { state: 'Speculative' }),
      ];
      const output = run(fleet({ machines: all, needs: [row], quota: { provider: 2 } }));
      assert.deepEqual(told(output), ['Provision a1', 'Provision b1']);
      assert.equal(output.verdicts[0]?.reasonCode, 'quota_exhausted');
    });
  });
}

/** Machines per zone that serve need 0 after the cycle. */
function perZone(run: RunCycle, input: CycleInput): Record<string, number> {
  const counts: Record<string, number> = {};
  const byId = new Map(input.machines.map((entry) => [entry.id, entry]));
  for (const id of run(input).claims.keys()) {
    const name = byId.get(id)?.zone ?? '';
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
