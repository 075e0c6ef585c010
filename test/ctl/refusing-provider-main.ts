// A kit provider whose substrate refuses every machine while the file of `--refuse` is there: that is
// how a machine comes to Failed, and, the file gone, how it is used after an operator's reset.

import { existsSync } from 'node:fs';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Backend,
  type BackendContext,
  text,
  offeringSlots,
  ProviderError,
  runProvider,
} from '@bigfleet/providerkit';

const flags = {
  refuse: text('', 'Refuse machines while it exists.'),
};

const REFUSED = new ProviderError({
  class: 'config',
  op: 'RunInstances',
  vendorCode: 'Refused',
  message: 'the substrate refuses',
});

function substrate({
  provider,
  offerings,
  flags: { refuse },
}: BackendContext<typeof flags>): Backend {
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
    createInstance: async ({ operationId }) => {
      if (existsSync(refuse)) throw REFUSED;
      return { host: { provider, ref: `host-${operationId}` } };
    },
    configureInstance: async () => {},
    confirmNodeReady: async () => {},
    drainInstance: async () => {},
    deleteInstance: async () => {},
  };
}

process.exit(
  await runProvider({
    name: 'refusing',
    version: '0.0.0',
    flags,
    offerings: { capacityTypes: ['OnDemand'] },
    defaultMix: [{ instanceType: 'small', zone: 'a', capacityType: 'OnDemand' }],
    createBackend: (context) => ({ backend: substrate(context), priceOf: () => 1 }),
    runtime: realRuntime(),
    argv: process.argv.slice(2),
    env: process.env,
  }),
);
