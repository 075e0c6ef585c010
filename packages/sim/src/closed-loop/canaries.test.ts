// Proves that the loop sees the cascades which its fixes prevent: each canary shows its pathology,
// and its repaired twin comes to rest.

import { test } from 'node:test';
import { deciders } from '../testing/deciders.ts';
import {
  BARE_PODS_CYCLES,
  BARE_PODS_SURPLUS_MACHINES,
  barePods,
  controlledPods,
  requestPerPod,
  SUPPLY_EXHAUSTION_CYCLES,
  supplyExhaustion,
  UNMET_ONLY_CYCLES,
  unmetOnlyRequests,
} from './canaries.ts';
import { ClosedLoop } from './closed-loop.ts';
import { total } from './stats.ts';
import {
  DWELLS,
  expectConverged,
  expectEqual,
  expectTotal,
  expectTrue,
  lastOf,
  printDwell,
} from './testing/expect.ts';

const CLUSTERS = 2;
const DENSITY = 10;
const PODS = 400;

for (const { name, decide } of deciders) {
  for (const dwell of DWELLS) {
    const under = `${name}, ${printDwell(dwell)}`;

    test(`bare Pods: a small surplus cascades (${under})`, () => {
      const loop = new ClosedLoop({ ...barePods, ...dwell }, { decide }).run(BARE_PODS_CYCLES);
      const surplusPods = CLUSTERS * BARE_PODS_SURPLUS_MACHINES * DENSITY;
      const destroyed = PODS - lastOf(loop).livePods;
      expectTrue(loop, destroyed >= 2 * surplusPods, `destroyed only ${destroyed} Pods`);
      const reclaiming = loop.stats.filter(({ reclaims }) => reclaims > 0).length;
      expectTrue(loop, reclaiming >= 5, `reclaims in only ${reclaiming} cycles`);
    });

    test(`controlled Pods: the surplus is shed once, nobody dies for good (${under})`, () => {
      const loop = new ClosedLoop({ ...controlledPods, ...dwell }, { decide });
      loop.run(BARE_PODS_CYCLES);
      expectConverged(loop, 60);
      expectTotal(loop, 'reclaims', CLUSTERS * BARE_PODS_SURPLUS_MACHINES);
      expectEqual(loop, lastOf(loop).livePods, PODS, 'live Pods');
      expectEqual(loop, lastOf(loop).boundPods, PODS, 'bound Pods');
    });

    test(`a request per Pod: converges (${under})`, () => {
      const loop = new ClosedLoop({ ...requestPerPod, ...dwell }, { decide });
      loop.run(UNMET_ONLY_CYCLES);
      expectConverged(loop, 60);
      expectTotal(loop, 'reclaims', 0);
      expectEqual(loop, lastOf(loop).boundPods, PODS, 'bound Pods');
    });

    test(`supply exhaustion: a constant shortfall and no churn (${under})`, () => {
      const loop = new ClosedLoop({ ...supplyExhaustion, ...dwell }, { decide });
      loop.run(SUPPLY_EXHAUSTION_CYCLES);
      expectConverged(loop, 100);
      expectTotal(loop, 'reclaims', 0);
      expectEqual(loop, lastOf(loop).shortfalls, 2, 'shortfalls');
      expectTrue(loop, lastOf(loop).pendingPods > 0, 'nobody waits');
    });
  }

  test(`requests for unmet demand only: machines circle (${name})`, () => {
    const loop = new ClosedLoop(unmetOnlyRequests, { decide }).run(UNMET_ONLY_CYCLES);
    const window = loop.stats.slice(-60);
    const acquired = total(window, 'bootstraps') + total(window, 'provisions');
    expectTrue(loop, total(window, 'reclaims') >= 100, 'too few reclaims');
    expectTrue(loop, acquired >= 100, 'too few acquisitions');
  });

  for (const dwell of DWELLS.slice(1)) {
    // With dwell the circle can freeze half-way: pending Pods are credited with the machines that
    // bound Pods fill, and wait for ever without a shortfall. Either way the fleet is not at work.
    test(`requests for unmet demand only: never at work (${name}, ${printDwell(dwell)})`, () => {
      const loop = new ClosedLoop({ ...unmetOnlyRequests, ...dwell }, { decide });
      loop.run(UNMET_ONLY_CYCLES);
      expectTrue(loop, total(loop.stats, 'reclaims') >= 40, 'bound machines were left alone');
      const idlePods = loop.stats.slice(-60).reduce((sum, { pendingPods }) => sum + pendingPods, 0);
      expectTrue(loop, idlePods / 60 >= PODS / 4, 'Pods hardly wait');
    });
  }
}
