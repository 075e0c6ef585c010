// What the leader's loops (reports, rebalancer, sagas, recovery, admin RPCs) see of the durable
// state: a view to read and one way to change it. Implemented by apply-queue.ts over a storage engine;
// tests and simulated seeds use the same implementation over an engine in memory.

import { deadlineOf } from '@bigfleet/base';
import type { CommandBody } from '../state/commands.ts';
import type { Refusal } from '../state/decide/decision.ts';
import type { FleetView } from '../state/fleet-state.ts';

export interface Ledger {
  /** Of this leadership; rises with each. */
  readonly term: bigint;
  /** Live: shows each command at once after it was committed. */
  readonly state: FleetView;
  /** Stamped, decided, committed, installed; one at a time, in order of the calls. */
  apply(body: CommandBody, options?: ApplyOptions): Promise<ApplyResult>;
  /** A look at the leadership that began after the call (coordinator §3.3). */
  confirm(): Promise<'leading' | 'deposed' | 'timeout'>;
  readonly lost: AbortSignal;
}

export interface ApplyOptions {
  /** Monotonic time at which the caller stops waiting, as `deadlineOf(signal)` gives it. */
  readonly deadlineMs?: number;
}

export type ApplyResult =
  | { readonly kind: 'applied'; readonly index: number }
  /** Already so: nothing was written, which is success. */
  | { readonly kind: 'unchanged' }
  /** The state machine refused it; nothing was written. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'not-leader' }
  | { readonly kind: 'busy' }
  /** Not written, or not known to be: safe to retry. */
  | {
      readonly kind: 'unavailable';
      readonly outcome: 'not-written' | 'unknown';
      readonly message: string;
    };

/**
 * The ledger as one caller may use it: no command of its call outlives the call's own deadline
 * (coordinator §2.5). A command that is still in the queue when its caller has given up is then not
 * written at all, instead of surprising a caller that was told that it failed. A call without a
 * deadline gets the ledger itself.
 */
export function callerLedger(ledger: Ledger, call: AbortSignal | undefined): Ledger {
  const callerMs = call === undefined ? undefined : deadlineOf(call);
  if (callerMs === undefined) return ledger;
  return {
    term: ledger.term,
    get state() {
      return ledger.state;
    },
    lost: ledger.lost,
    confirm: () => ledger.confirm(),
    apply: (body, { deadlineMs = callerMs } = {}) =>
      ledger.apply(body, { deadlineMs: Math.min(callerMs, deadlineMs) }),
  };
}
