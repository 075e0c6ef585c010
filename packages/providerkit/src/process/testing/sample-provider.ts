// A small provider for tests of the process around it: an in-memory substrate whose every answer a
// test may replace.

import { type Flag, text } from '@bigfleet/process/flags';
import type { Backend } from '../../backend/backend.ts';
import type { BackendContext, BackendSetup, ProviderDefinition, Settings } from '../definition.ts';
import { offeringSlots } from '../offerings/offering.ts';

const PRICE = 0.5;

export type SampleFlags = {
  readonly region: Flag<string>;
};

const sampleFlags: SampleFlags = {
  region: text('', 'Where machines run.'),
};

export type SampleDefinition = ProviderDefinition<SampleFlags>;

export interface SampleOverrides extends Partial<SampleDefinition> {
  readonly backend?: Partial<Backend>;
  /** False: only the fake exists. */
  readonly hasRealBackend?: boolean;
}

export function sampleDefinition(overrides: SampleOverrides = {}): SampleDefinition {
  const { backend, hasRealBackend = true, ...definition } = overrides;
  return {
    name: 'sample',
    version: '1.2.3',
    flags: sampleFlags,
    offerings: { capacityTypes: ['OnDemand', 'Spot', 'BareMetal'] },
    defaultMix: [
      { instanceType: 'small', zone: 'a', capacityType: 'OnDemand' },
      { instanceType: 'large', zone: 'b', capacityType: 'Spot' },
    ],
    kit: { timeouts: { drain: 900_000 } },
    ...(hasRealBackend ? { missingConfiguration } : {}),
    createBackend: (context) => sampleSetup(context, backend),
    ...definition,
  };
}

function missingConfiguration({ flags }: Settings<SampleFlags>): readonly string[] {
  return flags.region === '' ? ['--region'] : [];
}

export function sampleSetup(
  { provider, offerings }: Pick<BackendContext, 'provider' | 'offerings'>,
  overrides: Partial<Backend> = {},
): BackendSetup {
  const instances = [...offeringSlots(provider, offerings)].map(({ id, offering }) => ({
    id,
    instanceType: offering.instanceType,
    zone: offering.zone,
    capacityType: offering.capacityType,
    pricePerHour: offering.pricePerHour ?? PRICE,
    interruptionProbability: offering.capacityType === 'Spot' ? 0.01 : 0,
    resources: offering.resources,
    labels: offering.labels,
  }));
  return {
    priceOf: () => PRICE,
    backend: {
      describe: async () => instances,
      createInstance: async ({ machine }) => ({ host: { provider, ref: `host of ${machine.id}` } }),
      configureInstance: async () => {},
      drainInstance: async () => {},
      deleteInstance: async () => {},
      ...overrides,
    },
  };
}
