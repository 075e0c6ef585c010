// How a donor ends a freeze that its recipient does not claim, when the ledger was restored since. The
// transfer may have been committed behind the snapshot and its recipient removed: then the machine went
// to whoever owns it by domain or home. A donor that owns it so itself may simply go on. One that had it
// by an earlier transfer must let go: another may act on it by now.

/**
 * How the donor came by the machines of a transfer; `unknown` before it said what it holds. In a ledger
 * that was never restored nobody is asked, and what the ledger says is true: `by-rule`.
 */
export type DonorHolds = 'by-rule' | 'by-transfer' | 'unknown';

export function orderOfFrozen(holds: DonorHolds): 'CANCEL' | 'RELEASE' | 'wait' {
  switch (holds) {
    case 'by-rule':
      return 'CANCEL';
    case 'by-transfer':
      return 'RELEASE';
    case 'unknown':
      return 'wait';
  }
}
