// Proves what a pass moves and what it leaves, with the reason of each: eligibility, tiers in order
// of cost, donor ranking, margins, limits and cooldowns; and that it is a function of its input.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Cooldowns, flowOf } from '../moves/cooldowns.ts';
import type { Move, Plan } from '../moves/plan.ts';
import { Reservations } from '../moves/reservations.ts';
import { DEFAULT_REBALANCE_SETTINGS } from '../moves/settings.ts';
import type { CommandBody } from '../state/commands.ts';
import type { PassInput } from './pass-context.ts';
import { planPass } from './plan-pass.ts';
import {
  ADDRESS,
  NOW_MS,
  passInput,
  type ShardSpec,
  type ShortSpec,
} from './testing/pass-world.ts';

function reasonsOf(plan: Plan, at = 0): string[] {
  return (plan.considered[at]?.rejections ?? []).map(({ tier, donor, reason }) =>
    [tier, donor, reason].filter((part) => part !== '').join(' '),
  );
}

function textOf(move: Move): string {
  const count = move.tier === 2 ? move.count : move.selector.count;
  return `${move.tier} ${move.from}>${move.to} ×${count}`;
}

function movesOf(input: PassInput): string[] {
  return planPass(input).moves.map(textOf);
}

const short = (spec: ShortSpec = {}): ShardSpec => ({ short: [spec] });

describe('eligibility', () => {
  const cases: readonly [string, ShardSpec, readonly string[]][] = [
    ['age 5 is too young', short({ age: 5 }), ['0 age_below_gate']],
    ['co-located demand never crosses', short({ isSame: true }), ['0 topology_constrained']],
    ['a silent recipient', { ...short(), ageMs: 30_000 }, ['0 recipient_stale']],
    ['an old shard without min_unit', short({ unit: null }), ['1 no_min_unit']],
    ['a provider of its own', { ...short(), isShared: false }, ['1 no_shared_provider']],
  ];
  for (const [name, recipient, first] of cases) {
    it(name, () => {
      const plan = planPass(passInput({ a: recipient, b: { idle: 10 } }));
      assert.deepEqual(plan.moves, []);
      assert.deepEqual(reasonsOf(plan).slice(0, first.length), first);
    });
  }

  it('age 6 and a fresh report just under the limit are enough', () => {
    const input = passInput({ a: { ...short(), ageMs: 29_999 }, b: { idle: 10 } });
    assert.deepEqual(movesOf(input), ['1 b>a ×9']);
  });

  it('nothing short: nothing considered, however uneven the fleet', () => {
    const plan = planPass(passInput({ a: { idle: 0 }, b: { idle: 500 }, c: { idle: 3 } }));
    assert.deepEqual(plan.moves, []);
    assert.deepEqual(plan.considered, []);
  });

  it('a shard that is not registered neither gives nor takes', () => {
    const known = passInput({ a: short() });
    const both = passInput({ a: short(), b: { idle: 10 } });
    assert.deepEqual(movesOf({ ...both, state: known.state }), []);
  });
});

describe('tier 1: idle machines', () => {
  const cases: readonly [string, Readonly<Record<string, ShardSpec>>, readonly string[]][] = [
    ['the margin is at least one', { a: short(), b: { idle: 1 } }, []],
    ['two idle give one', { a: short(), b: { idle: 2 } }, ['1 b>a ×1']],
    ['ten percent stay', { a: short(), b: { idle: 30 } }, ['1 b>a ×27']],
    ['a float margin takes no extra machine', { a: short(), b: { idle: 70 } }, ['1 b>a ×50']],
    ['fifty at most', { a: short(), b: { idle: 500 } }, ['1 b>a ×50']],
    ['most spare first', { a: short(), b: { idle: 5 }, c: { idle: 9 } }, ['1 c>a ×8']],
    ['then by id', { z: short(), y: { idle: 5 }, b: { idle: 5 } }, ['1 b>z ×4']],
    ['not from a silent donor', { a: short(), b: { idle: 9, ageMs: 30_000 } }, []],
    ['not from another provider', { a: short(), b: { idle: 9, address: 'other:1' } }, []],
    [
      'not from a donor that is short at this priority',
      { a: short({ priority: 7, age: 9 }), b: { idle: 9, short: [{ priority: 7 }] } },
      [],
    ],
    [
      'but from one that is short below it',
      { a: short({ priority: 8 }), b: { idle: 9, short: [{ priority: 7 }] } },
      ['1 b>a ×8'],
    ],
    [
      'a pinned type that the donor lacks',
      { a: short({ types: ['m6'] }), b: { idle: 9, types: { m5: 9 } } },
      [],
    ],
    [
      'a pinned zone that the donor has',
      { a: short({ zones: ['z1'] }), b: { idle: 9, zones: { z1: 2 } } },
      ['1 b>a ×8'],
    ],
    [
      'one of several types is enough',
      { a: short({ types: ['m5', 'm6'] }), b: { idle: 9, types: { m5: 9 } } },
      ['1 b>a ×8'],
    ],
  ];
  for (const [name, shards, expected] of cases) {
    it(name, () => assert.deepEqual(movesOf(passInput(shards)), expected));
  }

  it('the selector carries the demand and pins single values', () => {
    const recipient = short({ types: ['m5'], zones: ['z1', 'z2'], cpu: '12', bucket: 27 });
    const b = { idle: 9, types: { m5: 9 }, zones: { z1: 9 } };
    const [move] = planPass(passInput({ a: recipient, b })).moves;
    assert.equal(move?.tier, 1);
    assert.ok(move?.tier === 1);
    const { requirements, ...selector } = move.selector;
    assert.deepEqual(selector, {
      instanceType: 'm5',
      zone: '',
      count: 8,
      deficit: [['cpu', '12']],
      minUnit: [['cpu', '4']],
      interruptionPenaltyBucket: 27,
    });
    assert.equal(requirements.length, 2);
    assert.equal(move.providerAddress, ADDRESS);
  });

  it('an address that one shard does not declare shared is refused to all', () => {
    const shards = { a: short(), b: { idle: 9 }, c: { idle: 1, isShared: false } };
    const plan = planPass(passInput(shards));
    assert.deepEqual(plan.moves, []);
    assert.deepEqual(reasonsOf(plan).slice(0, 2), [
      '1 b provider_conflicted',
      '1 c provider_conflicted',
    ]);
  });

  for (const address of ['unix:/run/p.sock', '127.0.0.1:9000', 'localhost:9000', '[::1]:9000']) {
    it(`${address} is another provider on every host`, () => {
      const shards = { a: { ...short(), address }, b: { idle: 9, address } };
      assert.deepEqual(movesOf(passInput(shards)), []);
    });
  }

  it('an open transfer occupies one role of each side', () => {
    const open: CommandBody = {
      kind: 'BeginTransfer',
      id: 't1',
      from: 'b',
      to: 'c',
      tier: 1,
      providerAddress: ADDRESS,
      reasonCode: '',
      selector: null,
    };
    const shards = { a: short(), b: { idle: 9 }, c: short() };
    const plan = planPass(passInput(shards, { commands: [open] }));
    assert.deepEqual(plan.moves, []);
    assert.deepEqual(reasonsOf(plan, 0).slice(0, 1), ['1 b donor_busy']);
    assert.deepEqual(reasonsOf(plan, 1), ['0 recipient_busy']);
  });

  it('two short shards do not share one donor in one pass', () => {
    const shards = { a: short({ priority: 9 }), b: { idle: 50 }, c: short({ priority: 1 }) };
    assert.deepEqual(movesOf(passInput(shards)), ['1 b>a ×45']);
  });

  it('recovering, a full queue and the limit of overrides each stop it', () => {
    const shards = { a: short(), b: { idle: 9 } };
    const settings = { ...DEFAULT_REBALANCE_SETTINGS, maxOverrides: 0 };
    for (const [more, reason] of [
      [{ isRecovering: (id: string) => id === 'b' }, '1 b owner_recovering'],
      [{ isRecovering: (id: string) => id === 'a' }, '1 b owner_recovering'],
      [{ hasQueueRoom: () => false }, '1 b queue_full'],
      [{ settings }, '1 override_limit'],
    ] as const) {
      const plan = planPass(passInput(shards, more));
      assert.deepEqual(plan.moves, []);
      assert.equal(reasonsOf(plan)[0], reason);
    }
  });

  it('stops after the moves of one pass, most urgent first', () => {
    const shards: Record<string, ShardSpec> = {};
    for (let i = 0; i < 12; i++) shards[`r${i}`] = short({ priority: i });
    for (let i = 0; i < 12; i++) shards[`d${i}`] = { idle: 10 };
    const plan = planPass(passInput(shards));
    assert.equal(plan.moves.length, 10);
    assert.deepEqual(new Set(plan.moves.map(({ to }) => to)).has('r0'), false);
    assert.equal(plan.moves[0]?.to, 'r11');
    assert.equal(plan.considered.at(-1)?.rejections[0]?.reason, 'moves_exhausted');
  });
});

describe('cooldowns', () => {
  const flow = (parts: Partial<Parameters<typeof flowOf>[0]>): ReturnType<typeof flowOf> =>
    flowOf({ kind: 'machines', instanceType: '', zone: '', from: 'a', to: 'b', ...parts });

  it('a flow rests in both directions, and an unpinned one meets every pinned one', () => {
    for (const [cooled, asked, isCooling] of [
      [flow({}), { types: ['m5'] }, true],
      [flow({ instanceType: 'm5' }), { types: ['m5'] }, true],
      [flow({ instanceType: 'm6' }), { types: ['m5'] }, false],
      [flow({ instanceType: 'm6' }), {}, true],
      [flow({ to: 'c' }), { types: ['m5'] }, false],
    ] as const) {
      const cooldowns = new Cooldowns();
      cooldowns.coolFlow(cooled, NOW_MS - 1, 100);
      const shards = { a: short(asked), b: { idle: 9, types: { m5: 9 } } };
      const plan = planPass(passInput(shards, { cooldowns }));
      assert.equal(plan.moves.length, isCooling ? 0 : 1, JSON.stringify([cooled, asked]));
    }
  });

  it('a cooling donor is no reason to drain running work', () => {
    const cooldowns = new Cooldowns();
    cooldowns.coolFlow(flow({}), NOW_MS, 100);
    const shards = { a: short({ age: 13 }), b: { idle: 9, total: 20 } };
    const plan = planPass(passInput(shards, { cooldowns }));
    assert.equal(plan.exhausted.size, 0);
    assert.ok(reasonsOf(plan).includes('3 cheaper_tiers_open'));
  });

  it('one that had nothing of the kind is: its other idle machines never help', () => {
    const shards = { a: short({ age: 13, types: ['m5'] }), b: { idle: 9, types: { m5: 9 } } };
    for (const [refusedType, exhaustedCount] of [
      ['m5', 1],
      ['', 0],
    ] as const) {
      const cooldowns = new Cooldowns();
      cooldowns.coolFlow(flow({ instanceType: refusedType }), NOW_MS, 100, 'b');
      const plan = planPass(passInput(shards, { cooldowns }));
      assert.equal(plan.exhausted.size, exhaustedCount, refusedType);
      const { exhausted: exhaustedBefore } = plan;
      const next = movesOf(passInput(shards, { cooldowns, exhaustedBefore }));
      assert.deepEqual(next, exhaustedCount === 1 ? ['3 b>a ×5'] : []);
    }
  });
});

describe('tier 2: quota', () => {
  const provider: CommandBody = {
    kind: 'UpsertProvider',
    entry: { name: 'prov', address: ADDRESS, region: 'r1', declaredQuota: 100, shards: [] },
  };
  const quota = (perShard: Record<string, number>): CommandBody => ({
    kind: 'SetQuota',
    provider: 'prov',
    region: 'r1',
    perShard: new Map(Object.entries(perShard)),
  });
  const bound = short({ reason: 'quota_exhausted', cpu: '40', unit: '4' });

  it('moves an unused slice, never more than what is missing', () => {
    const commands = [provider, quota({ a: 5, b: 40 })];
    const shards = { a: bound, b: { total: 10, idle: 0 } };
    assert.deepEqual(movesOf(passInput(shards, { commands })), ['2 b>a ×10']);
  });

  const refusals: readonly [string, Record<string, ShardSpec>, CommandBody[], string][] = [
    [
      'a slice in use',
      { a: bound, b: { total: 40 } },
      [provider, quota({ a: 5, b: 40 })],
      '2 b no_unused_slice',
    ],
    [
      'a shortfall that no slice causes',
      { a: short(), b: { total: 1 } },
      [provider, quota({ a: 5, b: 40 })],
      '2 not_quota_bound',
    ],
    [
      'a region that the demand excludes',
      { a: short({ reason: 'quota_exhausted', regions: ['r2'] }), b: { total: 1 } },
      [provider, quota({ a: 5, b: 40 })],
      '2 b region_excluded',
    ],
  ];
  for (const [name, shards, commands, reason] of refusals) {
    it(`not ${name}`, () => {
      const plan = planPass(passInput(shards, { commands }));
      assert.deepEqual(plan.moves, []);
      assert.ok(reasonsOf(plan).includes(reason), reasonsOf(plan).join('\n'));
    });
  }

  it('an uncapped shard cannot be short of a slice', () => {
    const commands = [provider, quota({ b: 40 })];
    assert.deepEqual(movesOf(passInput({ a: bound, b: { total: 1 } }, { commands })), []);
  });

  it('comes after idle machines', () => {
    const commands = [provider, quota({ a: 5, b: 40 })];
    const shards = { a: bound, b: { idle: 5, total: 10 } };
    assert.deepEqual(movesOf(passInput(shards, { commands })), ['1 b>a ×4']);
  });
});

describe('tier 3: drains', () => {
  const shards = { a: short({ age: 13 }), b: { idle: 0, total: 30 }, c: { idle: 1, total: 40 } };
  const exhaustedBefore = planPass(passInput(shards)).exhausted;

  it('only when the cheap tiers were exhausted in the previous pass too', () => {
    assert.equal(exhaustedBefore.size, 1);
    assert.deepEqual(movesOf(passInput(shards)), []);
    assert.deepEqual(movesOf(passInput(shards, { exhaustedBefore })), ['3 c>a ×5']);
  });

  it('not at age 12, not for demand in the lowest bucket', () => {
    for (const [spec, reason] of [
      [{ age: 12 }, '3 age_below_preempt_gate'],
      [{ age: 13, bucket: 1 }, '3 no_lower_bucket'],
    ] as const) {
      const input = { ...shards, a: short(spec) };
      const plan = planPass(passInput(input, { exhaustedBefore }));
      assert.deepEqual(plan.moves, []);
      assert.ok(reasonsOf(plan).includes(reason));
    }
  });

  it('five victims per pass in the whole fleet', () => {
    const many = { ...shards, d: short({ age: 20, priority: 200 }), e: { total: 9 } };
    const before = planPass(passInput(many)).exhausted;
    const plan = planPass(passInput(many, { exhaustedBefore: before }));
    assert.deepEqual(plan.moves.map(textOf), ['3 c>d ×5']);
    assert.ok(reasonsOf(plan, 1).includes('3 victims_exhausted'));
  });

  it('no second drain while one is outstanding; what it freed is not held back as margin', () => {
    const reservations = new Reservations();
    reservations.note('c', 'a', 0, NOW_MS);
    const again = planPass(passInput(shards, { exhaustedBefore, reservations }));
    assert.ok(reasonsOf(again).includes('3 drain_outstanding'));
    reservations.note('c', 'a', 1, NOW_MS);
    assert.deepEqual(movesOf(passInput(shards, { reservations })), ['1 c>a ×1']);
  });
});

const specArbitrary: fc.Arbitrary<ShardSpec> = fc.record({
  idle: fc.nat(60),
  total: fc.integer({ min: 60, max: 120 }),
  ageMs: fc.constantFrom(0, 0, 0, 40_000),
  short: fc.array(
    fc.record({
      priority: fc.nat(5),
      age: fc.nat(20),
      isSame: fc.boolean(),
      bucket: fc.integer({ min: 1, max: 27 }),
    }),
    { maxLength: 3 },
  ),
});

it('properties of every plan', () => {
  const fleet = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), specArbitrary);
  fc.assert(
    fc.property(fleet, (shards) => {
      const input = passInput(shards);
      const plan = planPass(input);
      const shuffled = { ...input, pictures: input.pictures.toReversed() };
      assert.deepEqual(planPass(shuffled).moves, plan.moves, 'the order of pictures decides');
      for (const { from, to, shortfall } of plan.moves) {
        const wanted = shards[to]?.short ?? [];
        assert.notEqual(from, to);
        assert.ok(wanted.some(({ age, isSame }) => (age ?? 0) > 5 && isSame !== true));
        const rivals = (shards[from]?.short ?? []).filter(
          ({ age, isSame }) => (age ?? 0) > 5 && isSame !== true,
        );
        assert.ok(rivals.every(({ priority }) => (priority ?? 0) < shortfall.priority));
      }
      const rows = Object.values(shards).reduce((sum, spec) => sum + (spec.short?.length ?? 0), 0);
      assert.equal(plan.considered.length, rows);
      for (const { move, rejections } of plan.considered) {
        assert.ok(move !== undefined || rejections.length > 0, 'a row without a reason');
      }
    }),
    { numRuns: 500 },
  );
});
