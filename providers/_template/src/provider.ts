// What this provider says about itself. A copy starts here: say what the substrate really delivers
// and what it costs, then replace the memory substrate by a client of yours.
//
// There is no real backend yet, so only --use-fake-backend starts it: a provider never falls back
// to imaginary machines by itself.

import path from 'node:path';
import type { ProviderDefinition } from '@bigfleet/providerkit';
import { SubstrateBackend } from './backend.ts';
import { MemorySubstrate } from './memory-substrate.ts';
import { priceOf } from './shapes.ts';

export const provider: ProviderDefinition = {
  // The folder's name: binary, flags and metrics are named after it.
  name: path.basename(path.resolve(import.meta.dirname, '..')).replace(/^_/, ''),
  version: '0.1.0',
  label: 'example',
  offerings: { capacityTypes: ['OnDemand', 'Spot'] },
  defaultMix: [
    { instanceType: 'example-standard-4', zone: 'example-zone-a', capacityType: 'OnDemand' },
    { instanceType: 'example-standard-4', zone: 'example-zone-b', capacityType: 'OnDemand' },
    { instanceType: 'example-standard-8', zone: 'example-zone-a', capacityType: 'Spot' },
  ],
  // Sized for the substrate's worst case; the drain exceeds the longest grace of a shard.
  kit: { requireZone: true, timeouts: { drain: 900_000 } },
  createBackend: ({ provider: label, offerings, runtime }) => ({
    backend: new SubstrateBackend({
      label,
      offerings,
      substrate: new MemorySubstrate(runtime.timers),
    }),
    priceOf,
  }),
};
