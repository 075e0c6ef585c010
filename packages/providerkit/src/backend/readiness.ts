// CONFIGURED means that the node is Ready (provider-contract §11, docs/adr/0056): the kit holds a
// machine in Configuring until a source has confirmed its node, so that no backend can leave the
// question out. A machine that counts earlier is capacity that no pod can use, and no metric shows it.

import { BigFleetError } from '@bigfleet/base';
import type { Backend, ConfirmNodeReadyOptions } from './backend.ts';
import { failureText } from './provider-error.ts';

/**
 * Who confirms that a node is Ready. "The VM is running" is no answer: registration comes after it.
 */
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

/** The backend's own signal goes first; a provider without any source does not start. */
export function readinessGate(
  backend: Backend,
  source: ReadinessChecker | undefined,
): ReadinessChecker {
  const gate =
    backend.confirmNodeReady === undefined
      ? source
      : { confirmNodeReady: backend.confirmNodeReady.bind(backend) };
  if (gate !== undefined) return gate;
  throw new BigFleetError('readiness_source_missing', 'no source can confirm that a node is Ready');
}

/** The node did not become Ready: told apart from a failed join. */
export class NotReadyError extends Error {
  override readonly name = 'NotReadyError';
}

/** The gate between the join and the word Configured. */
export async function confirmReady(
  gate: ReadinessChecker,
  call: ConfirmNodeReadyOptions,
): Promise<void> {
  try {
    await gate.confirmNodeReady(call);
  } catch (cause) {
    throw new NotReadyError(failureText('confirmNodeReady', cause), { cause });
  }
}

/** One look, for a Configure that a restart interrupted. */
export async function isReady(
  gate: ReadinessChecker,
  call: ConfirmNodeReadyOptions,
): Promise<boolean> {
  if (gate.isNodeReady !== undefined) return await gate.isNodeReady(call);
  await gate.confirmNodeReady(call);
  return true;
}
