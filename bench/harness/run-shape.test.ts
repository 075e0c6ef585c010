// Proves how reports of measuring processes become a result: K, the second attempt, the noisy
// mark, the allocation pass, and failures.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChildReport, TimeReport } from './child-report.ts';
import type { Bench } from './define-bench.ts';
import { type ShapeOutcome, runShape } from './run-shape.ts';

const bench: Bench<unknown> = {
  name: 'area/shape',
  shape: { rows: 3 },
  warmup: 2,
  iterations: 10,
  setup: () => null,
  observe: () => ({ rows: 3 }),
  iteration: () => undefined,
};

function timeReport(kBeforeMs: number, kAfterMs: number, p50Ms = 4): TimeReport {
  return {
    kind: 'time',
    shape: { rows: 3 },
    kBeforeMs,
    kAfterMs,
    iterations: 10,
    p50Ms,
    p95Ms: 6,
    p99Ms: 8,
    maxMs: 9,
    rssBytes: 1_000,
    extra: { kBeforeMs, kAfterMs },
  };
}

interface Staged {
  readonly outcome: ShapeOutcome;
  readonly modes: readonly string[];
  readonly iterations: readonly number[];
}

async function stage(
  reports: readonly ChildReport[],
  parts: { bench?: Partial<Bench<unknown>>; iterations?: number; alloc?: boolean } = {},
): Promise<Staged> {
  const modes: string[] = [];
  const iterations: number[] = [];
  const outcome = await runShape({
    bench: { ...bench, ...parts.bench },
    file: 'area/shape.bench.ts',
    resultsFolder: 'results',
    measureAllocations: parts.alloc ?? true,
    ...(parts.iterations === undefined ? {} : { iterations: parts.iterations }),
    launch: ({ order }) => {
      const report = reports[modes.length];
      modes.push(order.mode);
      iterations.push(order.iterations);
      return report === undefined
        ? Promise.reject(new Error('one too many'))
        : Promise.resolve(report);
    },
  });
  return { outcome, modes, iterations };
}

const alloc: ChildReport = { kind: 'alloc', allocBytesPerOp: 64 };

test('a steady shape is timed once, then measured for allocations', async () => {
  const { outcome, modes } = await stage([timeReport(2.1, 2), alloc]);
  assert.deepEqual(modes, ['time', 'alloc']);
  assert.ok(outcome.kind === 'measured');
  assert.equal(outcome.kMs, 2);
  assert.deepEqual(outcome.result.perK, { p50: 2, p95: 3, p99: 4 });
  assert.equal(outcome.result.allocBytesPerOp, 64);
  assert.equal(outcome.result.samplesFile, 'samples/area/shape.f64');
  assert.deepEqual(outcome.result.extra, { kBeforeMs: 2.1, kAfterMs: 2 });
});

test('a machine that moved is given one more chance', async () => {
  const { outcome, modes } = await stage([timeReport(1, 2), timeReport(1, 1, 5), alloc]);
  assert.deepEqual(modes, ['time', 'time', 'alloc']);
  assert.ok(outcome.kind === 'measured');
  assert.equal(outcome.result.p50Ms, 5);
  assert.equal(outcome.result.extra['noisy'], undefined);
});

test('twice is noisy', async () => {
  const { outcome, modes } = await stage([timeReport(1, 2), timeReport(1, 3, 5), alloc]);
  assert.deepEqual(modes, ['time', 'time', 'alloc']);
  assert.ok(outcome.kind === 'measured');
  assert.equal(outcome.result.p50Ms, 4);
  assert.equal(outcome.result.extra['noisy'], true);
});

test('allocations are skipped by the bench or by the caller', async () => {
  for (const parts of [{ bench: { measureAllocations: false } }, { alloc: false }]) {
    const { outcome, modes } = await stage([timeReport(1, 1)], parts);
    assert.deepEqual(modes, ['time']);
    assert.ok(outcome.kind === 'measured' && outcome.result.allocBytesPerOp === null);
  }
});

test('stated iterations, unless told otherwise', async () => {
  assert.deepEqual((await stage([timeReport(1, 1), alloc])).iterations, [10, 10]);
  const short = await stage([timeReport(1, 1), alloc], { iterations: 3 });
  assert.deepEqual(short.iterations, [3, 3]);
});

test('a failed process fails the shape, in either pass', async () => {
  const failed: ChildReport = { kind: 'failed', message: 'wrong shape: rows' };
  const expected = { kind: 'failed', name: 'area/shape', message: 'wrong shape: rows' };
  assert.deepEqual((await stage([failed])).outcome, expected);
  assert.deepEqual((await stage([timeReport(1, 1), failed])).outcome, expected);
});
