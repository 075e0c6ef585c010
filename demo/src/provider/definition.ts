// A simulated provider as the kit's shared process runs it: everything but its backend, its prices, its
// spot market, what its machines run and how it is disturbed is what every provider has.

import { createRandom, type Runtime } from '@bigfleet/base';
import { Kubelets } from '@bigfleet/kube/testing';
import { type Flag, type ProviderDefinition, text } from '@bigfleet/providerkit';
import type { Logger } from '@bigfleet/telemetry';
import { serveCommands } from '../control/commands.ts';
import { connect } from '../kube/connect.ts';
import type { ProviderName } from '../places.ts';
import { DEFAULT_PROFILE, profiles } from '../profiles.ts';
import { SimulatedBackend } from './backend.ts';
import { Disturbances } from './disturbances.ts';
import { interruptSpotHosts } from './interruptions.ts';
import { Market } from './market.ts';
import { MachineNodes } from './nodes.ts';
import { Pace } from './pace.ts';
import { bucketsOf, priceOf } from './shapes.ts';
import { slotsOf } from './slots.ts';

const flags: {
  readonly seed: Flag<string>;
  readonly clusters: Flag<string>;
  readonly 'control-socket': Flag<string>;
} = {
  seed: text('0', 'Draws dwell times, failures and interruptions.', '<n>'),
  clusters: text('{}', 'Clusters that machines can join: id to kubeconfig, as JSON.', '<json>'),
  'control-socket': text('', 'Where it is told to misbehave; empty is nowhere.', '<file>'),
};

export function definitionOf(name: ProviderName): ProviderDefinition<typeof flags> {
  return {
    name: 'simulated',
    label: name,
    version: '0.1.0',
    flags,
    offerings: { capacityTypes: ['BareMetal', 'Reserved', 'OnDemand', 'Spot'] },
    defaultMix: bucketsOf(name, profiles[DEFAULT_PROFILE].slotsPerBucket),
    kit: {
      requireZone: true,
      // A zone that is lost sells nothing. Shards of the demo list in full, and see slots go.
      retireAbsentSlots: true,
      // The drain exceeds the longest grace of a shard.
      timeouts: { drain: 900_000 },
    },
    async createBackend({ runtime, logger, registry, offerings, flags: given }) {
      const interruptions = registry.counter({
        name: 'bigfleet_simulated_interruptions_total',
        help: 'Spot hosts that were taken back.',
      });
      const failures = registry.counter({
        name: 'bigfleet_simulated_failures_total',
        help: 'Transitions that were made to fail.',
      });
      const pace = new Pace(createRandom(given.seed).stream('provider').stream(name));
      const market = new Market();
      const { nodes, close } = await connectNodes(runtime, logger, given.clusters);
      const backend = new SimulatedBackend({
        runtime,
        label: name,
        slots: slotsOf(name, offerings),
        market,
        pace,
        nodes,
        // Metal that fails would take its rack from a gang, or be brought over from the other shard once
        // more: there is one move to watch.
        mayFail: name !== 'sim-metal',
        onFailure: () => failures.inc(),
      });
      const onInterrupted = (): void => interruptions.inc();
      return {
        backend,
        priceOf,
        watch: async (provider, signal) => {
          await using stack = new AsyncDisposableStack();
          stack.defer(close);
          const socket = given['control-socket'];
          if (socket !== '') {
            const disturbed = new Disturbances({ runtime, backend, market, provider, signal });
            const server = await serveCommands(socket, disturbed.commands);
            stack.defer(() => void server.close());
          }
          await Promise.all([
            nodes.run(signal),
            interruptSpotHosts({ runtime, pace, backend, onInterrupted }, provider, signal),
          ]);
        },
      };
    },
  };
}

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
