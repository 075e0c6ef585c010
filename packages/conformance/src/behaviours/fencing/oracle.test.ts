// Proves that the fencing oracle agrees with the wire's own fence on any stream, and that the
// generators stay in their ranges, never go negative, and reach both verdicts often.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { checkFence, type FenceMark } from '@bigfleet/wire';
import fc from 'fast-check';
import { biasedToMark, nearMark, PairOracle, type Stamp } from './oracle.ts';

const stamps = fc
  .tuple(fc.bigInt(0n, 4n), fc.bigInt(0n, 6n))
  .map(([epoch, sequence]) => ({ epoch, sequence }));

test('the oracle accepts exactly what the fence of the wire passes', () => {
  fc.assert(
    fc.property(fc.array(stamps, { maxLength: 40 }), (stream) => {
      const oracle = new PairOracle();
      let mark: FenceMark | undefined;
      for (const stamp of stream) {
        const token = { shardId: 's', shardEpoch: stamp.epoch, sequenceNumber: stamp.sequence };
        const verdict = checkFence(token, mark);
        if (verdict.kind === 'passed') mark = verdict.mark;
        assert.equal(oracle.accepts(stamp), verdict.kind === 'passed');
        assert.deepEqual(
          oracle.mark,
          mark && { epoch: mark.shardEpoch, sequence: mark.sequenceNumber },
        );
      }
    }),
    { numRuns: 300 },
  );
});

interface Stream {
  readonly stamps: readonly Stamp[];
  readonly acceptedCount: number;
}

function streamOf(
  seed: number,
  steps: number,
  generate: (random: Random, mark: Stamp | undefined) => Stamp,
): Stream {
  const random = createRandom(BigInt(seed));
  const oracle = new PairOracle();
  const drawn: Stamp[] = [];
  let acceptedCount = 0;
  for (let step = 0; step < steps; step++) {
    const stamp = generate(random, oracle.mark);
    drawn.push(stamp);
    if (oracle.accepts(stamp)) acceptedCount++;
  }
  return { stamps: drawn, acceptedCount };
}

for (const [name, steps, generate] of [
  ['B312', 200, nearMark],
  ['B1201', 240, biasedToMark],
] as const) {
  test(`${name}: any seed gives legal tokens and a good share of both verdicts`, () => {
    for (let seed = 0; seed < 200; seed++) {
      const { stamps: drawn, acceptedCount } = streamOf(seed, steps, generate);
      assert.ok(
        drawn.every(({ epoch, sequence }) => epoch >= 0n && sequence >= 0n),
        `seed ${seed} drew a negative component`,
      );
      const share = acceptedCount / steps;
      assert.ok(share > 0.1 && share < 0.9, `seed ${seed}: ${acceptedCount} of ${steps} accepted`);
    }
  });
}

test('B312: tokens lie within their distance of the mark', () => {
  const random = createRandom(3n);
  const mark = { epoch: 100n, sequence: 100n };
  for (let draw = 0; draw < 2_000; draw++) {
    const { epoch, sequence } = nearMark(random, mark);
    assert.ok(epoch >= 99n && epoch <= 102n && sequence >= 97n && sequence <= 104n);
    const first = nearMark(random, undefined);
    assert.ok(first.epoch <= 2n && first.sequence <= 2n);
  }
});
