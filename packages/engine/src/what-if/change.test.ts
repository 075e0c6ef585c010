// Proves how changes are written: each form is read as what it says and printed as it is read, and
// whatever is not exactly a form is refused with words that help.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { type Change, describeChange, parseChange } from './change.ts';

const good: readonly (readonly [string, Change, string?])[] = [
  ['reserved=-20%', { kind: 'capacity', capacityType: 2, by: { share: -0.2 } }],
  ['reserved=−20%', { kind: 'capacity', capacityType: 2, by: { share: -0.2 } }, 'reserved=-20%'],
  ['reserved=-40', { kind: 'capacity', capacityType: 2, by: { count: -40 } }],
  ['bare-metal=+12.5%', { kind: 'capacity', capacityType: 1, by: { share: 0.125 } }],
  ['on-demand=+3', { kind: 'capacity', capacityType: 3, by: { count: 3 } }],
  ['spot=-100%', { kind: 'capacity', capacityType: 4, by: { share: -1 } }],
  ['price:spot=×1.4', { kind: 'price', of: { capacityType: 4 }, setting: { factor: 1.4 } }],
  [
    'price:m6i.large=0.12',
    { kind: 'price', of: { instanceType: 'm6i.large' }, setting: { value: 0.12 } },
  ],
  [
    'price:a:b=x2',
    { kind: 'price', of: { instanceType: 'a:b' }, setting: { factor: 2 } },
    'price:a:b=×2',
  ],
  [
    'interruption:spot=*0.5',
    { kind: 'interruption', of: { capacityType: 4 }, setting: { factor: 0.5 } },
    'interruption:spot=×0.5',
  ],
  ['interruption:m=1', { kind: 'interruption', of: { instanceType: 'm' }, setting: { value: 1 } }],
  ['lose-zone=eu-west-1a', { kind: 'lose_zone', zone: 'eu-west-1a', afterMs: 0 }],
  ['lose-zone=z1@1d12h', { kind: 'lose_zone', zone: 'z1', afterMs: 129_600_000 }],
  ['lose-zone=z1@0', { kind: 'lose_zone', zone: 'z1', afterMs: 0 }, 'lose-zone=z1'],
  ['clusters=+8', { kind: 'clusters', addedCount: 8 }],
  ['demand=×1.3', { kind: 'demand', cluster: '', factor: 1.3 }],
  ['demand:blue=×0', { kind: 'demand', cluster: 'blue', factor: 0 }],
  ['on-demand-hold=1h30m', { kind: 'hold', of: 'onDemand', ms: 5_400_000 }],
  ['spot-hold=0', { kind: 'hold', of: 'spot', ms: 0 }],
  ['spot-hold=250ms', { kind: 'hold', of: 'spot', ms: 250 }],
];
for (const [text, change, canonical] of good) {
  test(`${text} is read and printed`, () => {
    assert.deepEqual(parseChange(text), { ok: true, value: change });
    assert.equal(describeChange(change), canonical ?? text);
  });
}

const refused: readonly (readonly [string, RegExp])[] = [
  ['', /write one of: reserved=-20%/],
  ['x=1', /write one of/],
  ['reserved', /write one of/],
  ['reserved=', /write one of/],
  ['reserved=20%', /a share such as -20%/],
  ['reserved=-101%', /a share/],
  ['reserved=-0', /a share/],
  ['reserved=-1.5', /a share/],
  ['reserved=-1e3', /a share/],
  ['reserved=-20%%', /a share/],
  ['reserved:z1=-20%', /write one of/],
  ['reserved=+99999999', /a share/],
  ['price=1', /write one of/],
  ['price:=1', /write one of/],
  ['price:a=-1', /dollars per hour such as 0.12/],
  ['price:a=×-1', /dollars per hour/],
  ['price:a=×', /dollars per hour/],
  ['price:a=Infinity', /dollars per hour/],
  ['price:a=0x10', /dollars per hour/],
  ['price:a=1,5', /dollars per hour/],
  ['price:a=2000000', /dollars per hour/],
  ['price:a b=1', /write one of/],
  [' price:a=1', /write one of/],
  ['price:a=1 ', /write one of/],
  ['price:a=1\n', /write one of/],
  ['PRICE:a=1', /write one of/],
  ['interruption:a=2', /a probability from 0 to 1/],
  ['interruption=0.5', /write one of/],
  ['lose-zone=@6h', /write a zone/],
  ['lose-zone=z1@6', /write a zone/],
  ['lose-zone=z1@', /write a zone/],
  ['lose-zone=z1@6h@7h', /write a zone/],
  ['lose-zone=z1@999d', /write a zone/],
  ['clusters=8', /how many clusters more/],
  ['clusters=-1', /how many clusters more/],
  ['clusters=+0', /how many clusters more/],
  ['clusters=+1001', /how many clusters more/],
  ['demand=1.3', /a factor such as ×1.4/],
  ['demand=×1001', /a factor/],
  ['demand=×1.3×2', /a factor/],
  ['spot-hold=5', /a duration such as 5m/],
  ['spot-hold=x', /a duration/],
  ['spot-hold:a=1s', /write one of/],
  ['on-demand-hold=-1s', /a duration/],
  [`price:${'a'.repeat(300)}=1`, /at most 253 characters/],
];
for (const [text, words] of refused) {
  test(`${JSON.stringify(text.slice(0, 40))} is refused`, () => {
    const change = parseChange(text);
    assert.ok(!change.ok);
    assert.match(change.error, words);
  });
}

test('whatever is read is printed as a text that is read as the same', () => {
  const names =
    'reserved spot price:spot price:a interruption:a demand demand:a lose-zone clusters spot-hold';
  const pieces = [
    '×',
    'x',
    '-',
    '+',
    '%',
    '@',
    '=',
    '1',
    '9.5',
    '0.000000001',
    '0',
    'h',
    'ms',
    'z',
  ];
  let readCount = 0;
  for (let seed = 1; seed <= 5_000; seed++) {
    const random = createRandom(`change ${seed}`);
    const pick = (from: readonly string[]): string => from[random.below(from.length)] ?? '';
    const value = Array.from({ length: 1 + random.below(4) }, () => pick(pieces)).join('');
    const text = `${pick(names.split(' '))}=${value}`;
    const change = parseChange(text);
    if (!change.ok) continue;
    readCount += 1;
    const again = parseChange(describeChange(change.value));
    assert.deepEqual(again, change, `seed ${seed}: ${text}`);
  }
  assert.ok(readCount > 500, `only ${readCount} texts were read`);
});
