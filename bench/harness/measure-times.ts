// The timed loop. Only `iteration` is inside the clock; `prepare` is not. A synchronous iteration
// is never awaited inside its own sample, so a shape of microseconds does not pay for a microtask.
// Warm-up samples are thrown away; the very first one is reported apart as the cold start.

import type { Apart, Bench } from './define-bench.ts';

export interface TimedRun {
  readonly samples: Float64Array;
  readonly apart: ReadonlyMap<string, readonly number[]>;
  readonly coldMs: number | null;
}

export interface TimedLoopOptions {
  readonly warmup: number;
  readonly iterations: number;
  readonly nowMs: () => number;
}

export async function timeIterations<State>(
  bench: Bench<State>,
  state: State,
  { warmup, iterations, nowMs }: TimedLoopOptions,
): Promise<TimedRun> {
  let index = 0;
  let apartLabel: string | undefined;
  const timeOne = async (): Promise<number> => {
    const prepared = bench.prepare?.(state, index);
    if (prepared instanceof Promise) await prepared;
    const startMs = nowMs();
    const returned = bench.iteration(state, index);
    const outcome: void | Apart = returned instanceof Promise ? await returned : returned;
    const elapsedMs = nowMs() - startMs;
    apartLabel = outcome?.apart;
    index++;
    return elapsedMs;
  };

  const coldMs = warmup > 0 ? await timeOne() : null;
  while (index < warmup) await timeOne();

  const samples = new Float64Array(iterations);
  const apart = new Map<string, number[]>();
  // Rows set apart do not count, so a bench that sets everything apart would never end.
  const lastIndex = warmup + 2 * iterations + 100;
  for (let filled = 0; filled < iterations; ) {
    if (index >= lastIndex) throw new Error('more iterations set apart than timed');
    const elapsedMs = await timeOne();
    if (apartLabel === undefined) samples[filled++] = elapsedMs;
    else append(apart, apartLabel, elapsedMs);
  }
  return { samples, apart, coldMs };
}

function append(lists: Map<string, number[]>, label: string, value: number): void {
  const list = lists.get(label);
  if (list === undefined) lists.set(label, [value]);
  else list.push(value);
}
