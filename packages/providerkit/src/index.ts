// What a provider author builds on: the backend interface, the contract around it, the stores.

export type {
  Backend,
  CleanupFailedOptions,
  ConfigureInstanceOptions,
  ConfirmNodeReadyOptions,
  CreatedInstance,
  CreateInstanceOptions,
  DeleteInstanceOptions,
  DescribeOptions,
  DrainInstanceOptions,
  Instance,
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
export * from './process/index.ts';
export * from './store/journal/index.ts';
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
