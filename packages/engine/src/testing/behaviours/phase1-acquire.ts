// engine §12 Phase 1 for plain needs: which machines a need takes, and in which order.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CapacityType } from '../../model/capacity-type.ts';
import type { Machine } from '../../model/machine.ts';
import type { Need } from '../../model/need.ts';
import { Operator } from '../../model/requirement.ts';
import {
  cores,
  fleet,
  type FleetInit,
  machine,
  type MachineInit,
  need,
  one,
  resources,
  type RunCycle,
  told,
} from '../build.ts';

const PINNED = Number.POSITIVE_INFINITY;
const spot = (init: MachineInit): Machine =>
  machine({ capacityType: CapacityType.Spot, probability: 0.1, price: 1.8, ...init });
const speculative = (init: MachineInit): Machine => machine({ ...init, state: 'Speculative' });

interface AcquisitionCase {
  readonly name: string;
  readonly machines: readonly Machine[];
  readonly needs: readonly Need[];
  readonly fleet?: Omit<FleetInit, 'machines' | 'needs'>;
  readonly told: readonly string[];
}

const acquisitionCases: readonly AcquisitionCase[] = [
  {
    name: 'an Idle machine is bootstrapped',
    machines: [machine({ id: 'i1' })],
    needs: [one()],
    told: ['Bootstrap i1'],
  },
  {
    name: 'without Idle the cheapest effective cost is provisioned',
    machines: [speculative({ id: 's1', price: 3 }), speculative({ id: 's2', price: 2 })],
    needs: [one()],
    told: ['Provision s2'],
  },
  {
    name: 'a low penalty takes cheap spot',
    machines: [spot({ id: 'spot', state: 'Speculative' }), speculative({ id: 'stable', price: 6 })],
    needs: [one({ interruption: 4 })],
    told: ['Provision spot'],
  },
  {
    name: 'a high penalty takes on-demand over cheap spot',
    machines: [spot({ id: 'spot', state: 'Speculative' }), speculative({ id: 'stable', price: 6 })],
    needs: [one({ interruption: 64 })],
    told: ['Provision stable'],
  },
  {
    name: 'risk-free Idle beats cheaper Speculative',
    machines: [machine({ id: 'i1', price: 9 }), speculative({ id: 's1', price: 1 })],
    needs: [one({ interruption: 64 })],
    told: ['Bootstrap i1'],
  },
  {
    name: 'Idle is ordered by effective cost, not by price',
    machines: [spot({ id: 'cheap' }), machine({ id: 'stable', price: 2 })],
    needs: [one({ interruption: 64 })],
    told: ['Bootstrap stable'],
  },
  {
    name: 'Idle of equal cost: low reclamation penalty first, then id',
    machines: [
      machine({
        id: 'i1',
        assigned: { reclamationBucket: one({ reclamation: 8 }).profile.reclamationBucket },
      }),
      machine({ id: 'i3' }),
      machine({ id: 'i2' }),
    ],
    needs: [need({ wants: cores(3) })],
    told: ['Bootstrap i2', 'Bootstrap i3', 'Bootstrap i1'],
  },
  {
    name: 'Speculative of equal cost: by id, whatever it is stamped with',
    machines: [
      speculative({
        id: 's1',
        assigned: { reclamationBucket: one({ reclamation: 8 }).profile.reclamationBucket },
      }),
      speculative({ id: 's2' }),
    ],
    needs: [one()],
    told: ['Provision s1'],
  },
  {
    name: 'penalty 0 takes idle spot before cheaper stable Speculative',
    machines: [spot({ id: 'spot' }), speculative({ id: 'stable', price: 1 })],
    needs: [one()],
    told: ['Bootstrap spot'],
  },
  {
    name: 'a high penalty passes idle spot over, and returns to it when the rest is used up',
    machines: [
      spot({ id: 'spot1' }),
      spot({ id: 'spot2', price: 1 }),
      speculative({ id: 'stable', price: 6 }),
    ],
    needs: [need({ wants: cores(3), interruption: 64 })],
    told: ['Provision stable', 'Bootstrap spot2', 'Bootstrap spot1'],
  },
  {
    name: 'a high penalty returns to idle spot when the quota of the rest is spent',
    machines: [
      spot({ id: 'spot' }),
      speculative({ id: 's1', price: 6 }),
      speculative({ id: 's2', price: 6 }),
    ],
    needs: [need({ wants: cores(2), interruption: 64 })],
    fleet: { quota: { provider: 1 } },
    told: ['Provision s1', 'Bootstrap spot'],
  },
  {
    name: 'cheaper but riskier Speculative does not outbid Idle',
    machines: [
      spot({ id: 'idle', price: 5, probability: 0.1 }),
      spot({ id: 'spec', price: 1, probability: 0.2, state: 'Speculative' }),
    ],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'less risky but dearer Speculative does not outbid Idle',
    machines: [spot({ id: 'idle', price: 1 }), speculative({ id: 'stable', price: 9 })],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'equally risky Speculative does not outbid Idle',
    machines: [
      spot({ id: 'idle', price: 5 }),
      spot({ id: 'spec', price: 1, state: 'Speculative' }),
    ],
    needs: [one({ interruption: 4 })],
    told: ['Bootstrap idle'],
  },
  {
    name: 'step 2 takes a machine that outbids, not the cheapest',
    machines: [
      spot({ id: 'idle', price: 5, probability: 0.1 }),
      spot({ id: 'cheapest', price: 0.5, probability: 0.1, state: 'Speculative' }),
      speculative({ id: 'stable', price: 8 }),
    ],
    needs: [one({ interruption: 64 })],
    told: ['Provision stable'],
  },
  {
    name: 'Pinned and probability 0 is finite: cheapest stable machine first',
    machines: [machine({ id: 'i1', price: 3 }), machine({ id: 'i2', price: 2 })],
    needs: [need({ wants: cores(2), interruption: PINNED })],
    told: ['Bootstrap i2', 'Bootstrap i1'],
  },
  {
    name: 'higher priority wins a contested pool',
    machines: [machine({ id: 'i1' })],
    needs: [one({ cluster: 'low', priority: 1 }), one({ cluster: 'high', priority: 2 })],
    told: ['Bootstrap i1'],
  },
  {
    name: 'a machine too small for the unit is never claimed',
    machines: [machine({ id: 'small' }), machine({ id: 'large', has: cores(2), price: 9 })],
    needs: [need({ wants: cores(2), unit: cores(2) })],
    told: ['Bootstrap large'],
  },
  {
    name: 'a machine that contributes nothing is never claimed',
    machines: [machine({ id: 'disk', has: resources({ 'ephemeral-storage': 9 }), price: 0 })],
    needs: [one()],
    told: [],
  },
  {
    name: 'a machine that reduces no open dimension any more is not claimed',
    machines: [
      machine({ id: 'm1', has: resources({ cpu: 2000, memory: 1 }) }),
      machine({ id: 'm2', has: resources({ cpu: 2000 }), price: 2 }),
      machine({ id: 'm3', has: resources({ memory: 9 }), price: 3 }),
    ],
    needs: [need({ wants: resources({ cpu: 1000, memory: 5 }) })],
    told: ['Bootstrap m1', 'Bootstrap m3'],
  },
  {
    name: 'a machine of the wrong shape is never claimed',
    machines: [machine({ id: 'std' }), machine({ id: 'gpu', labels: { gpu: 'a100' }, price: 9 })],
    needs: [one({ requirements: [{ key: 'gpu', operator: Operator.In, values: ['a100'] }] })],
    told: ['Bootstrap gpu'],
  },
  {
    name: 'withheld machines are in no pool',
    machines: [
      machine({ id: 'i1', withheld: 'transfer_reserved' }),
      speculative({ id: 's1', withheld: 'not_owned' }),
      speculative({ id: 's2', price: 9 }),
    ],
    needs: [one()],
    told: ['Provision s2'],
  },
  {
    name: 'memory above 8 TiB is exact: one KiB short is short',
    machines: [
      machine({ id: 'm1', has: resources({ memory: 2 ** 34 }) }),
      machine({ id: 'm2', has: resources({ memory: 1 }), price: 2 }),
      machine({ id: 'm3', has: resources({ memory: 1 }), price: 3 }),
    ],
    needs: [need({ wants: resources({ memory: 2 ** 34 + 1 }) })],
    told: ['Bootstrap m1', 'Bootstrap m2'],
  },
  {
    name: 'nothing is demanded, nothing is done',
    machines: [machine({ id: 'i1' }), speculative({ id: 's1' })],
    needs: [need({ wants: resources({}) })],
    told: [],
  },
];

export function describeAcquisition(run: RunCycle): void {
  describe('phase 1, what is acquired', () => {
    for (const entry of acquisitionCases) {
      test(entry.name, () => {
        const input = fleet({ ...entry.fleet, machines: entry.machines, needs: entry.needs });
        assert.deepEqual(told(run(input)), entry.told);
        const mirrored = {
          ...input,
          machines: input.machines.toReversed(),
          needs: input.needs.toReversed(),
        };
        assert.deepEqual(told(run(mirrored)), entry.told, 'input order must not matter');
      });
    }
  });
}
