// The provider of the kill loop: the real kit over a substrate in memory that takes its time and
// writes each effect to a file when it happens. It is never killed, so whatever is there twice was
// asked for twice.

import { sleep } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  type Backend,
  type BackendContext,
  duration,
  text,
  offeringSlots,
  runProvider,
} from '@bigfleet/providerkit';
import { appendEffect, type EffectKind } from './effect-ledger.ts';

const flags = {
  work: duration('20ms', 'How long a call of the substrate takes.'),
  effects: text('', 'File that takes a line per effect.'),
};

interface Call {
  readonly machine: { readonly id: string };
  readonly operationId?: string;
  readonly signal: AbortSignal;
}

function substrate(context: BackendContext<typeof flags>): Backend {
  const { provider, offerings, runtime } = context;
  const { work, effects } = context.flags;
  const act = async (kind: EffectKind, { machine, operationId, signal }: Call): Promise<void> => {
    await sleep(runtime, work * (0.5 + runtime.random.float()), signal);
    appendEffect(effects, { kind, machineId: machine.id, operationId: operationId ?? '' });
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
    createInstance: async (call) => {
      await act('create', call);
      return { host: { provider, ref: `host-${call.operationId}` } };
    },
    configureInstance: (call) => act('configure', call),
    confirmNodeReady: async () => {},
    drainInstance: (call) => act('drain', call),
    deleteInstance: (call) => act('delete', call),
  };
}

process.exit(
  await runProvider({
    name: 'ledger',
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
