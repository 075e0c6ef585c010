// Proves that a bench which could not mean anything is refused where it is defined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bench, defineBench, defineRatio } from './define-bench.ts';

const good: Bench<null> = {
  name: 'area/shape-5k/full',
  shape: { rows: 1 },
  warmup: 0,
  iterations: 1,
  setup: () => null,
  observe: () => ({ rows: 1 }),
  iteration: () => undefined,
};

test('a sound bench passes through', () => {
  const entry = defineBench(good);
  assert.ok(entry.kind === 'bench' && entry.bench.name === good.name);
});

const wrong: readonly [Partial<Bench<null>>, RegExp][] = [
  [{ name: 'noarea' }, /area\/shape/],
  [{ name: 'area/Upper' }, /area\/shape/],
  [{ name: '../escape/x' }, /area\/shape/],
  [{ name: 'area//x' }, /area\/shape/],
  [{ warmup: -1 }, /warmup/],
  [{ iterations: 0 }, /iterations/],
  [{ iterations: 1.5 }, /iterations/],
  [{ opsPerIteration: 0 }, /opsPerIteration/],
  [{ shape: {} }, /cardinality/],
  [{ bars: { p50Ms: {} } }, /could not fail/],
  [{ bars: { p50Ms: { max: Number.NaN } } }, /could not fail/],
];

test('refusals', () => {
  for (const [part, problem] of wrong) {
    assert.throws(() => defineBench({ ...good, ...part }), problem);
  }
  const ratio = { of: 'a/b', over: 'a/b', metric: 'p50Ms', as: 'growth' } as const;
  assert.throws(() => defineRatio(ratio), /two different/);
  assert.throws(() => defineRatio({ ...ratio, over: 'a/c', bar: {} }), /could not fail/);
});
