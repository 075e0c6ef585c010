// Proves that thousands of gang needs come to rest. What a cycle over this mix costs is the bar of
// `engine/cycle/local-5k` in bench/.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deciders } from '../testing/deciders.ts';
import { ClosedLoop } from './closed-loop.ts';
import { expectConverged, expectEqual, lastOf } from './testing/expect.ts';
import {
  cardinalityPlan,
  fullCardinality,
  needCountOf,
  reducedCardinality,
} from './testing/cardinality.ts';

const CYCLES = 60;

test('full size is 2,580 needs', () => assert.equal(needCountOf(fullCardinality), 2580));

for (const { name, decide, isFast } of deciders) {
  const size = isFast ? fullCardinality : reducedCardinality;
  test(`${needCountOf(size)} needs converge (${name})`, () => {
    const loop = new ClosedLoop(cardinalityPlan(size), { decide });
    loop.run(CYCLES);
    expectEqual(loop, loop.lastStep?.input.needs.length, needCountOf(size), 'needs');
    expectConverged(loop, 30);
    expectEqual(loop, lastOf(loop).shortfalls, 0, 'shortfalls');
    expectEqual(loop, lastOf(loop).pendingPods, 0, 'pending Pods');
  });
}
