// Setting the slices of one provider and region (coordinator §7.4): a whole-row overwrite. What the state machine
// cannot see is checked here: an entry covers one region, so a slice for another region of the same
// name would cap nothing.

import type { Ledger } from '../ledger/ledger.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';

export interface QuotaRequest {
  readonly provider: string;
  readonly region: string;
  /** Empty deletes the row. */
  readonly perShard: ReadonlyMap<string, number>;
}

export async function setQuota(ledger: Ledger, request: QuotaRequest): Promise<Outcome> {
  const entry = ledger.state.provider(request.provider);
  if (entry !== undefined && request.perShard.size > 0 && entry.region !== request.region) {
    const message = `coordinator: provider ${entry.name} is registered for region ${entry.region}`;
    return refused('INVALID_ARGUMENT', message);
  }
  return outcomeOf(await ledger.apply({ kind: 'SetQuota', ...request }));
}
