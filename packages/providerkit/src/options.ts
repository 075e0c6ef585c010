// What an operator or author may tune, with the defaults of provider-contract §16.2. Times are milliseconds.

import type { OperationKind } from './model/machine.ts';
import type { ReadinessChecker } from './backend/readiness.ts';

export type TransitionTimeouts = Readonly<Record<OperationKind, number>>;

export interface KitOptions {
  /** Sized for the substrate's worst case. Drain is raised to the call's grace + 150 s. */
  readonly timeouts: TransitionTimeouts;
  /** True for every provider with more than one zone. */
  readonly requireZone: boolean;
  /** Bounds each describe. */
  readonly reconcileTimeoutMs: number;
  /** 0: only the reconcile at start and explicit ones. */
  readonly reconcileIntervalMs: number;
  /**
   * Removes Speculative slots that left the offering. Only where every shard lists in full: an
   * incremental List can't say "gone".
   */
  readonly retireAbsentSlots: boolean;
  readonly operationIdPrefix: string;
  /** Refuses negative epochs and sequences of a named shard; off, they are compared as signed. */
  readonly strictTokens: boolean;
  /** Refuses calls without a fencing token; off for certification. */
  readonly requireFence: boolean;
  /** How long a Failed machine stays before it is cleaned up; 0: never by itself. */
  readonly failedCleanupAfterMs: number;
  /** The readiness gate's source, unless the backend brings its own. */
  readonly readiness: ReadinessChecker | undefined;
  /** For the one look at a machine whose Configure was interrupted by a restart. */
  readonly readinessProbeTimeoutMs: number;
  /** Bytes of keys and values; beyond it Configure is an argument error. */
  readonly maxShardMetadataBytes: number;
  readonly maxBootstrapBlobBytes: number;
}

export const defaultOptions: KitOptions = {
  timeouts: { create: 300_000, configure: 300_000, drain: 600_000, delete: 300_000 },
  requireZone: false,
  reconcileTimeoutMs: 30_000,
  reconcileIntervalMs: 120_000,
  retireAbsentSlots: false,
  operationIdPrefix: 'op',
  strictTokens: false,
  requireFence: false,
  failedCleanupAfterMs: 600_000,
  readiness: undefined,
  readinessProbeTimeoutMs: 10_000,
  maxShardMetadataBytes: 4 * 1024 * 1024,
  maxBootstrapBlobBytes: 64 * 1024 * 1024,
};

/** Everything optional, timeouts one by one. */
export interface ProviderOptions extends Partial<Omit<KitOptions, 'timeouts'>> {
  readonly timeouts?: Partial<TransitionTimeouts>;
}

export function resolveOptions(options: ProviderOptions): KitOptions {
  return {
    ...defaultOptions,
    ...options,
    timeouts: { ...defaultOptions.timeouts, ...options.timeouts },
  };
}
