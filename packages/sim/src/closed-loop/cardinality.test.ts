// Proves that thousands of gang needs come to rest, and, for deciders that claim to be fast, that
// sixty cycles of them fit into ten seconds of one core. Processor time stands for wall time: on
// one core they are the same, and a busy machine does not make the test lie.

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
const CPU_BAR_MS = 10_000;

test('full size is 2,580 needs', () => assert.equal(needCountOf(fullCardinality), 2580));

for (const { name, decide, isFast } of deciders) {
  const size = isFast ? fullCardinality : reducedCardinality;
  test(`${needCountOf(size)} needs converge (${name})`, (context) => {
    const loop = new ClosedLoop(cardinalityPlan(size), { decide });
    const start = process.cpuUsage();
    loop.run(CYCLES);
    const { user, system } = process.cpuUsage(start);
    const cpuMs = (user + system) / 1000;
    const { size: machineCount } = loop.provider;
    context.diagnostic(`${CYCLES} cycles over ${machineCount} machines in ${cpuMs.toFixed(0)} ms`);
    expectEqual(loop, loop.lastStep?.input.needs.length, needCountOf(size), 'needs');
    expectConverged(loop, 30);
    expectEqual(loop, lastOf(loop).shortfalls, 0, 'shortfalls');
    expectEqual(loop, lastOf(loop).pendingPods, 0, 'pending Pods');
    if (isFast) assert.ok(cpuMs <= CPU_BAR_MS, `${cpuMs} ms of one core`);
  });
}
