// The shared provider binary's public face: what a provider's main file and its backend use.

export type {
  BackendContext,
  BackendKind,
  BackendSetup,
  ProviderDefinition,
  Settings,
} from './definition.ts';
export { bootstrapFlags, type ReadinessSourceName } from './flags/common-flags.ts';
export {
  bytes,
  decimal,
  duration,
  type Flag,
  type FlagTable,
  type FlagValues,
  oneOf,
  text,
  texts,
  toggle,
  wholeNumber,
} from '@bigfleet/process/flags';
export { parseProviderFlags, type ProviderFlags } from './flags/provider-flags.ts';
export type { ApiMetrics } from './metrics/api-metrics.ts';
export type { MixBucket } from './offerings/default-mix.ts';
export { type Offering, type OfferingSlot, offeringSlots } from './offerings/offering.ts';
export type { OfferingRules } from './offerings/parse-offerings.ts';
export { runProvider, type RunProviderOptions } from './run-provider.ts';
export { type RunningProvider, type StartOptions, startProvider } from './start-provider.ts';
