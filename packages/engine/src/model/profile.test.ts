// Proves that profiles are canonical: equal meaning has one fingerprint, different meaning has
// two, whatever the wire puts into keys and values, and a fingerprint reads back as its profile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PENALTY_BUCKETS, type PenaltyBucket } from '@bigfleet/base';
import fc from 'fast-check';
import {
  comparePrecedence,
  createProfile,
  fingerprintOf,
  type Profile,
  type ProfileInit,
  parseFingerprint,
  type Spread,
  withoutSame,
} from './profile.ts';
import { Operator, type OperatorCode, type Requirement } from './requirement.ts';

const seed = Number(process.env['BIGFLEET_SEED'] ?? 1);
const runs = { seed, numRuns: 2000 };

const base: ProfileInit = {
  requirements: [],
  spread: [],
  priority: 0,
  interruptionBucket: 1 as PenaltyBucket,
  reclamationBucket: 1 as PenaltyBucket,
};

function profile(init: Partial<ProfileInit>): Profile {
  return createProfile({ ...base, ...init });
}

function requirement(key: string, operator: OperatorCode, ...values: string[]): Requirement {
  return { key, operator, values };
}

function spread(topologyKey: string, maxSkew: number, whenUnsatisfiable: number): Spread {
  return { topologyKey, maxSkew, whenUnsatisfiable };
}

/** Delimiters, escapes that look like escapes, digits, NUL, astral text, a lone surrogate. */
const nastyText = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    '%',
    '|',
    ':',
    ';',
    ',',
    '=',
    '-',
    '2',
    '5',
    '\0',
    '😀',
    '\ud800',
  ),
  maxLength: 5,
});
const anyRequirement = fc.record({
  key: nastyText,
  operator: fc.constantFrom<OperatorCode>(1, 2, 3, 4, 5),
  values: fc.array(nastyText, { maxLength: 3 }),
});
const anySpread = fc.record(
  {
    topologyKey: nastyText,
    maxSkew: fc.integer({ min: -1, max: 3 }),
    whenUnsatisfiable: fc.constantFrom(0, 1, 2),
  },
  { noNullPrototype: true },
);
const anyInit: fc.Arbitrary<ProfileInit> = fc.record({
  requirements: fc.array(anyRequirement, { maxLength: 4 }),
  spread: fc.array(anySpread, { maxLength: 3 }),
  priority: fc.constantFrom(-(2 ** 31), -1, 0, 1, 1_000_000, 2 ** 31 - 1),
  interruptionBucket: fc.constantFrom(...PENALTY_BUCKETS),
  reclamationBucket: fc.constantFrom(...PENALTY_BUCKETS),
});

test('the layout is the documented one', () => {
  const text = profile({
    priority: -5,
    interruptionBucket: 27 as PenaltyBucket,
    reclamationBucket: 3 as PenaltyBucket,
    requirements: [
      requirement('zone', Operator.In, 'b', 'a'),
      requirement('gpu', Operator.Exists),
      requirement('a|b', Operator.NotIn, 'x=1,2', '50%:;'),
    ],
    spread: [spread('zone', 1, 1), spread('rack', 2, 2)],
  }).fingerprint;
  assert.equal(
    text,
    'p=-5|ipb=27|rpb=3|reqs=a%7Cb:2:50%25%3A%3B,x%3D1%2C2;gpu:3:;zone:1:a,b|spr=rack:2:2;zone:1:1',
  );
  assert.equal(profile({}).fingerprint, 'p=0|ipb=1|rpb=1|reqs=|spr=');
});

test(`permutations of requirements, values and spread have one fingerprint (seed ${seed})`, () => {
  fc.assert(
    fc.property(anyInit, fc.infiniteStream(fc.nat()), (init, stream) => {
      const shuffled = <T>(list: readonly T[]): T[] =>
        list
          .map((value) => ({ value, at: stream.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ value }) => value);
      const requirements = shuffled(init.requirements).map((entry) => ({
        ...entry,
        values: shuffled(entry.values),
      }));
      const other = { ...init, requirements, spread: shuffled(init.spread) };
      assert.deepEqual(createProfile(other), createProfile(init));
    }),
    runs,
  );
});

test('requirements that share key and operator are ordered by their values', () => {
  const a = requirement('k', Operator.NotIn, 'a');
  const b = requirement('k', Operator.NotIn, 'b');
  const forward = profile({ requirements: [a, b] });
  assert.equal(forward.fingerprint, profile({ requirements: [b, a] }).fingerprint);
  assert.deepEqual(forward.requirements, [a, b]);
});

test('exact duplicates are dropped, near ones are kept', () => {
  const once = profile({ requirements: [requirement('k', Operator.In, 'a', 'b')] });
  const twice = profile({
    requirements: [
      requirement('k', Operator.In, 'b', 'a'),
      requirement('k', Operator.In, 'a', 'b'),
    ],
  });
  assert.deepEqual(twice, once);
  const near = profile({
    requirements: [requirement('k', Operator.In, 'a'), requirement('k', Operator.In, 'a', 'b')],
  });
  assert.equal(near.requirements.length, 2);
});

test('the input is not touched, and the profile does not follow it', () => {
  const values = ['b', 'a'];
  const requirements = [
    requirement('z', Operator.Exists),
    { key: 'k', operator: Operator.In, values },
  ];
  const made = profile({ requirements });
  const before = made.fingerprint;
  assert.deepEqual(values, ['b', 'a']);
  assert.equal(requirements[0]?.key, 'z');
  values.push('c');
  requirements.pop();
  assert.equal(fingerprintOf(made), before);
});

test('each field changes the fingerprint', () => {
  const variants: readonly Partial<ProfileInit>[] = [
    {},
    { priority: 1 },
    { priority: -1 },
    { interruptionBucket: 2 as PenaltyBucket },
    { reclamationBucket: 2 as PenaltyBucket },
    { requirements: [requirement('k', Operator.In, 'v')] },
    { requirements: [requirement('l', Operator.In, 'v')] },
    { requirements: [requirement('k', Operator.NotIn, 'v')] },
    { requirements: [requirement('k', Operator.Same, 'v')] },
    { requirements: [requirement('k', Operator.In, 'w')] },
    { requirements: [requirement('k', Operator.In, 'v', 'w')] },
    { requirements: [requirement('k', Operator.In, '')] },
    { requirements: [requirement('k', Operator.In)] },
    { requirements: [requirement('k', Operator.In, '', '')] },
    { requirements: [requirement('', Operator.In)] },
    { spread: [spread('k', 1, 1)] },
    { spread: [spread('l', 1, 1)] },
    { spread: [spread('k', 2, 1)] },
    { spread: [spread('k', 1, 2)] },
    { spread: [spread('k', 1, 1), spread('k', 1, 1)] },
  ];
  const fingerprints = variants.map((init) => profile(init).fingerprint);
  assert.equal(new Set(fingerprints).size, variants.length);
});

test('a value cannot pass for a delimiter', () => {
  const pairs: readonly [readonly Requirement[], readonly Requirement[]][] = [
    [[requirement('k', Operator.In, 'a,b')], [requirement('k', Operator.In, 'a', 'b')]],
    [
      [requirement('k', Operator.In, 'a;l:1:b')],
      [requirement('k', Operator.In, 'a'), requirement('l', Operator.In, 'b')],
    ],
    [[requirement('k:1:a;l', Operator.In, 'b')], [requirement('k', Operator.In, 'a')]],
    [[requirement('k', Operator.In, '%2C')], [requirement('k', Operator.In, ',')]],
    [[requirement('k', Operator.In, '%-')], [requirement('k', Operator.In, '')]],
    [[requirement('k', Operator.In, 'a|spr=z:1:1')], [requirement('k', Operator.In, 'a')]],
  ];
  for (const [a, b] of pairs) {
    const left = profile({ requirements: a }).fingerprint;
    assert.notEqual(left, profile({ requirements: b }).fingerprint, left);
  }
});

test(`equal fingerprints are equal profiles (seed ${seed})`, () => {
  // Small texts collide often enough to meet both sides of the equivalence.
  const tiny = fc.string({ unit: fc.constantFrom(',', ';', ':', '%', '1', '-'), maxLength: 2 });
  const tinyRequirement = fc.record({
    key: tiny,
    operator: fc.constantFrom<OperatorCode>(1, 5),
    values: fc.array(tiny, { maxLength: 2 }),
  });
  const pair = fc.array(fc.array(tinyRequirement, { maxLength: 2 }), {
    minLength: 2,
    maxLength: 2,
  });
  let equalCount = 0;
  fc.assert(
    fc.property(pair, (both) => {
      const [a, b] = both.map((requirements) => profile({ requirements })) as [Profile, Profile];
      const isSame = JSON.stringify(a.requirements) === JSON.stringify(b.requirements);
      assert.equal(a.fingerprint === b.fingerprint, isSame);
      if (isSame) equalCount += 1;
    }),
    { seed, numRuns: 20_000 },
  );
  assert.ok(equalCount > 10, 'the property hardly met equal profiles');
});

test(`a fingerprint reads back as its profile (seed ${seed})`, () => {
  fc.assert(
    fc.property(anyInit, (init) => {
      const made = createProfile(init);
      assert.deepEqual(parseFingerprint(made.fingerprint), made);
    }),
    runs,
  );
});

test('another version, a foreign text and a non-canonical text are unattributed', () => {
  const good = 'p=0|ipb=1|rpb=1|reqs=a:1:x,y;b:3:|spr=k:1:1';
  assert.notEqual(parseFingerprint(good), undefined);
  for (const text of [
    '',
    'v2|p=0|ipb=1|rpb=1|reqs=|spr=',
    `v1|${good}`,
    `${good} `,
    ` ${good}`,
    `${good}|more=1`,
    'p=0|ipb=1|rpb=1|reqs=',
    'p=+0|ipb=1|rpb=1|reqs=|spr=',
    'p=-0|ipb=1|rpb=1|reqs=|spr=',
    'p=00|ipb=1|rpb=1|reqs=|spr=',
    'p=1e3|ipb=1|rpb=1|reqs=|spr=',
    'p=0|ipb=0|rpb=1|reqs=|spr=',
    'p=0|ipb=28|rpb=1|reqs=|spr=',
    'p=0|ipb=1|rpb=999|reqs=|spr=',
    'p=0|ipb=1|rpb=1|reqs=b:3:;a:1:x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1:y,x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1:x;a:1:x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:0:x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:6:x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1.5:x|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1:x:y|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1:%2c|spr=',
    'p=0|ipb=1|rpb=1|reqs=a:1:%41|spr=',
    'p=0|ipb=1|rpb=1|reqs=;|spr=',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:1',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:x:1',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:NaN:1',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:1:Infinity',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:1.5:1',
    'p=0|ipb=1|rpb=1|reqs=|spr=k:1:1:1',
  ]) {
    assert.equal(parseFingerprint(text), undefined, text);
  }
});

test('Same: found, stripped, and stronger than spread', () => {
  const same = requirement('rack', Operator.Same);
  const zone = requirement('zone', Operator.In, 'a');
  const hard = spread('zone', 1, 1);
  const gang = profile({ requirements: [same, zone], spread: [hard], priority: 7 });
  assert.deepEqual(gang.same, same);
  assert.equal(gang.hardSpread, undefined);
  const stripped = withoutSame(gang);
  assert.deepEqual(stripped, profile({ requirements: [zone], spread: [hard], priority: 7 }));
  assert.deepEqual(stripped.hardSpread, hard);
  assert.equal(withoutSame(stripped), stripped);
});

test('only the first DoNotSchedule in canonical order is enforced', () => {
  const soft = spread('a', 1, 2);
  const unknown = spread('b', 1, 0);
  const [first, second] = [spread('m', 2, 1), spread('z', 1, 1)];
  const made = profile({ spread: [second, unknown, first, soft] });
  assert.deepEqual(made.spread, [soft, unknown, first, second]);
  assert.deepEqual(made.hardSpread, first);
  assert.equal(profile({ spread: [soft, unknown] }).hardSpread, undefined);
});

test('precedence is lexicographic over ordinals, and int32 extremes keep their order', () => {
  const at = (priority: number, interruption: number, reclamation: number): Profile =>
    profile({
      priority,
      interruptionBucket: interruption as PenaltyBucket,
      reclamationBucket: reclamation as PenaltyBucket,
    });
  const ascending = [
    at(-(2 ** 31), 27, 27),
    at(0, 1, 1),
    at(0, 1, 2),
    at(0, 1, 27),
    at(0, 2, 1),
    at(0, 27, 1),
    at(0, 27, 27),
    at(1, 1, 1),
    at(2 ** 31 - 1, 1, 1),
  ];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) {
      assert.equal(Math.sign(comparePrecedence(a, b)), Math.sign(i - j), `${i} ${j}`);
    }
  }
});
