// The ledger as one caller may use it: no command of its call outlives the call's own deadline (coordinator §2.5).
// A command that is still in the queue when its caller has given up is then not written at all, instead
// of surprising somebody who was told that it failed.

import { deadlineOf } from '@bigfleet/base';
import type { Ledger } from './ledger.ts';

/** The same ledger when the call has no deadline. */
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
