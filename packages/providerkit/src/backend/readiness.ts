// The readiness gate's source (provider-contract §11): CONFIGURED means that the node is Ready, and the kit
// asks one of these before it says so. There is no way to run a provider without an answer to the
// question who confirms it. "The VM is running" is no answer: registration comes after it.

import type { ConfirmNodeReadyOptions } from './backend.ts';

export interface ReadinessChecker {
  /** Resolves when the node is Ready in the cluster; rejects when it can't become so. */
  confirmNodeReady(options: ConfirmNodeReadyOptions): Promise<void>;
  /**
   * One look, for a machine whose Configure a restart interrupted. Absent: a short
   * `confirmNodeReady`. A source that only knows that a join hook ended must answer false here.
   */
  isNodeReady?(options: ConfirmNodeReadyOptions): Promise<boolean>;
}

/**
 * `--readiness-source=hook`: the join hook itself waits for Ready before it exits 0, so a resolved
 * `configureInstance` is the signal. An explicit choice of the operator, never a default.
 */
export const trustJoinHook: ReadinessChecker = {
  confirmNodeReady: async () => {},
  isNodeReady: async () => false,
};
