// Entry point of a measuring process: builds one shape, checks it, measures it, writes a report.
// One shape per process, so that no shape inherits another's heap, JIT feedback or sockets.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { measureK } from '../kernel/k.ts';
import {
  type ChildOrder,
  type ChildReport,
  type FailureReport,
  type TimeReport,
  parseOrder,
} from './child-report.ts';
import { type Bench, type Extra, type Shape, type Timing, DEFAULT_SEED } from './define-bench.ts';
import { entriesOf } from './discover.ts';
import { measureAllocations } from './measure-allocations.ts';
import { type TimedRun, timeIterations } from './measure-times.ts';
import { median, percentiles } from './percentiles.ts';
import { shapeProblems } from './shape-check.ts';

/** Below this an iteration is mostly the clock's own cost. */
const SHORTEST_ITERATION_MS = 0.001;

async function main(): Promise<void> {
  const order = parseOrder(process.argv[2]);
  const report = await measure(order).catch(toFailure);
  writeFileSync(order.reportPath, JSON.stringify(report));
  // A socket that a bench forgot must not keep the whole run waiting for its deadline.
  process.exit(report.kind === 'failed' ? 1 : 0);
}

function toFailure(error: unknown): FailureReport {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: 'failed', message };
}

async function measure(order: ChildOrder): Promise<ChildReport> {
  const bench = await loadBench(order);
  const state = await bench.setup({ seed: bench.seed ?? DEFAULT_SEED });
  try {
    const shape = bench.observe(state);
    const problems = shapeProblems(bench.shape, shape);
    if (problems.length > 0) throw new Error(`wrong shape: ${problems.join('; ')}`);
    return order.mode === 'time'
      ? await time(bench, state, shape, order)
      : { kind: 'alloc', allocBytesPerOp: await measureAllocations(bench, state, order) };
  } finally {
    await bench.teardown?.(state);
  }
}

async function time(
  bench: Bench<unknown>,
  state: unknown,
  shape: Shape,
  { warmup, iterations, samplesPath }: ChildOrder,
): Promise<TimeReport> {
  // Garbage of the set-up belongs to no iteration.
  globalThis.gc?.();
  const kBeforeMs = measureK();
  const run = await timeIterations(bench, state, {
    warmup,
    iterations,
    nowMs: () => performance.now(),
  });
  const kAfterMs = measureK();
  const rssBytes = process.memoryUsage.rss();
  saveSamples(samplesPath, run.samples);

  const timing = summarise(run);
  if (timing.p50Ms < SHORTEST_ITERATION_MS) {
    throw new Error('iteration too short to time: do more per iteration, state opsPerIteration');
  }
  const { p50Ms, p95Ms, p99Ms, maxMs } = timing;
  const extra = {
    ...standardExtras(bench, run, timing),
    ...(await bench.extras?.(state, timing)),
    kBeforeMs,
    kAfterMs,
  };
  return {
    kind: 'time',
    shape,
    kBeforeMs,
    kAfterMs,
    iterations,
    p50Ms,
    p95Ms,
    p99Ms,
    maxMs,
    rssBytes,
    extra,
  };
}

function summarise(run: TimedRun): Timing {
  const { p50, p95, p99, max, total } = percentiles(run.samples);
  const { samples } = run;
  return { p50Ms: p50, p95Ms: p95, p99Ms: p99, maxMs: max, totalMs: total, samples };
}

/** Sum and cold start beside the percentiles: a p99 hid cycles that took hours. */
function standardExtras(bench: Bench<unknown>, run: TimedRun, { totalMs }: Timing): Extra {
  const opCount = run.samples.length * (bench.opsPerIteration ?? 1);
  const apart: Record<string, number> = {};
  for (const [label, samples] of run.apart) {
    apart[label] = median(samples);
    apart[`${label}Max`] = Math.max(...samples);
    apart[`${label}Count`] = samples.length;
  }
  return {
    seed: bench.seed ?? DEFAULT_SEED,
    totalMs,
    coldMs: run.coldMs,
    opsPerSecond: (opCount * 1_000) / totalMs,
    nsPerOp: (totalMs * 1e6) / opCount,
    ...apart,
  };
}

function saveSamples(path: string, samples: Float64Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const bytes = new DataView(new ArrayBuffer(samples.length * 8));
  samples.forEach((sample, index) => bytes.setFloat64(index * 8, sample, true));
  writeFileSync(path, bytes);
}

async function loadBench({ file, name }: ChildOrder): Promise<Bench<unknown>> {
  const entries = entriesOf(await import(pathToFileURL(file).href), file);
  for (const entry of entries) {
    if (entry.kind === 'bench' && entry.bench.name === name) return entry.bench;
  }
  throw new Error(`${file} no longer defines ${name}`);
}

await main();
