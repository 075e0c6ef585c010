// The public face of a running provider, and how one is made. Wiring only: the rules live beside
// their subjects (call/, work/, list/, upkeep/).

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { CapacityProvider, Handlers, ProviderAdmin } from '@bigfleet/wire';
import type { Backend } from './backend/backend.ts';
import type { MachineRecord } from './model/machine.ts';
import type { KitObserver, NotReadyReason, ReconcileOutcome } from './observer.ts';
import type { ProviderOptions } from './options.ts';
import type { Store } from './store/store.ts';

export interface CreateProviderOptions {
  readonly backend: Backend;
  readonly store: Store;
  readonly runtime: Runtime;
  readonly options?: ProviderOptions;
  readonly observer?: KitObserver;
  readonly logger: Logger;
}

export interface ReconcileReport {
  /** `skipped`: another one is running. `error`: describe failed; nothing was concluded from it. */
  readonly outcome: ReconcileOutcome;
  readonly addedCount: number;
  readonly refreshedCount: number;
  readonly invalidCount: number;
  readonly lostCount: number;
}

/** `ignored`: unknown id, no host to lose, or a Delete that is on its way to the same end. */
export type HostLossOutcome = 'failed' | 'ignored';

export type InterruptionNotice = 'termination' | 'rebalance' | 'past_preemption' | 'unspecified';

export interface InterruptionEvent {
  /** The substrate's id of the host: an event is about an instance, never about a slot. */
  readonly hostRef: string;
  readonly notice: InterruptionNotice;
}

/** `foreign`: no machine of ours has this host. `unchanged`: as high or higher already. */
export type InterruptionOutcome = 'published' | 'unchanged' | 'foreign';

export interface ResetOutcome {
  readonly machine: MachineRecord;
  /** Whether the substrate held anything to remove or wipe. */
  readonly cleaned: boolean;
}

export interface ShutdownReport {
  readonly finishedCount: number;
  /** Still running at the end of the grace; the next start drives them again. */
  readonly interruptedCount: number;
}

export interface Provider {
  /** CapacityProvider, for wire's Router. */
  readonly handlers: Handlers<typeof CapacityProvider>;
  /** ProviderAdmin, for wire's Router. */
  readonly adminHandlers: Handlers<typeof ProviderAdmin>;
  readonly ready: boolean;
  readonly notReadyReasons: readonly NotReadyReason[];
  reconcile(): Promise<ReconcileReport>;
  /** The backend saw the host die; does not wait for two describes. */
  reportHostLost(machineId: string, reason: string): Promise<HostLossOutcome>;
  /** Published at once and durable when it resolves: only then may a queue be acknowledged. */
  reportInterruption(event: InterruptionEvent): Promise<InterruptionOutcome>;
  /** Cleans up and settles a Failed machine now (provider-contract §10). */
  resetFailed(machineId: string): Promise<ResetOutcome>;
  /** Refuses mutations, finishes what runs within the grace, closes backend and store. */
  shutdown(graceMs: number): Promise<ShutdownReport>;
}
