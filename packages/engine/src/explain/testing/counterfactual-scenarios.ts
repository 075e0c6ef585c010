// One small fleet per change that can help an unmet need, and the fleets where none does.

import { type CycleInput, heldOffKey } from '../../model/cycle.ts';
import { type Need, needKey } from '../../model/need.ts';
import { Operator, ZONE_KEY } from '../../model/requirement.ts';
import {
  acrossZones,
  cores,
  fleet,
  machine,
  machines,
  need,
  RACK_KEY,
} from '../../testing/build.ts';

export interface CounterfactualScenario {
  readonly name: string;
  readonly input: CycleInput;
  readonly about: Need;
  /** Codes of the changes in order, or the kind of answer that lists none. */
  readonly answer: readonly string[] | string;
}

const one = need({ cluster: 'a', wants: cores(1), unit: cores(1), priority: 5 });
const two = need({ cluster: 'a', wants: cores(2), unit: cores(1), priority: 5 });
const low = need({ cluster: 'l', wants: cores(1), unit: cores(1), priority: 1 });
const high = need({ cluster: 'h', wants: cores(1), unit: cores(1), priority: 9 });
const gang = need({ wants: cores(2), unit: cores(1), same: RACK_KEY, group: 'g1', priority: 5 });
const inZone2 = { key: ZONE_KEY, operator: Operator.In, values: ['z2'] };
const notZone1 = { key: ZONE_KEY, operator: Operator.NotIn, values: ['z1', 'z3'] };
const arm = { key: 'arch', operator: Operator.In, values: ['arm'] };
const hasGpu = { key: 'gpu', operator: Operator.Exists, values: [] };
const zoned = need({ wants: cores(1), requirements: [inZone2] });
const avoiding = need({ wants: cores(1), requirements: [notZone1] });
const withGpu = need({ wants: cores(1), requirements: [hasGpu] });
const anyArch = need({ cluster: 'h', wants: cores(1), priority: 9 });
const armOnly = need({ cluster: 'a', wants: cores(1), requirements: [arm], priority: 5 });
const spread = need({ wants: cores(5), unit: cores(1), spread: [acrossZones(1)] });
const pinned = need({ wants: cores(1), interruption: Number.POSITIVE_INFINITY });
const valued = need({ wants: cores(2), unit: cores(1), same: RACK_KEY, sameValues: ['r1'] });

export const counterfactualScenarios: readonly CounterfactualScenario[] = [
  {
    name: 'a drain that runs',
    input: fleet({
      needs: [one],
      machines: [machine({ id: 'd1', state: 'Draining', serves: low, price: 2 })],
    }),
    about: one,
    answer: ['wait_for_drain'],
  },
  {
    name: 'a preemption decided in this cycle',
    input: fleet({
      needs: [one, low],
      machines: [machine({ id: 'v1', state: 'Configured', serves: low })],
    }),
    about: one,
    answer: ['wait_for_drain'],
  },
  {
    name: 'a machine in creation for nobody in particular',
    input: fleet({ needs: [one], machines: [machine({ id: 'c1', state: 'Creating' })] }),
    about: one,
    answer: ['wait_for_create'],
  },
  {
    name: 'two more of quota, drawn by a higher need first',
    input: fleet({
      needs: [two, high],
      machines: machines(4, 'new', { state: 'Speculative', provider: 'p1' }),
      quota: { p1: 1 },
    }),
    about: two,
    answer: ['raise_quota'],
  },
  {
    name: 'another rack',
    input: fleet({
      needs: [valued],
      machines: [machine({ id: 'm1', rack: 'r1' }), ...machines(2, 'n', { rack: 'r2' })],
    }),
    about: valued,
    answer: ['relax_domain'],
  },
  {
    name: 'several racks',
    input: fleet({
      needs: [gang],
      machines: [machine({ id: 'm1', rack: 'r1' }), machine({ id: 'm2', rack: 'r2' })],
    }),
    about: gang,
    answer: ['relax_domain'],
  },
  {
    name: 'a spread as a wish',
    input: fleet({
      needs: [spread],
      machines: [machine({ id: 'x1', zone: 'z1' }), ...machines(4, 'y', { zone: 'z2' })],
    }),
    about: spread,
    answer: ['relax_domain'],
  },
  {
    name: 'another zone as well',
    input: fleet({ needs: [zoned], machines: [machine({ id: 'm1', zone: 'z1', price: 3 })] }),
    about: zoned,
    answer: ['relax_requirement'],
  },
  {
    name: 'one zone fewer to avoid',
    input: fleet({ needs: [avoiding], machines: [machine({ id: 'm1', zone: 'z1' })] }),
    about: avoiding,
    answer: ['relax_requirement'],
  },
  {
    name: 'a requirement that can only be dropped',
    input: fleet({ needs: [withGpu], machines: [machine({ id: 'm1' })] }),
    about: withGpu,
    answer: ['relax_requirement'],
  },
  {
    name: 'a higher priority takes from others',
    input: fleet({ needs: [one, high], machines: [machine({ id: 'm1' })] }),
    about: one,
    answer: ['raise_priority'],
  },
  {
    name: 'a higher priority preempts',
    input: fleet({
      needs: [one, high],
      machines: [machine({ id: 'v1', state: 'Configured', serves: high })],
    }),
    about: one,
    answer: ['raise_priority'],
  },
  {
    name: 'a price at which others choose another machine',
    input: fleet({
      needs: [armOnly, anyArch],
      machines: [
        machine({ id: 'arm1', labels: { arch: 'arm' }, price: 1 }),
        machine({ id: 'x1', price: 1.25 }),
      ],
    }),
    about: armOnly,
    answer: ['price_headroom', 'raise_priority', 'relax_requirement'],
  },
  {
    name: 'nothing is stable enough',
    input: fleet({ needs: [pinned], machines: [machine({ id: 'm1', probability: 0.1 })] }),
    about: pinned,
    answer: 'nothing_helps',
  },
  {
    name: 'a refused profile stays refused, whatever it is called',
    input: fleet({
      needs: [zoned],
      machines: [machine({ id: 'm1' }), machine({ id: 'm2', zone: 'z2' })],
      heldOff: [heldOffKey(zoned.cluster, zoned.profile.fingerprint)],
    }),
    about: zoned,
    answer: 'nothing_helps',
  },
  {
    name: 'an empty fleet',
    input: fleet({ needs: [one] }),
    about: one,
    answer: 'nothing_helps',
  },
  {
    name: 'parked, but there is room by now',
    input: fleet({
      needs: [gang],
      machines: machines(2, 'm', { rack: 'r1' }),
      memory: { parkingAges: new Map([[needKey(gang), 30]]), shortfalls: new Map() },
    }),
    about: gang,
    answer: 'no_change_needed',
  },
  {
    name: 'a gang that one machine holds',
    input: fleet({ needs: [gang], machines: [machine({ id: 'm1', has: cores(2), rack: 'r1' })] }),
    about: gang,
    answer: 'no_change_needed',
  },
  {
    name: 'nobody asked',
    input: fleet({ needs: [one] }),
    about: low,
    answer: 'unknown_need',
  },
];
