// Proves that the share of records is read right where it once was not: when one of the two heaps
// is slower, when whoever goes second is slower, and when a collection lands on some rounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, type RecordSide, recordShare } from './record-share.ts';

const CYCLE_MS = 10;
const RECORD_MS = 1;

interface Disturbance {
  /** What the second heap costs more. */
  readonly slowerHeapMs?: number;
  /** What the second cycle of a round costs more. */
  readonly secondMs?: number;
  /** Every so many cycles one costs 100 ms more. */
  readonly spikeEvery?: number;
  /** Every so many cycles of either side one does not count. */
  readonly apartEvery?: number;
}

function measured(rounds: number, disturbance: Disturbance): ReturnType<typeof recordShare> {
  let spentMs = 0;
  let cycles = 0;
  const side = (heapMs: number): RecordSide => {
    let own = 0;
    return {
      prepare() {
        own += 1;
      },
      decide(hasRecords) {
        cycles += 1;
        const isSpike = cycles % (disturbance.spikeEvery ?? Number.POSITIVE_INFINITY) === 0;
        spentMs = CYCLE_MS + heapMs + (hasRecords ? RECORD_MS : 0) + (isSpike ? 100 : 0);
        if (cycles % 2 === 0) spentMs += disturbance.secondMs ?? 0;
        return own % (disturbance.apartEvery ?? Number.POSITIVE_INFINITY) !== 0;
      },
    };
  };
  const clock: Clock = (work) => (work() ? spentMs : undefined);
  return recordShare([side(0), side(disturbance.slowerHeapMs ?? 0)], rounds, clock);
}

const cases: readonly { name: string; disturbance: Disturbance; cycleMs: number }[] = [
  { name: 'undisturbed', disturbance: {}, cycleMs: 11 },
  { name: 'one heap is slower', disturbance: { slowerHeapMs: 4 }, cycleMs: 13 },
  { name: 'the second of a round is slower', disturbance: { secondMs: 2 }, cycleMs: 12 },
  { name: 'one round in 20 is hit', disturbance: { spikeEvery: 41 }, cycleMs: 11 },
  { name: 'some cycles do not count', disturbance: { apartEvery: 7 }, cycleMs: 11 },
];

for (const { name, disturbance, cycleMs } of cases) {
  test(`the share is what records cost: ${name}`, () => {
    const { recordShare: share, recordMs, recordShareError } = measured(400, disturbance);
    assert.ok(Math.abs(recordMs - RECORD_MS) < 0.05, `${recordMs} ms`);
    assert.ok(Math.abs(share - RECORD_MS / cycleMs) < 0.005, `${share}`);
    assert.ok(recordShareError < 0.03, `± ${recordShareError}`);
  });
}

test('few rounds that disagree say so', () => {
  assert.ok(measured(12, { spikeEvery: 5 }).recordShareError > 0.1);
});
