// Binding and unbinding a cluster by hand (coordinator §7.3). Bindings normally come from reports;
// these are for the deliberate rebind and for a cluster that is gone.

import type { Ledger } from '../ledger/ledger.ts';
import { type Outcome, outcomeOf } from '../ledger/outcome.ts';

export interface BindRequest {
  readonly cluster: string;
  readonly shard: string;
  /** Takes it from another shard. */
  readonly force: boolean;
}

export async function bindCluster(ledger: Ledger, request: BindRequest): Promise<Outcome> {
  return outcomeOf(await ledger.apply({ kind: 'BindCluster', ...request }));
}

export async function unbindCluster(ledger: Ledger, cluster: string): Promise<Outcome> {
  return outcomeOf(await ledger.apply({ kind: 'UnbindCluster', cluster }));
}
