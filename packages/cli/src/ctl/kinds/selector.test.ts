// Proves how selectors and names of needs are read: what kubectl users write, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Operator } from '@bigfleet/wire';
import { isNamedNeed, parseNeedName, shortNeed } from './need-name.ts';
import { parseSelector } from './selector.ts';

const { IN, NOT_IN, EXISTS, DOES_NOT_EXIST } = Operator;

const good: readonly (readonly [
  string,
  readonly (readonly [string, number, readonly string[]])[],
])[] = [
  ['', []],
  ['zone=a', [['zone', IN, ['a']]]],
  ['zone==a', [['zone', IN, ['a']]]],
  [
    'zone = a , pool != spot',
    [
      ['zone', IN, ['a']],
      ['pool', NOT_IN, ['spot']],
    ],
  ],
  [
    'zone in (a, b),gpu',
    [
      ['zone', IN, ['a', 'b']],
      ['gpu', EXISTS, []],
    ],
  ],
  [
    'arch notin (arm64),!gpu',
    [
      ['arch', NOT_IN, ['arm64']],
      ['gpu', DOES_NOT_EXIST, []],
    ],
  ],
  ['topology.kubernetes.io/zone=eu-1a', [['topology.kubernetes.io/zone', IN, ['eu-1a']]]],
  ['key=', [['key', IN, ['']]]],
];
for (const [text, expected] of good) {
  test(`selector ${JSON.stringify(text)}`, () => {
    const parsed = parseSelector(text);
    assert.ok(parsed.ok);
    assert.deepEqual(
      parsed.value.map(({ key, operator, values }) => [key, operator, values]),
      expected,
    );
  });
}

for (const text of ['=a', 'a=b=c', 'a in b', 'a in ()', 'a in (b', ',', 'a,,b', 'a b', '!', '-a']) {
  test(`selector ${JSON.stringify(text)} is refused with an example`, () => {
    const parsed = parseSelector(text);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, /write for example/);
  });
}

test('no text makes the parser throw or hang', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), (text) => {
      assert.equal(typeof parseSelector(text).ok, 'boolean');
      assert.equal(typeof parseNeedName(text).ok, 'boolean');
    }),
    { verbose: true },
  );
});

const PRINT = 'p=10|ipb=1|rpb=1|reqs=topology.kubernetes.io/zone:1:a|spr=rack.io/name:1:2';

test('names of needs: exact with and without a group, and short', () => {
  const exact = (text: string) => {
    const parsed = parseNeedName(text);
    assert.ok(parsed.ok && parsed.value.kind === 'exact', text);
    return parsed.value.ref;
  };
  assert.deepEqual(exact(`blue/${PRINT}`), {
    clusterId: 'blue',
    profileFingerprint: PRINT,
    group: '',
  });
  assert.equal(exact(`blue/${PRINT}/team/job-1`).group, 'team/job-1');
  const short = shortNeed(PRINT, '');
  assert.deepEqual(parseNeedName(`blue/${short}`), {
    ok: true,
    value: { kind: 'short', clusterId: 'blue', short },
  });
  for (const wrong of ['', 'blue', 'blue/', `/${short}`, `blue/${short}0`, 'blue/p=1']) {
    assert.equal(parseNeedName(wrong).ok, false, wrong);
  }
});

test('a short form names its need, and that of a profile every gang of it', () => {
  const gang = { clusterId: 'blue', profileFingerprint: PRINT, group: 'train-7' };
  const names = (text: string): boolean => {
    const parsed = parseNeedName(text);
    return parsed.ok && isNamedNeed(parsed.value, gang);
  };
  assert.ok(names(`blue/${shortNeed(PRINT, 'train-7')}`));
  assert.ok(names(`blue/${shortNeed(PRINT, '')}`), 'as get brakes shows it');
  assert.ok(names(`blue/${PRINT}/train-7`));
  assert.ok(!names(`blue/${shortNeed(PRINT, 'train-8')}`));
  assert.ok(!names(`red/${shortNeed(PRINT, 'train-7')}`));
  assert.ok(!names(`blue/${PRINT}`), 'a fingerprint is exact');
});
