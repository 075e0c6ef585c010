// Benches whose results are known in advance, for the tests of the harness itself.

import {
  type BenchEntry,
  compareInterleaved,
  defineBench,
  defineRatio,
  keep,
  measureRetained,
  type Retained,
} from '../../index.ts';

const FLOATS = 1_024;

function spin(count: number): number {
  let sum = 0;
  for (let step = 0; step < count; step++) sum = (sum + step * step) % 1_000_003;
  return sum;
}

const entries: readonly BenchEntry[] = [
  defineBench<readonly number[]>({
    name: 'demo/allocates',
    shape: { floats: FLOATS, rows: { min: 2, max: 4 } },
    warmup: 300,
    iterations: 40,
    bars: { 'extra.seen': { min: 1 }, p50Ms: { max: 60_000 } },
    setup: () => [1, 2, 3],
    observe: (rows) => ({ floats: new Float64Array(FLOATS).length, rows: rows.length }),
    iteration(_rows, index) {
      keep(new Float64Array(FLOATS));
      keep(spin(5_000));
      return index % 10 === 9 ? { apart: 'safetyPassMs' } : undefined;
    },
    extras: (_rows, { samples }) => ({ seen: samples.length }),
  }),
  defineBench<Retained<Float64Array>>({
    name: 'demo/large',
    shape: { floats: 1_000_000 },
    warmup: 5,
    iterations: 20,
    measureAllocations: false,
    setup: () => measureRetained(() => new Float64Array(1_000_000)),
    observe: ({ value }) => ({ floats: value.length }),
    iteration: () => keep(spin(20_000)),
    extras: async ({ bytes }) => ({
      retainedBytes: bytes,
      ...(await compareInterleaved({
        ours: () => keep(spin(5_000)),
        reference: () => keep(spin(5_000)),
        rounds: 6,
      })),
    }),
  }),
  defineRatio({ of: 'demo/large', over: 'demo/allocates', metric: 'p50Ms', as: 'growth' }),
];

export default entries;
