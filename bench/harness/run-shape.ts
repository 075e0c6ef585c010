// One shape from start to result: timed in its own process (twice when the machine moved under
// it), then its allocations in another with other flags, because a heap big enough to never
// collect would flatter the times.

import { join } from 'node:path';
import type { AllocReport, ChildReport, TimeReport } from './child-report.ts';
import type { Bench } from './define-bench.ts';
import { type LaunchOptions, launchChild } from './launch.ts';
import { measureSteadily, shapeK } from './noise.ts';
import type { Result } from './results.ts';

export type ShapeOutcome =
  | { readonly kind: 'measured'; readonly result: Result; readonly kMs: number }
  | { readonly kind: 'failed'; readonly name: string; readonly message: string };

export interface RunShapeOptions {
  readonly bench: Bench<unknown>;
  readonly file: string;
  readonly resultsFolder: string;
  readonly iterations?: number;
  readonly measureAllocations: boolean;
  readonly launch?: (options: LaunchOptions) => Promise<ChildReport>;
}

/** Thrown and caught in this file only: a failed child ends the measurement at any depth. */
class ShapeFailure extends Error {}

export async function runShape(options: RunShapeOptions): Promise<ShapeOutcome> {
  const { bench, file, resultsFolder, launch = launchChild } = options;
  const iterations = options.iterations ?? bench.iterations;
  const samplesFile = `samples/${bench.name}.f64`;
  const start = (mode: 'time' | 'alloc'): Promise<ChildReport> =>
    launch({
      bench,
      order: {
        mode,
        file,
        name: bench.name,
        warmup: bench.warmup,
        iterations,
        samplesPath: join(resultsFolder, samplesFile),
      },
    });
  try {
    const { measurement, noisy } = await measureSteadily(async () => timed(await start('time')));
    const wanted = options.measureAllocations && bench.measureAllocations !== false;
    const alloc = wanted ? allocated(await start('alloc')) : undefined;
    const result = toResult(bench.name, samplesFile, measurement, alloc, noisy);
    return { kind: 'measured', result, kMs: shapeK(measurement) };
  } catch (error) {
    if (error instanceof ShapeFailure) {
      return { kind: 'failed', name: bench.name, message: error.message };
    }
    throw error;
  }
}

function timed(report: ChildReport): TimeReport {
  if (report.kind === 'time') return report;
  throw new ShapeFailure(report.kind === 'failed' ? report.message : 'answered another order');
}

function allocated(report: ChildReport): AllocReport {
  if (report.kind === 'alloc') return report;
  throw new ShapeFailure(report.kind === 'failed' ? report.message : 'answered another order');
}

function toResult(
  name: string,
  samplesFile: string,
  report: TimeReport,
  alloc: AllocReport | undefined,
  noisy: boolean,
): Result {
  const kMs = shapeK(report);
  const { shape, iterations, p50Ms, p95Ms, p99Ms, maxMs, rssBytes } = report;
  return {
    name,
    shape,
    iterations,
    p50Ms,
    p95Ms,
    p99Ms,
    maxMs,
    perK: { p50: p50Ms / kMs, p95: p95Ms / kMs, p99: p99Ms / kMs },
    allocBytesPerOp: alloc?.allocBytesPerOp ?? null,
    rssBytes,
    samplesFile,
    extra: noisy ? { ...report.extra, noisy } : report.extra,
  };
}
