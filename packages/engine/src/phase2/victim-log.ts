// Who listens to Phase 2 while it looks at bound machines: told of every machine at the line that
// decides about it, so that a record never has to guess afterwards. Absent when records are off.

import type { Row } from '../needs/row.ts';

/** What became of a machine that was scored. */
export type RankedOutcome = 'chosen' | 'no_contribution' | 'spread_skew' | 'victim_score_lower';

/** Why a machine of lower priority was not even scored. */
export type ExcludedOutcome = 'victim_taken' | 'victim_own_cluster';

export interface VictimLog {
  /** Phase 2 begins to look for victims of one need. */
  begin(): void;
  excluded(slot: number, outcome: ExcludedOutcome): void;
  /** Best victims first. */
  ranked(slot: number, score: number, outcome: RankedOutcome): void;
  /** The search for this need is over. `awaited`: running drains and who waits for them. */
  end(row: Row, awaited: ReadonlyMap<number, Row>): void;
}
