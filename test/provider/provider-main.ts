// The provider that tests start as a process of its own: the real kit, store and process surface
// over a substrate in memory. Calls of the substrate take `--work`, so that signals and kills find
// work under way. After a restart it remembers the nodes of machines with an even number only, so
// that both ends of an interrupted Configure are met. The journal is compacted after a few
// kilobytes, so that kills find that too. SIGUSR2 finishes the calls of the substrate, those under way
// and those that follow, so that a test decides when work ends.

import { sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Backend,
  type BackendContext,
  duration,
  offeringSlots,
  runProvider,
} from '@bigfleet/providerkit';

const flags = {
  work: duration('2ms', 'How long a call of the substrate takes.'),
};

function substrate(context: BackendContext<typeof flags>): Backend {
  const { provider, offerings, runtime } = context;
  const joined = new Set<string>();
  const finished = new AbortController();
  process.on('SIGUSR2', () => finished.abort());
  const work = async (signal: AbortSignal): Promise<void> => {
    const ms = context.flags.work * (0.5 + runtime.random.float());
    const either = AbortSignal.any([signal, finished.signal]);
    await sleep(runtime, ms, either).catch((error: unknown) => {
      if (!finished.signal.aborted) throw error;
    });
  };
  const slots = [...offeringSlots(provider, offerings)].map(({ id, offering }) => ({
    id,
    instanceType: offering.instanceType,
    zone: offering.zone,
    capacityType: offering.capacityType,
    pricePerHour: 1,
    interruptionProbability: 0,
    resources: offering.resources,
  }));
  return {
    describe: async () => slots,
    createInstance: async ({ operationId, signal }) => {
      await work(signal);
      return { host: { provider, ref: `host-${operationId}` } };
    },
    configureInstance: async ({ machine, signal }) => {
      await work(signal);
      joined.add(machine.id);
    },
    confirmNodeReady: async ({ machine }) => {
      const isRemembered = /[02468]$/.test(machine.id);
      if (!isRemembered && !joined.has(machine.id)) throw new Error('no node of this machine');
    },
    drainInstance: ({ signal }) => work(signal),
    deleteInstance: ({ signal }) => work(signal),
  };
}

process.exit(
  await runProvider({
    name: 'test',
    version: '0.0.0',
    flags,
    offerings: { capacityTypes: ['OnDemand'] },
    defaultMix: [{ instanceType: 'small', zone: 'a', capacityType: 'OnDemand' }],
    kit: { timeouts: { drain: 900_000 } },
    journal: { minCompactBytes: 16_384 },
    createBackend: (context) => ({ backend: substrate(context), priceOf: () => 1 }),
    runtime: realRuntime(),
    argv: process.argv.slice(2),
    env: process.env,
  }),
);
