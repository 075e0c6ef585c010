// Proves that parsing, printing and conversion to quanta follow Kubernetes on tables written by
// hand, and an independent exact oracle on generated texts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError } from '../assert.ts';
import { createRandom } from '../runtime/random.ts';
import { MAX_QUANTITY_LENGTH, parseQuantity } from './parse.ts';
import { fromQuanta, quantumOf, toQuanta } from './quanta.ts';
import type { Quantity } from './quantity.ts';
import { checkRandomQuantity } from './testing/check.ts';
import { printQuantity } from './print.ts';

const FUZZ_COUNT = 20_000;
const FUZZ_SEED = 'quantity-1';
const MAX = Number.MAX_SAFE_INTEGER;

function parse(text: string): Quantity {
  const result = parseQuantity(text);
  assert.ok(result.ok, `${text} is refused`);
  return result.value;
}

// What Kubernetes prints for what it parses.
const CANONICAL: readonly [text: string, printed: string][] = [
  ['0', '0'],
  ['00', '0'],
  ['0Ki', '0'],
  ['0n', '0'],
  ['0.000', '0'],
  ['0e99', '0'],
  ['1', '1'],
  ['1.', '1'],
  ['1.G', '1G'],
  ['.5', '500m'],
  ['.001', '1m'],
  ['.0001k', '100m'],
  ['000012', '12'],
  ['1.5', '1500m'],
  ['1.5Gi', '1536Mi'],
  ['1024Mi', '1Gi'],
  ['1024', '1024'],
  ['1023Ki', '1023Ki'],
  ['1025', '1025'],
  ['307200Ki', '300Mi'],
  ['0.5Ki', '512'],
  ['62.5Ki', '64k'],
  ['0.5Mi', '512Ki'],
  ['100.035Ki', '102435840m'],
  ['.001Ki', '1024m'],
  ['.000001Ki', '1024u'],
  ['.000000001Ki', '1024n'],
  ['.000000000001Ki', '2n'],
  ['1000M', '1G'],
  ['0.001T', '1G'],
  ['1000m', '1'],
  ['1080000000n', '1080m'],
  ['1234567M', '1234567M'],
  ['100.035k', '100035'],
  ['7.123456M', '7123456'],
  ['10.035M', '10035k'],
  ['1E', '1E'],
  ['12E', '12E'],
  ['1000E', '1e21'],
  ['5000000E', '5e24'],
  ['1e3', '1e3'],
  ['1E3', '1e3'],
  ['1e+3', '1e3'],
  ['1E-3', '1e-3'],
  ['1e0', '1'],
  ['.001e12', '1e9'],
  ['1000e-12', '1e-9'],
  ['80e-3', '80e-3'],
  ['1e14', '100e12'],
  ['1.53E12', '1530e9'],
  ['0.5e-1', '50e-3'],
  ['3.001n', '4n'],
  ['0.9n', '1n'],
  ['1.1E-9', '2e-9'],
  ['0.5e-9', '1e-9'],
  ['1e-999999', '1e-9'],
  ['0.0000000005', '1n'],
  ['0.00000012345', '124n'],
  ['8Ei', '9223372036854775807'],
  ['9Ei', '9223372036854775807'],
  ['9223372036854775807Ki', '9223372036854775807'],
  ['7Ei', '7Ei'],
  ['18446744073709551616', '18446744073709551616'],
  ['1e36', '1e36'],
  ['1e37', '1e36'],
  ['1e999999', '1e36'],
];

test('canonical form, for both signs and an explicit plus', () => {
  for (const [text, printed] of CANONICAL) {
    assert.equal(printQuantity(parse(text)), printed, text);
    assert.equal(printQuantity(parse(`+${text}`)), printed, `+${text}`);
    const negative = printed === '0' ? '0' : `-${printed}`;
    assert.equal(printQuantity(parse(`-${text}`)), negative, `-${text}`);
  }
});

test('the format is kept, except for binary fractions below one unit', () => {
  for (const [text, format] of [
    ['1', 'decimalSI'],
    ['1k', 'decimalSI'],
    ['1E', 'decimalSI'],
    ['1E0', 'decimalExponent'],
    ['1e3', 'decimalExponent'],
    ['1Ki', 'binarySI'],
    ['0Ki', 'binarySI'],
    ['0.5Ki', 'binarySI'],
    ['0.0005Ki', 'decimalSI'],
    ['-0.0005Ki', 'decimalSI'],
  ] as const) {
    assert.equal(parse(text).format, format, text);
  }
});

test('what Kubernetes refuses is refused, and so is a number without a digit', () => {
  const refused = ['', ' ', ' 1', '1 ', '1\n', '\t1', '+', '-', '.', '+.', '-.', '.e3', 'e3', 'E'];
  refused.push('1e', '1e+', '1E-', '-3.01e-', '1ee3', '1e3e3', '1e3k', '1e1.5', '1e3 ', '1kk');
  refused.push('1.1.M', '1..', '1+1.0M', '--1', '+-1', '1-', '0.1mi', '0.1am', 'aoeu', '.5i', '1i');
  refused.push(
    '1K',
    '1ki',
    '1mi',
    '1g',
    '1KI',
    '1kB',
    '1Zi',
    '1Y',
    '1MiB',
    'Ki',
    'm',
    '1mm',
    '1iK',
  );
  refused.push('0x1', '0b1', '1_000', '1,000', '1n1', 'NaN', 'Infinity', '-Infinity', '∞', 'null');
  refused.push('٣', '１', '1٣', '1２m', '1µ', '1 Gi', '1\0', '\0', '__proto__', 'constructor');
  for (const text of refused) {
    const result = parseQuantity(text);
    assert.equal(result.ok ? printQuantity(result.value) : result.error.code, 'quantity_malformed');
    assert.deepEqual(toQuanta(text, 'cpu', 'demand'), result, JSON.stringify(text));
  }
});

test('the error says where the text leaves the grammar', () => {
  for (const [text, at] of [
    ['1.5Gib', 3],
    ['-x', 1],
    ['', 0],
    ['12e+', 2],
  ] as const) {
    assert.deepEqual(parseQuantity(text), {
      ok: false,
      error: { code: 'quantity_malformed', text, at },
    });
  }
});

test('length is bounded, and a hostile text is not carried along whole', () => {
  const longest = '1'.padStart(MAX_QUANTITY_LENGTH, '0');
  assert.equal(printQuantity(parse(longest)), '1');
  for (const text of [`0${longest}`, '9'.repeat(1_000_000)]) {
    const result = parseQuantity(text);
    assert.ok(!result.ok);
    assert.equal(result.error.code, 'quantity_too_long');
    assert.equal(result.error.text.length, MAX_QUANTITY_LENGTH);
    const quanta = toQuanta(text, 'memory', 'demand');
    assert.equal(quanta.ok ? 'ok' : quanta.error.code, 'quantity_too_long');
  }
});

test('two spellings of one value are equal, different values in order', () => {
  for (const [a, b] of [
    ['16Gi', '17179869184'],
    ['1', '1000m'],
    ['1e3', '1k'],
    ['0.5Ki', '512'],
    ['-0', '0Mi'],
  ] as const) {
    assert.equal(parse(a).nanos, parse(b).nanos, `${a} ${b}`);
  }
  const ascending = ['-1Ki', '-1k', '-1n', '0', '1n', '50m', '100m', '1k', '1Ki', '10000T', '1e30'];
  for (const [i, smaller] of ascending.entries()) {
    for (const larger of ascending.slice(i + 1)) {
      assert.ok(parse(smaller).nanos < parse(larger).nanos, `${smaller} < ${larger}`);
    }
  }
});

test('each resource has its quantum', () => {
  assert.equal(quantumOf('cpu'), 'milli');
  for (const name of ['memory', 'ephemeral-storage', 'hugepages-2Mi', 'hugepages-1Gi']) {
    assert.equal(quantumOf(name), 'kibi', name);
  }
  for (const name of [
    'nvidia.com/gpu',
    'pods',
    'hugepages',
    'Memory',
    'memory ',
    '',
    '__proto__',
  ]) {
    assert.equal(quantumOf(name), 'milli', name);
  }
});

test('demand rounds up, allocatable down, both saturate', () => {
  const cases: readonly [string, string, demand: number, allocatable: number][] = [
    ['250m', 'cpu', 250, 250],
    ['1.5', 'cpu', 1500, 1500],
    ['1n', 'cpu', 1, 0],
    ['1500u', 'cpu', 2, 1],
    ['0.9999999999', 'cpu', 1000, 1000],
    ['0.9999', 'cpu', 1000, 999],
    ['2', 'nvidia.com/gpu', 2000, 2000],
    ['1Ki', 'nvidia.com/gpu', 1_024_000, 1_024_000],
    ['1', 'memory', 1, 0],
    ['1023', 'memory', 1, 0],
    ['1024', 'memory', 1, 1],
    ['1025', 'memory', 2, 1],
    ['1k', 'memory', 1, 0],
    ['16Gi', 'memory', 16_777_216, 16_777_216],
    ['16G', 'memory', 15_625_000, 15_625_000],
    ['0.1Gi', 'memory', 104_858, 104_857],
    ['500m', 'memory', 1, 0],
    ['1.5e3', 'memory', 2, 1],
    ['2Mi', 'hugepages-2Mi', 2048, 2048],
    ['-0', 'memory', 0, 0],
    ['0', 'cpu', 0, 0],
    ['9007199254740991m', 'cpu', MAX, MAX],
    ['9007199254740992m', 'cpu', MAX, MAX],
    ['9007199254740990999u', 'cpu', MAX, 9007199254740990],
    ['10T', 'cpu', MAX, MAX],
    ['1E', 'cpu', MAX, MAX],
    ['9007199254740991Ki', 'memory', MAX, MAX],
    ['9007199254740990Ki', 'memory', MAX - 1, MAX - 1],
    ['8Ei', 'memory', MAX, MAX],
    ['100E', 'memory', MAX, MAX],
    ['1e999', 'memory', MAX, MAX],
    ['9.3E', 'memory', MAX, MAX],
    ['8.5E', 'memory', 8_300_781_250_000_000, 8_300_781_250_000_000],
  ];
  for (const [text, name, demand, allocatable] of cases) {
    assert.deepEqual(toQuanta(text, name, 'demand'), { ok: true, value: demand }, text);
    assert.deepEqual(toQuanta(text, name, 'allocatable'), { ok: true, value: allocatable }, text);
  }
});

test('a negative quantity is refused by name', () => {
  for (const text of ['-1', '-1n', '-0.5Ki', '-1e-99']) {
    assert.deepEqual(toQuanta(text, 'cpu', 'demand'), {
      ok: false,
      error: { code: 'quantity_negative', text, at: 0 },
    });
  }
});

test('quanta print canonically and come back', () => {
  for (const [quanta, name, printed] of [
    [0, 'cpu', '0'],
    [1, 'cpu', '1m'],
    [1500, 'cpu', '1500m'],
    [2000, 'cpu', '2'],
    [1_000_000, 'pods', '1k'],
    [1, 'memory', '1Ki'],
    [1023, 'memory', '1023Ki'],
    [16_777_216, 'memory', '16Gi'],
    [2 ** 50, 'memory', '1Ei'],
    [MAX, 'memory', '9007199254740991Ki'],
    [MAX, 'cpu', '9007199254740991m'],
  ] as const) {
    assert.equal(fromQuanta(quanta, name), printed);
    assert.equal(printQuantity(parse(printed)), printed, 'the form is canonical');
    assert.deepEqual(toQuanta(printed, name, 'allocatable'), { ok: true, value: quanta });
  }
  for (const bad of [-1, 0.5, Number.NaN, MAX + 1]) {
    assert.throws(() => fromQuanta(bad, 'cpu'), AssertionError);
  }
});

test(`${FUZZ_COUNT} generated texts agree with the oracle (seed ${FUZZ_SEED})`, () => {
  const random = createRandom(FUZZ_SEED);
  let parsedCount = 0;
  for (let i = 0; i < FUZZ_COUNT; i++) if (checkRandomQuantity(random)) parsedCount++;
  const share = parsedCount / FUZZ_COUNT;
  assert.ok(share > 0.5 && share < 0.9, `the inputs are lopsided: ${share} of them parse`);
});
