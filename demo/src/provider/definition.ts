// The simulated provider as the kit's shared process runs it: everything but its backend, its prices,
// its spot market and what its machines run is what every provider has.

import { createRandom, type Runtime } from '@bigfleet/base';
import { Kubelets } from '@bigfleet/kube/testing';
import { type Flag, offeringSlots, type ProviderDefinition, text } from '@bigfleet/providerkit';
import type { Logger } from '@bigfleet/telemetry';
import { connect } from '../kube/connect.ts';
import { PROVIDER } from '../places.ts';
import { SimulatedBackend } from './backend.ts';
import { interruptSpotHosts } from './interruptions.ts';
import { MachineNodes } from './nodes.ts';
import { Pace } from './pace.ts';
import { mix, priceOf } from './shapes.ts';

const flags: { readonly seed: Flag<string>; readonly clusters: Flag<string> } = {
  seed: text('0', 'Draws dwell times, failures and interruptions.', '<n>'),
  clusters: text('{}', 'Clusters that machines can join: id to kubeconfig, as JSON.', '<json>'),
};

export const definition: ProviderDefinition<typeof flags> = {
  name: PROVIDER,
  version: '0.1.0',
  flags,
  offerings: { capacityTypes: ['BareMetal', 'OnDemand', 'Spot'] },
  defaultMix: mix,
  // The drain exceeds the longest grace of a shard.
  kit: { requireZone: true, timeouts: { drain: 900_000 } },
  async createBackend({ runtime, logger, registry, provider: label, offerings, flags: given }) {
    const { seed, clusters } = given;
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
    const { nodes, close } = await connectNodes(runtime, logger, clusters);
    const backend = new SimulatedBackend({ runtime, label, slots, pace, nodes, onFailure });
    const onInterrupted = (): void => interruptions.inc();
    return {
      backend,
      priceOf,
      watch: async (provider, signal) => {
        const market = { runtime, pace, backend, onInterrupted };
        try {
          await Promise.all([nodes.run(signal), interruptSpotHosts(market, provider, signal)]);
        } finally {
          close();
        }
      },
    };
  },
};

async function connectNodes(
  runtime: Runtime,
  logger: Logger,
  clusters: string,
): Promise<{ readonly nodes: MachineNodes; readonly close: () => void }> {
  const files = Object.entries(JSON.parse(clusters) as Readonly<Record<string, string>>);
  const clients = await Promise.all(
    files.map(async ([cluster, kubeconfig]) => {
      const client = await connect({ runtime, kubeconfig, name: 'demo-kubelet' });
      return { cluster, client };
    }),
  );
  const nodes = new MachineNodes((signal) => {
    const kubelets = clients.map(({ cluster, client }) => {
      const onProblem = (err: string): void => logger.warn('kubelet', { cluster, err });
      return [cluster, new Kubelets({ runtime, client, signal, onProblem })] as const;
    });
    return new Map(kubelets);
  });
  const close = (): void => {
    for (const { client } of clients) client.transport.close();
  };
  return { nodes, close };
}
