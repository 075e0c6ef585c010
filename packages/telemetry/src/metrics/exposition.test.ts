// Proves that the strict parser can say no: each malformed text is refused at the right line, so
// that the tests built on it mean something.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseExposition } from './exposition.ts';

const GOOD = [
  '# HELP a_total text with \\\\ and \\n',
  '# TYPE a_total counter',
  'a_total{x="q\\"\\\\\\n",y="2"} 3',
  'a_total{x="",y="2"} 1e+21',
  '# HELP h h',
  '# TYPE h histogram',
  'h_bucket{le="0.5",x="1"} 1',
  'h_bucket{le="1",x="1"} 1',
  'h_bucket{le="+Inf",x="1"} 2',
  'h_sum{x="1"} 7.5',
  'h_count{x="1"} 2',
  '# HELP g g',
  '# TYPE g gauge',
  'g -0.5',
];

test('reads a correct text', () => {
  const parsed = parseExposition(`${GOOD.join('\n')}\n`);
  assert.ok(parsed.ok);
  const [counter, histogram, gauge] = parsed.value;
  assert.equal(counter?.help, 'text with \\ and \n');
  assert.deepEqual(
    [...(counter?.samples[0]?.labels ?? [])],
    [
      ['x', 'q"\\\n'],
      ['y', '2'],
    ],
  );
  assert.equal(histogram?.samples.length, 5);
  assert.equal(gauge?.samples[0]?.value, -0.5);
});

const head = '# HELP a a\n# TYPE a gauge\n';
const counterHead = '# HELP a_total a\n# TYPE a_total counter\n';
const histogramHead = '# HELP h h\n# TYPE h histogram\n';
const faults: readonly [string, string, number][] = [
  ['no newline at the end', `${head}a 1`, 0],
  ['an empty line', `${head}a 1\n\n`, 4],
  ['a sample without a header', 'a 1\n', 1],
  ['no TYPE', '# HELP a a\na 1\n', 2],
  ['TYPE of another name', '# HELP a a\n# TYPE b gauge\n', 2],
  ['an unknown type', '# HELP a a\n# TYPE a meter\n', 2],
  ['an empty HELP', '# HELP a \n# TYPE a gauge\n', 1],
  ['a stray backslash in HELP', '# HELP a \\t\n# TYPE a gauge\n', 1],
  ['a family twice', `${head}a 1\n${head}`, 4],
  ['a series twice', `${head}a{x="1"} 1\na{x="1"} 2\n`, 4],
  ['a series twice in another label order', `${head}a{x="1",y="2"} 1\na{y="2",x="1"} 2\n`, 4],
  ['a label twice', `${head}a{x="1",x="2"} 1\n`, 3],
  ['an unescaped quote', `${head}a{x="1"2"} 1\n`, 3],
  ['a foreign escape', `${head}a{x="\\t"} 1\n`, 3],
  ['a missing comma', `${head}a{x="1"y="2"} 1\n`, 3],
  ['a trailing comma', `${head}a{x="1",} 1\n`, 3],
  ['a bad label name', `${head}a{0x="1"} 1\n`, 3],
  ['a value that is no number', `${head}a one\n`, 3],
  ['an empty value', `${head}a \n`, 3],
  ['hex', `${head}a 0x1\n`, 3],
  ['a timestamp', `${head}a 1 1700000000000\n`, 3],
  ['a sample of another family', `${head}b 1\n`, 3],
  ['a bucket in a gauge', `${head}a_bucket{le="1"} 1\n`, 3],
  ['a negative counter', `${counterHead}a_total -1\n`, 3],
  ['a counter without _total', '# HELP a a\n# TYPE a counter\na 1\n', 3],
  ['a bare sample in a histogram', `${histogramHead}h 1\n`, 3],
  ['a histogram without +Inf', `${histogramHead}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`, 1],
  ['a bucket without le', `${histogramHead}h_bucket 1\nh_sum 1\nh_count 1\n`, 1],
  ['shrinking buckets', histogram('h_bucket{le="1"} 3', 'h_bucket{le="+Inf"} 2'), 1],
  ['bounds out of order', histogram('h_bucket{le="2"} 1', 'h_bucket{le="1"} 1'), 1],
  ['bounds not canonical', histogram('h_bucket{le="1.0"} 1', 'h_bucket{le="+Inf"} 2'), 1],
  ['a drifted bound', histogram('h_bucket{le="4.0960000000000001"} 1', ''), 1],
  ['_count unlike +Inf', `${histogramHead}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`, 1],
  ['no _sum', `${histogramHead}h_bucket{le="+Inf"} 1\nh_count 1\n`, 1],
];

for (const [what, text, line] of faults) {
  test(`refuses ${what}`, () => {
    const parsed = parseExposition(text);
    assert.ok(!parsed.ok, 'was accepted');
    assert.equal(parsed.error.line, line, parsed.error.reason);
  });
}

function histogram(...buckets: readonly string[]): string {
  const lines = buckets.filter((bucket) => bucket !== '').join('\n');
  return `${histogramHead}${lines}\nh_sum 1\nh_count 2\n`;
}
