// Benches that must turn a run red, each in its own way.

import { type Bench, type BenchEntry, defineBench, keep } from '../../index.ts';

const good: Omit<Bench<null>, 'name'> = {
  shape: { machines: 5 },
  warmup: 0,
  iterations: 3,
  measureAllocations: false,
  setup: () => null,
  observe: () => ({ machines: 5 }),
  iteration() {
    let sum = 0;
    for (let step = 0; step < 100_000; step++) sum = (sum + step * step) % 1_000_003;
    keep(sum);
  },
};

const entries: readonly BenchEntry[] = [
  defineBench<null>({ ...good, name: 'bad/bar', bars: { p50Ms: { max: 0 } } }),
  defineBench<null>({ ...good, name: 'bad/unmeasured', bars: { 'extra.ratio': { min: 0.9 } } }),
  defineBench<null>({ ...good, name: 'bad/shape', observe: () => ({ machines: 4 }) }),
  defineBench<null>({ ...good, name: 'bad/short', iterations: 100, iteration: () => undefined }),
  defineBench<null>({
    ...good,
    name: 'bad/throws',
    iteration: () => {
      throw new Error('planted failure');
    },
  }),
  defineBench<null>({
    ...good,
    name: 'bad/hangs',
    timeoutMs: 1_500,
    // An armed timer keeps the loop alive: without it Node would exit by itself.
    iteration: () => new Promise<void>((resolve) => void setTimeout(resolve, 3_600_000)),
  }),
];

export default entries;
