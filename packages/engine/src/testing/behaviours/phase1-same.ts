// Engine §12 Phase 1 for gangs: one domain, chosen once by the strict order of engine §5.4;
// incumbents stay; later gangs rank against what is left; fruitless gangs park.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heldOffKey } from '../../model/cycle.ts';
import { ActionKind } from '../../model/action.ts';
import type { Machine } from '../../model/machine.ts';
import { type Need, needKey } from '../../model/need.ts';
import { Operator, ZONE_KEY } from '../../model/requirement.ts';
import type { Resources } from '../../model/resources.ts';
import { State } from '../../model/state.ts';
import { applyActions, mature } from '../apply.ts';
import {
  acted,
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

const gang = (init: Partial<Parameters<typeof need>[0]> = {}): Need =>
  need({ same: RACK_KEY, group: 'g', wants: cores(2), unit: cores(1), ...init });

/** What stands in one rack, one core each unless said otherwise. */
interface Rack {
  readonly own?: number;
  readonly stranger?: number;
  readonly idle?: number;
  readonly speculative?: number;
  readonly has?: Resources;
}

interface ChooserCase {
  readonly name: string;
  readonly wants: Resources;
  readonly racks: Readonly<Record<string, Rack>>;
  readonly chosen: string;
  readonly satisfiable: boolean;
}

const chooserCases: readonly ChooserCase[] = [
  {
    name: 'rule 1: satisfiable beats bigger unsatisfiable',
    wants: resources({ cpu: 2000, memory: 2 }),
    racks: {
      r1: { idle: 9, has: resources({ cpu: 1000 }) },
      r2: { idle: 2, has: resources({ cpu: 1000, memory: 1 }) },
    },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 1: satisfiable beats own machines in an unsatisfiable rack',
    wants: cores(3),
    racks: { r1: { own: 2 }, r2: { idle: 3 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 2: creditable coverage beats slack',
    wants: cores(4),
    racks: { r1: { stranger: 1, idle: 3 }, r2: { stranger: 2, idle: 9 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 2 is capped: coverage beyond the demand does not count',
    wants: resources({ cpu: 4000, memory: 4 }),
    racks: {
      r1: { stranger: 1, idle: 3, has: resources({ cpu: 3000, memory: 1 }) },
      r2: { stranger: 3, idle: 1, has: resources({ cpu: 2000, memory: 1 }) },
    },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 2b: own coverage breaks a creditable tie',
    wants: cores(4),
    racks: { r1: { stranger: 2, idle: 2 }, r2: { own: 2, idle: 9 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 2b never overrides rule 2',
    wants: cores(4),
    racks: { r1: { stranger: 3, idle: 1 }, r2: { own: 2, idle: 2 } },
    chosen: 'r1',
    satisfiable: true,
  },
  {
    name: 'rule 3: the smallest satisfiable total',
    wants: cores(4),
    racks: { r1: { idle: 6 }, r2: { idle: 2, speculative: 2 }, r3: { speculative: 5 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 3 when nobody has own machines',
    wants: cores(4),
    racks: { r1: { stranger: 2, idle: 9 }, r2: { stranger: 2, idle: 2 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 4: the most covering when none satisfies',
    wants: cores(5),
    racks: { r1: { idle: 2 }, r2: { speculative: 3 } },
    chosen: 'r2',
    satisfiable: false,
  },
  {
    name: 'rule 4 is capped per dimension: plenty of one does not hide the lack of another',
    wants: resources({ cpu: 4000, memory: 4 }),
    racks: {
      r1: { idle: 1, has: resources({ cpu: 99_000, memory: 1 }) },
      r2: { idle: 1, has: resources({ cpu: 3000, memory: 3 }) },
    },
    chosen: 'r2',
    satisfiable: false,
  },
  {
    name: 'rule 4: strictly greater coverage moves an incumbent',
    wants: cores(5),
    racks: { r1: { idle: 3 }, r2: { own: 2 } },
    chosen: 'r1',
    satisfiable: false,
  },
  {
    name: 'rule 5: an incumbent is kept at equal unsatisfiable coverage',
    wants: cores(5),
    racks: { r1: { idle: 3 }, r2: { own: 1, idle: 2 } },
    chosen: 'r2',
    satisfiable: false,
  },
  {
    name: 'rule 6: more machines of the same total',
    wants: cores(5),
    racks: { r1: { idle: 1, has: cores(2) }, r2: { idle: 2 } },
    chosen: 'r2',
    satisfiable: false,
  },
  {
    name: 'rule 6 among satisfiable racks',
    wants: cores(4),
    racks: { r1: { idle: 2, has: cores(2) }, r2: { idle: 4 } },
    chosen: 'r2',
    satisfiable: true,
  },
  {
    name: 'rule 7: the smallest value',
    wants: cores(4),
    racks: { r2: { idle: 4 }, r1: { speculative: 4 }, r3: { idle: 4 } },
    chosen: 'r1',
    satisfiable: true,
  },
];

function standing(row: Need, racks: Readonly<Record<string, Rack>>): Machine[] {
  return Object.entries(racks).flatMap(([rack, { own, stranger, idle, speculative, has }]) => {
    const common: Omit<MachineInit, 'id'> = { rack, ...(has === undefined ? {} : { has }) };
    return [
      ...machines(own ?? 0, `${rack}-own`, { ...common, state: 'Configured', serves: row }),
      ...machines(stranger ?? 0, `${rack}-str`, { ...common, state: 'Configured' }),
      ...machines(idle ?? 0, `${rack}-idle`, common),
      ...machines(speculative ?? 0, `${rack}-spec`, { ...common, state: 'Speculative' }),
    ];
  });
}

export function describePhase1Same(run: RunCycle): void {
  describe('phase 1, Same needs', () => {
    for (const entry of chooserCases) {
      test(`chooser, ${entry.name}`, () => {
        const row = gang({ wants: entry.wants, unit: resources({}) });
        const all = standing(row, entry.racks);
        for (const order of [all, all.toReversed()]) {
          const [verdict] = run(fleet({ machines: order, needs: [row] })).verdicts;
          assert.equal(verdict?.sameDomain, entry.chosen);
          assert.equal(verdict?.sameSatisfiable, entry.satisfiable);
          const shown = verdict?.sameCandidates.map(({ domain }) => domain);
          assert.equal(shown?.[0], verdict?.satisfied === true ? undefined : entry.chosen);
        }
      });
    }
    describeAcquisition(run);
    describeIncumbents(run);
    describeContention(run);
    describeFallback(run);
    describeParking(run);
  });
}

function describeAcquisition(run: RunCycle): void {
  test('only the zone that can hold the whole gang is chosen, and every pick is in it', () => {
    const row = gang({ same: ZONE_KEY, wants: cores(3) });
    const all = [...machines(2, 'a', { zone: 'a' }), ...machines(4, 'b', { zone: 'b', price: 9 })];
    const output = run(fleet({ machines: all, needs: [row] }));
    assert.deepEqual(told(output), ['Bootstrap b1', 'Bootstrap b2', 'Bootstrap b3']);
    assert.equal(output.verdicts[0]?.satisfied, true);
  });

  test('three and three for a demand of five: three in one zone, two units short', () => {
    const row = gang({ same: ZONE_KEY, wants: cores(5) });
    const all = [...machines(3, 'a', { zone: 'a' }), ...machines(3, 'b', { zone: 'b' })];
    const output = run(fleet({ machines: all, needs: [row] }));
    assert.deepEqual(claimedBy(output, 0), ['a1', 'a2', 'a3']);
    assert.deepEqual(output.verdicts[0]?.deficit, cores(2));
    assert.equal(output.verdicts[0]?.reasonCode, 'topology_unsatisfiable');
  });

  test('one dense machine covers a gang of eight alone', () => {
    const dense = machine({ id: 'dense', rack: 'r1', has: cores(100) });
    const output = run(fleet({ machines: [dense], needs: [gang({ wants: cores(8) })] }));
    assert.deepEqual(told(output), ['Bootstrap dense']);
  });

  test('values of Same restrict the domains', () => {
    const row = gang({ sameValues: ['r2'] });
    const all = standing(row, { r1: { idle: 2 }, r2: { idle: 3 } });
    assert.equal(run(fleet({ machines: all, needs: [row] })).verdicts[0]?.sameDomain, 'r2');
  });

  test('no machine carries the key: no domain, topology unsatisfiable', () => {
    const output = run(fleet({ machines: machines(3, 'i', {}), needs: [gang()] }));
    const [verdict] = output.verdicts;
    assert.deepEqual(told(output), []);
    assert.equal(verdict?.sameDomain, undefined);
    assert.equal(verdict?.sameSatisfiable, false);
    assert.equal(verdict?.reasonCode, 'topology_unsatisfiable');
    assert.equal(verdict?.unmetReason, 'TOPOLOGY_UNSATISFIABLE');
  });

  test('machines of infinite cost do not make a rack look satisfiable', () => {
    const row = gang({ interruption: Number.POSITIVE_INFINITY, wants: cores(3) });
    const all = [
      ...machines(4, 'spot', { rack: 'r1', probability: 0.1 }),
      ...machines(2, 'stable', { rack: 'r2' }),
    ];
    const [verdict] = run(fleet({ machines: all, needs: [row] })).verdicts;
    assert.deepEqual([verdict?.sameDomain, verdict?.sameSatisfiable], ['r2', false]);
  });

  test('passing over is judged inside the domain', () => {
    const row = gang({ interruption: 64 });
    const all = [
      ...machines(2, 'spot', { rack: 'r1', probability: 0.1, price: 1 }),
      ...machines(1, 'stable', { rack: 'r2', state: 'Speculative', price: 2 }),
    ];
    assert.deepEqual(told(run(fleet({ machines: all, needs: [row] }))), [
      'Bootstrap spot1',
      'Bootstrap spot2',
    ]);
  });

  test('own Creating is credited by fingerprint and group', () => {
    const row = gang();
    const all = [
      machine({ id: 'own', state: 'Creating', serves: row, rack: 'r1' }),
      machine({ id: 'other', state: 'Creating', serves: { ...row, group: 'h' }, rack: 'r1' }),
      ...machines(2, 's', { state: 'Speculative', rack: 'r1' }),
    ];
    const output = run(fleet({ machines: all, needs: [row] }));
    assert.deepEqual(told(output), ['Provision s1']);
    assert.deepEqual(claimedBy(output, 0), ['own', 's1']);
  });

  test('candidates are shown best first, at most five, by their worst dimension', () => {
    const row = gang({ wants: resources({ memory: 10, cpu: 7000 }), unit: resources({}) });
    const racks = Object.fromEntries(
      [1, 2, 3, 4, 5, 6].map((count) => [
        `r${count}`,
        { idle: count, has: resources({ cpu: 1000, memory: 1 }) },
      ]),
    );
    const [verdict] = run(fleet({ machines: standing(row, racks), needs: [row] })).verdicts;
    assert.deepEqual(verdict?.sameCandidates, [
      { domain: 'r6', coveragePerMille: 600, satisfiable: false },
      { domain: 'r5', coveragePerMille: 500, satisfiable: false },
      { domain: 'r4', coveragePerMille: 400, satisfiable: false },
      { domain: 'r3', coveragePerMille: 300, satisfiable: false },
      { domain: 'r2', coveragePerMille: 200, satisfiable: false },
    ]);
  });
}

function describeIncumbents(run: RunCycle): void {
  test('incumbents stay when an equivalent matures: the claimed set does not change', () => {
    const row = gang();
    const own = ['m2', 'm3'].map((id) =>
      machine({ id, state: 'Configured', serves: row, rack: 'r1', price: 2 }),
    );
    const stranger = machine({ id: 'm1', state: 'Configuring', rack: 'r1', price: 1 });
    const input = fleet({ machines: [stranger, ...own], needs: [row] });
    const before = run(input);
    const after = run(mature(input, ({ state }) => state === State.Configuring));
    assert.deepEqual(claimedBy(before, 0), ['m2', 'm3']);
    assert.deepEqual(claimedBy(after, 0), ['m2', 'm3']);
    assert.deepEqual(acted(after, ActionKind.Reclaim), ['m1']);
  });

  test('own Configuring goes before foreign Configured', () => {
    const row = gang();
    const all = [
      machine({ id: 'o1', state: 'Configured', serves: row, rack: 'r1' }),
      machine({ id: 'o2', state: 'Configuring', serves: row, rack: 'r1', price: 9 }),
      machine({ id: 'x', state: 'Configured', rack: 'r1' }),
    ];
    assert.deepEqual(claimedBy(run(fleet({ machines: all, needs: [row] })), 0), ['o1', 'o2']);
  });

  test('a gang that is over-covered by its own machines sheds the tail of keep order', () => {
    const row = gang();
    const own = ['m1', 'm2', 'm3'].map((id, at) =>
      machine({ id, state: 'Configured', serves: row, rack: 'r1', price: 3 - at }),
    );
    const output = run(fleet({ machines: own, needs: [row] }));
    assert.deepEqual(told(output), ['Reclaim m1']);
  });

  test('crediting is confined to the chosen domain', () => {
    const row = gang({ wants: cores(3) });
    const all = standing(row, { r1: { own: 2, idle: 1 }, r2: { own: 1 } });
    const output = run(fleet({ machines: all, needs: [row] }));
    assert.deepEqual(claimedBy(output, 0), ['r1-idle1', 'r1-own1', 'r1-own2']);
    assert.deepEqual(acted(output, ActionKind.Reclaim), ['r2-own1']);
  });
}

function describeContention(run: RunCycle): void {
  const contested = (): { row: Need; input: ReturnType<typeof fleet> } => {
    const row = gang({ cluster: 'b' });
    const greedy = need({ cluster: 'c', wants: cores(2), priority: 9 });
    const all = [
      ...machines(2, 'a', { rack: 'r1', price: 1 }),
      ...machines(3, 'b', { rack: 'r2', price: 2 }),
    ];
    return { row, input: fleet({ machines: all, needs: [row, greedy] }) };
  };

  test('the recorded domain confines acquisition even when another would cover', () => {
    const { row, input } = contested();
    const output = run(input);
    const verdict = output.verdicts.find(({ need: { cluster } }) => cluster === 'b');
    assert.equal(verdict?.need, row);
    assert.equal(verdict?.sameDomain, 'r1');
    assert.equal(verdict?.sameSatisfiable, true);
    assert.equal(verdict?.claimedCount, 0);
    assert.deepEqual(told(output), ['Bootstrap a1', 'Bootstrap a2']);
  });

  test('the next cycle then chooses the other domain', () => {
    const { input } = contested();
    const output = run(applyActions(input, run(input)));
    assert.deepEqual(told(output), ['Bootstrap b1', 'Bootstrap b2']);
    assert.ok(output.verdicts.every(({ satisfied }) => satisfied));
  });

  test('two gangs end in different zones within two cycles', () => {
    const rows = ['g1', 'g2'].map((group) => gang({ same: ZONE_KEY, group, wants: cores(3) }));
    const all = [...machines(3, 'a', { zone: 'a' }), ...machines(3, 'b', { zone: 'b' })];
    const input = fleet({ machines: all, needs: rows });
    const output = run(applyActions(input, run(input)));
    assert.ok(output.verdicts.every(({ satisfied }) => satisfied));
    assert.deepEqual(new Set(output.verdicts.map(({ sameDomain }) => sameDomain)), new Set('ab'));
    assert.deepEqual(told(output), []);
  });

  test('virtual consumption spreads gangs over fresh racks in one cycle', () => {
    const rows = ['g1', 'g2', 'g3'].map((group) => gang({ group }));
    const racks = { r1: { idle: 2 }, r2: { idle: 2 }, r3: { speculative: 2 } };
    const output = run(fleet({ machines: standing(gang(), racks), needs: rows }));
    assert.ok(output.verdicts.every(({ satisfied }) => satisfied));
    assert.deepEqual(
      output.verdicts.map(({ sameDomain }) => sameDomain),
      ['r1', 'r2', 'r3'],
    );
  });

  test('what an earlier gang will probably take is gone for the ranking of a later one', () => {
    const rows = ['g1', 'g2'].map((group) => gang({ group, wants: cores(2) }));
    const racks = { r1: { idle: 3 }, r2: { idle: 4 } };
    const output = run(fleet({ machines: standing(gang(), racks), needs: rows }));
    assert.deepEqual(
      output.verdicts.map(({ sameDomain }) => sameDomain),
      ['r1', 'r2'],
    );
  });

  test('a gang that found every machine consumed takes what is left, and records no domain', () => {
    // Crediting expects the first gang to take m1 m2 and the second m3 m4 m5. The second has the
    // higher precedence, so it really takes m1 m2, the first m3 m4, and m5 is left over.
    const rows = [
      gang({ group: 'g1', wants: cores(3), arrival: 1n }),
      gang({ group: 'g2', wants: cores(4), arrival: 2n, interruption: 0.5 }),
      gang({ group: 'g3', wants: cores(3), arrival: 3n }),
    ];
    const all = [2, 2, 1, 2, 2].map((size, at) =>
      machine({ id: `m${at + 1}`, rack: 'r1', has: cores(size), price: at + 1 }),
    );
    const output = run(fleet({ machines: all, needs: rows }));
    assert.deepEqual(
      [0, 1, 2].map((index) => claimedBy(output, index)),
      [['m3', 'm4'], ['m1', 'm2'], ['m5']],
    );
    assert.equal(output.verdicts[2]?.sameDomain, undefined);
    assert.equal(output.verdicts[2]?.reasonCode, 'topology_unsatisfiable');
  });
}

/** Machines of which two gangs together expect all and take all but the last, two cores big. */
function leavesOne(rack: string, pool: string, price: number): { all: Machine[]; rows: Need[] } {
  const requirements = [{ key: 'pool', operator: Operator.In, values: [pool] }];
  return {
    all: [2, 2, 1, 2, 2].map((size, at) =>
      machine({
        id: `${pool}${at + 1}`,
        rack,
        labels: { pool },
        has: cores(size),
        price: price + at,
      }),
    ),
    rows: [
      gang({ group: `${pool}1`, wants: cores(3), arrival: 1n, requirements }),
      gang({ group: `${pool}2`, wants: cores(4), arrival: 2n, requirements, interruption: 0.5 }),
    ],
  };
}

function describeFallback(run: RunCycle): void {
  const parts = [leavesOne('r2', 'x', 5), leavesOne('r2', 'y', 5), leavesOne('r1', 'z', 1)];
  for (const [wanted, taken, why] of [
    [3, ['x5', 'y5'], 'the rack that covers it alone, though its head is dearer'],
    [5, ['x5', 'y5'], 'the rack with most machines when none covers it'],
  ] as const) {
    test(`a gang of ${wanted} without any bucket takes ${why}`, () => {
      const last = gang({ group: 'last', wants: cores(wanted), arrival: 3n });
      for (const order of [parts, parts.toReversed()]) {
        const output = run(
          fleet({
            machines: order.flatMap(({ all }) => all),
            needs: [...order.flatMap(({ rows }) => rows), last],
          }),
        );
        const index = output.verdicts.findIndex((verdict) => verdict.need === last);
        assert.equal(output.verdicts[index]?.sameDomain, undefined);
        assert.deepEqual(claimedBy(output, index), taken);
      }
    });
  }
}

function describeParking(run: RunCycle): void {
  const row = gang({ wants: cores(5) });
  const short = standing(row, { r1: { own: 1, idle: 1 }, r2: { speculative: 1 } });
  const withAge = (age: number): ReturnType<typeof fleet> =>
    fleet({
      machines: short,
      needs: [row],
      memory: { parkingAges: new Map([[needKey(row), age]]), shortfalls: new Map() },
    });

  for (const [age, parked] of [
    [0, false],
    [7, false],
    [8, true],
    [31, true],
    [32, false],
    [33, true],
    [63, true],
    [64, false],
    [65, true],
  ] as const) {
    test(`at age ${age} the gang ${parked ? 'is parked' : 'tries'}`, () => {
      const output = run(withAge(age));
      assert.equal(output.verdicts[0]?.parked, parked);
      assert.equal(output.verdicts[0]?.parkedAgeCycles, age);
      assert.deepEqual(told(output), parked ? [] : ['Bootstrap r1-idle1']);
    });
  }

  test('a parked gang keeps its bound machines, ages on, and still is a shortfall', () => {
    const output = run(withAge(8));
    assert.deepEqual(claimedBy(output, 0), ['r1-own1']);
    assert.equal(output.memory.parkingAges.get(needKey(row)), 9);
    assert.equal(output.verdicts[0]?.reasonCode, 'acquisition_parked');
    assert.equal(output.verdicts[0]?.unmetReason, 'TOPOLOGY_UNSATISFIABLE');
    assert.equal(output.memory.shortfalls.size, 1);
  });

  test('a parked gang chooses its domain over what is bound', () => {
    const all = standing(row, { r1: { idle: 4 }, r2: { own: 1 } });
    const output = run({ ...withAge(8), machines: all });
    assert.equal(output.verdicts[0]?.sameDomain, 'r2');
  });

  test('a parked gang consumes nothing of what others rank', () => {
    const big = gang({ group: 'big', priority: 9, wants: cores(9) });
    const small = gang({ group: 'small', wants: cores(2) });
    const input = fleet({
      machines: standing(small, { r1: { idle: 2 } }),
      needs: [big, small],
      memory: { parkingAges: new Map([[needKey(big), 8]]), shortfalls: new Map() },
    });
    assert.deepEqual(told(run(input)), ['Bootstrap r1-idle1', 'Bootstrap r1-idle2']);
  });

  test('a held-off gang consumes nothing either', () => {
    const held = gang({ group: 'held', priority: 9, wants: cores(2) });
    const small = gang({ group: 'small', wants: cores(2) });
    const input = fleet({
      machines: standing(small, { r1: { idle: 2 }, r2: { idle: 3 } }),
      needs: [held, small],
      heldOff: [heldOffKey('a', held.profile.fingerprint)],
    });
    const output = run(input);
    assert.deepEqual(told(output), ['Bootstrap r1-idle1', 'Bootstrap r1-idle2']);
    assert.equal(output.verdicts[0]?.reasonCode, 'bootstrap_refused');
  });

  test('eight fruitless cycles park it, progress resets, satisfaction forgets', () => {
    let input = fleet({ machines: standing(row, { r1: { own: 2 } }), needs: [row] });
    for (let cycle = 0; cycle < 10; cycle++) {
      const output = run(input);
      assert.equal(output.verdicts[0]?.parked, cycle >= 8, `cycle ${cycle}`);
      input = applyActions(input, output);
    }
    const probe = { ...withAge(32) };
    assert.equal(run(probe).memory.parkingAges.size, 0, 'progress resets');
    const enough = { ...withAge(8), machines: standing(row, { r1: { own: 5 } }) };
    assert.equal(run(enough).memory.parkingAges.size, 0, 'satisfaction forgets');
    assert.equal(run({ ...withAge(8), needs: [] }).memory.parkingAges.size, 0, 'absence forgets');
  });

  test('a satisfiable domain resets the age even when nothing was acquired', () => {
    const greedy = need({ cluster: 'c', wants: cores(5), priority: 9 });
    const all = standing(row, { r1: { idle: 5 } });
    const output = run({ ...withAge(5), machines: all, needs: [row, greedy] });
    const verdict = output.verdicts.find(({ need: { group } }) => group === 'g');
    assert.equal(verdict?.claimedCount, 0);
    assert.equal(output.memory.parkingAges.size, 0);
  });

  test('plain needs never park; groups age separately', () => {
    const plain = need({ wants: cores(1), requirements: [] });
    const other = gang({ group: 'h', wants: cores(6) });
    const ages = new Map([
      [needKey(plain), 20],
      [needKey(row), 8],
      [needKey(other), 3],
    ]);
    const output = run(
      fleet({
        machines: [],
        needs: [plain, row, other],
        memory: { parkingAges: ages, shortfalls: new Map() },
      }),
    );
    const parked = new Map(
      output.verdicts.map((verdict) => [needKey(verdict.need), verdict.parked]),
    );
    assert.equal(parked.get(needKey(plain)), false);
    assert.equal(parked.get(needKey(row)), true);
    assert.equal(parked.get(needKey(other)), false);
    assert.deepEqual(
      output.memory.parkingAges,
      new Map([
        [needKey(row), 9],
        [needKey(other), 4],
      ]),
    );
  });
}
