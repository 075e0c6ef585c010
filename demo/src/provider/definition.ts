// The simulated provider as the kit's shared process runs it: everything but its backend, its prices
// and its spot market is what every provider has.

import { createRandom } from '@bigfleet/base';
import { type Flag, offeringSlots, type ProviderDefinition, text } from '@bigfleet/providerkit';
import { SimulatedBackend } from './backend.ts';
import { interruptSpotHosts } from './interruptions.ts';
import { Pace } from './pace.ts';
import { mix, priceOf } from './shapes.ts';

const flags: { readonly seed: Flag<string> } = {
  seed: text('0', 'Draws dwell times, failures and interruptions.', '<n>'),
};

export const definition: ProviderDefinition<typeof flags> = {
  name: 'simulated',
  version: '0.1.0',
  flags,
  offerings: { capacityTypes: ['BareMetal', 'OnDemand', 'Spot'] },
  defaultMix: mix,
  // The drain exceeds the longest grace of a shard.
  kit: { requireZone: true, timeouts: { drain: 900_000 } },
  createBackend({ runtime, registry, provider: label, offerings, flags: { seed } }) {
    const interruptions = registry.counter({
      name: 'bigfleet_simulated_interruptions_total',
      help: 'Spot hosts that were taken back.',
    });
    const failures = registry.counter({
      name: 'bigfleet_simulated_failures_total',
      help: 'Transitions that were made to fail.',
    });
    const pace = new Pace(createRandom(seed).stream('provider'));
    const slots = [...offeringSlots(label, offerings)];
    const onFailure = (): void => failures.inc();
    const backend = new SimulatedBackend({ runtime, label, slots, pace, onFailure });
    const onInterrupted = (): void => interruptions.inc();
    return {
      backend,
      priceOf,
      watch: (provider, signal) =>
        interruptSpotHosts({ runtime, pace, backend, onInterrupted }, provider, signal),
    };
  },
};
