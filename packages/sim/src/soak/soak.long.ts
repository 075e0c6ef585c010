// Proves the soak's invariants over its full length, and that memory does not grow with cycles:
// the heap after a forced collection at 50 % and 100 % is within 5 % of that at 10 %.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { realRuntime } from '@bigfleet/base/real';
import { type Dwell, instant } from '../provider/provider-model.ts';
import { printSeed, SOAK_SEED } from '../seeds.ts';
import { deciders } from '../testing/deciders.ts';
import { Soak } from './testing/soak.ts';

/** 50,000 and 50 nightly. */
const CYCLES = Number(process.env['BIGFLEET_SOAK_CYCLES'] ?? 10_000);
const CLUSTERS = Number(process.env['BIGFLEET_SOAK_CLUSTERS'] ?? 30);
const SEED = BigInt(process.env['BIGFLEET_SEED'] ?? SOAK_SEED);
const TIME_BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);
const SETTLE_CYCLES = 100;
const HEAP_TOLERANCE = 0.05;

const staged: Dwell = { createCycles: 3, configureCycles: 2, drainCycles: 4, deleteCycles: 1 };
const modes = [
  ['instant', instant],
  ['staged', staged],
] as const;

const decider = deciders.find(({ isFast }) => isFast) ?? deciders[0];
const { clock } = realRuntime();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

for (const [mode, dwell] of modes) {
  test(`soak of ${CYCLES} cycles, ${mode} (${decider?.name}, ${printSeed(SEED)})`, (context) => {
    assert.ok(decider !== undefined);
    const soak = new Soak({ decide: decider.decide, dwell, seed: SEED, clusterCount: CLUSTERS });
    const marks = new Map([
      [Math.ceil(CYCLES * 0.1), 0],
      [Math.ceil(CYCLES * 0.5), 0],
    ]);
    const boxMs = TIME_BOX_MS / modes.length;
    const startMs = clock.monotonicMs();
    while (soak.cycle < CYCLES && clock.monotonicMs() - startMs < boxMs) {
      soak.runCycle();
      if (marks.has(soak.cycle)) marks.set(soak.cycle, heapBytes());
    }
    const done = soak.cycle;
    const heaps = [...marks.values(), heapBytes()].filter((bytes) => bytes > 0);
    context.diagnostic(`${done} of ${CYCLES} cycles, ${soak.actionCount} actions`);
    context.diagnostic(
      `heap after collection: ${heaps.map((bytes) => (bytes / 1e6).toFixed(1)).join(', ')} MB`,
    );
    soak.settle(SETTLE_CYCLES);
    assert.deepEqual(soak.endViolations(), [], printSeed(SEED));
    const [first = 0] = heaps;
    for (const bytes of heaps) {
      const growth = (bytes - first) / first;
      assert.ok(
        growth <= HEAP_TOLERANCE,
        `heap grew by ${(growth * 100).toFixed(1)} %, ${printSeed(SEED)}`,
      );
    }
  });
}
