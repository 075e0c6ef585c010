// What the leader's loops (reports, rebalancer, sagas, recovery, admin RPCs) see of the durable
// state: a view to read and one way to change it. Implemented by apply-queue.ts over a storage engine;
// tests and simulated seeds use the same implementation over an engine in memory.

import type { CommandBody } from '../state/commands.ts';
import type { Refusal } from '../state/decide/decision.ts';
import type { FleetView } from '../state/fleet-view.ts';

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
