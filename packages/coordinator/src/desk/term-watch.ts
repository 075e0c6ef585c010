// A shard that has heard a newer leader is the last witness against a zombie (coordinator §3.5 (5)).
// On such a report, or a REJECTED_STALE ack, the leader looks at its own leadership before anything
// else. If it really leads, its term is too low, as after a restore from an old snapshot, and every
// shard drops what it says: it campaigns again above what was seen (coordinator §10.3). A jump that
// no history of elections explains is not believed, or one hostile shard could burn the space of
// terms.

import { notLeader, type Refused, refused } from '../ledger/outcome.ts';
import type { ReportDeskOptions } from './report-desk.ts';

const MAX_TERM_JUMP = 1_000_000n;

type TermWatchOptions = Pick<ReportDeskOptions, 'ledger' | 'raiseAbove' | 'log' | 'observer'>;

export class TermWatch {
  readonly #options: TermWatchOptions;
  #isRaising = false;

  constructor(options: TermWatchOptions) {
    this.#options = options;
  }

  /** Undefined: go on. */
  async check(shardId: string, observedTerm: bigint): Promise<Refused | undefined> {
    const { ledger, log, observer } = this.#options;
    if (observedTerm <= ledger.term) return undefined;
    const doubt = await this.verify();
    if (doubt !== undefined) return doubt;
    const fields = { shard: shardId, observed_term: observedTerm, term: ledger.term };
    if (observedTerm - ledger.term > MAX_TERM_JUMP) {
      observer.onTermJumpRefused();
      log.error('shard observed a term that no election explains; not believed', fields);
      return undefined;
    }
    if (!this.#isRaising) {
      this.#isRaising = true;
      log.error('shard observed a newer term than that of the leader; campaigning again', fields);
      this.#options.raiseAbove(observedTerm);
    }
    return notLeader();
  }

  /** Undefined: this leader leads, as of after the call. */
  async verify(): Promise<Refused | undefined> {
    switch (await this.#options.ledger.confirm()) {
      case 'leading':
        return undefined;
      case 'deposed':
        return notLeader();
      case 'timeout':
        return refused('UNAVAILABLE', 'coordinator: leadership could not be confirmed in time');
    }
  }
}
