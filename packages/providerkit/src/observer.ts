// What the kit tells about itself, for metrics (provider-contract §17.2). Without it a kit that fails every
// transition looks healthy, because every RPC returned OK. Calls are synchronous and must not
// throw; they carry numbers and names of the catalogue only, no ids, so labels stay bounded.

import type { CapacityTypeName, MachineStateName, OperationKind } from './model/machine.ts';

/** `late_discarded`: a backend that finished after its transition was already settled. */
export type TransitionOutcome = 'success' | 'error' | 'timeout' | 'late_discarded' | 'interrupted';

export type ReconcileOutcome = 'success' | 'error' | 'skipped';

/** Why the provider is not ready; readiness comes back when the last reason ends. */
export type NotReadyReason = 'starting' | 'store' | 'auth' | 'stopping';

export interface KitObserver {
  transition?(kind: OperationKind, outcome: TransitionOutcome, durationMs: number): void;
  fenced?(): void;
  storeSave?(outcome: 'success' | 'error', durationMs: number): void;
  /** The new count of machines in this cell; called for every cell that changed. */
  machineCount?(state: MachineStateName, capacityType: CapacityTypeName, count: number): void;
  reconcile?(outcome: ReconcileOutcome): void;
  failedCleanup?(outcome: 'success' | 'error'): void;
  /** A create that succeeded after its timeout: a running, billed host that nothing tracked. */
  lateCreate?(teardown: 'torn_down' | 'failed' | 'left'): void;
  hostLost?(): void;
  nodeReady?(waitedMs: number): void;
  backendError?(errorClass: string): void;
  readyChanged?(ready: boolean, reasons: readonly NotReadyReason[]): void;
}
