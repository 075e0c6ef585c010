// What a provider author builds on: the backend interface, the contract around it, the stores.

export {
  type Backend,
  type CleanupFailedOptions,
  type ConfigureInstanceOptions,
  type ConfirmNodeReadyOptions,
  type CreatedInstance,
  type CreateInstanceOptions,
  type DeleteInstanceOptions,
  type DescribeOptions,
  type DrainInstanceOptions,
  type Instance,
} from './backend/backend.ts';
export {
  type ErrorClass,
  ProviderError,
  type ProviderErrorOptions,
} from './backend/provider-error.ts';
export { type ReadinessChecker, trustJoinHook } from './backend/readiness.ts';
export { createProvider } from './create-provider.ts';
export type {
  CapacityTypeName,
  HostRef,
  MachineRecord,
  MachineStateName,
  OperationKind,
} from './model/machine.ts';
export type {
  KitObserver,
  NotReadyReason,
  ReconcileOutcome,
  TransitionOutcome,
} from './observer.ts';
export {
  defaultOptions,
  type KitOptions,
  type ProviderOptions,
  type TransitionTimeouts,
} from './options.ts';
export type {
  CreateProviderOptions,
  HostLossOutcome,
  InterruptionEvent,
  InterruptionNotice,
  InterruptionOutcome,
  Provider,
  ReconcileReport,
  ResetOutcome,
  ShutdownReport,
} from './provider.ts';
export type {
  BackendContext,
  BackendKind,
  BackendSetup,
  ProviderDefinition,
  Settings,
  StartOptions,
} from './process/definition.ts';
export { bootstrapFlags, type ReadinessSourceName } from './process/common-flags.ts';
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
export { parseProviderFlags, type ProviderFlags } from './process/provider-flags.ts';
export type { ApiMetrics } from './process/metrics/api-metrics.ts';
export {
  type MixBucket,
  type Offering,
  type OfferingSlot,
  offeringSlots,
} from './process/offerings/offering.ts';
export type { OfferingRules } from './process/offerings/parse-offerings.ts';
export { runProvider, type RunProviderOptions } from './process/run-provider.ts';
export { type RunningProvider, startProvider } from './process/start-provider.ts';
export { createJournalStore, type JournalStoreOptions } from './store/journal/journal-store.ts';
export type { CommittedBatch, JournalLimits, JournalObserver } from './store/journal/options.ts';
export {
  forecastInterruption,
  type FrequencyBucket,
  hourlyProbability,
} from './upkeep/interruption-forecast.ts';
export { MemoryStore } from './store/memory-store.ts';
export type {
  FenceMark,
  Store,
  StoreChange,
  StoredOperation,
  StoreImage,
} from './store/store.ts';
