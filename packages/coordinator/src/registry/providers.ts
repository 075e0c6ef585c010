// The provider registry (coordinator §7.5) and the quota of its entries. Registering is one
// idempotent command; every shard hears of it through its assignment. Deregistering is refused while
// a shard may still hold machines there, because machines that nobody dials are machines that nobody
// can drain: a shard that has not reported to this leader counts as holding some.

import type { SoftState } from '../reports/soft-state.ts';
import { reachedShards } from '../assignment/sharing.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import { providerSubject } from '../reports/held.ts';
import { dialledProviders } from '../reports/dialled-providers.ts';
import type { CommandOf } from '../state/commands.ts';
import type { FleetView } from '../state/fleet-state.ts';
import type { ProviderRow } from '../state/rows.ts';
import type { DomainOperations } from './domains.ts';

export interface ProviderOperations extends DomainOperations {
  readonly soft: SoftState;
}

export async function registerProvider(
  operations: ProviderOperations,
  entry: ProviderRow,
): Promise<Outcome> {
  const { ledger, recovery, soft } = operations;
  const isFirst = !isKnown(ledger.state, entry.address);
  const outcome = outcomeOf(await ledger.apply({ kind: 'UpsertProvider', entry }));
  if (outcome.kind === 'done' && isFirst) soft.onFirstRegistered(entry.address);
  // Registering an entry anew decides the dispute with shards that hold another version of it.
  if (outcome.kind === 'done') recovery.decide(providerSubject(entry.name));
  return outcome;
}

function isKnown(view: FleetView, address: string): boolean {
  const isRegistered = view.providers().some((entry) => entry.address === address);
  return isRegistered || view.home(address) !== undefined;
}

export async function deregisterProvider(
  operations: ProviderOperations,
  name: string,
  isForced: boolean,
): Promise<Outcome> {
  const { ledger } = operations;
  const entry = ledger.state.provider(name);
  const user = entry === undefined || isForced ? undefined : userOf(operations, entry);
  if (user !== undefined) return refused('ABORTED', user);
  return outcomeOf(await ledger.apply({ kind: 'RemoveProvider', name }));
}

function userOf({ ledger, soft }: ProviderOperations, entry: ProviderRow): string | undefined {
  for (const { shardId, report } of soft.pictures()) {
    const held = dialledProviders(report)
      .filter(({ name, address }) => name === entry.name || address === entry.address)
      .reduce((sum, { heldCount }) => sum + heldCount, 0);
    if (held > 0) return `provider in use by ${shardId}: ${held} machines`;
  }
  const silent = reachedShards(ledger.state, entry).find((id) => soft.picture(id) === undefined);
  if (silent === undefined) return undefined;
  return `provider may be in use by ${silent}: it has not reported since this leader took over`;
}

/**
 * Sets the slices of one provider and region (coordinator §7.4): a whole-row overwrite. The region is
 * checked here, because the state machine cannot see it: an entry covers one region, so a slice for
 * another region of the same name would cap nothing. An empty `perShard` deletes the row.
 */
export async function setQuota(
  ledger: Ledger,
  request: Omit<CommandOf<'SetQuota'>, 'kind'>,
): Promise<Outcome> {
  const entry = ledger.state.provider(request.provider);
  if (entry !== undefined && request.perShard.size > 0 && entry.region !== request.region) {
    const message = `coordinator: provider ${entry.name} is registered for region ${entry.region}`;
    return refused('INVALID_ARGUMENT', message);
  }
  return outcomeOf(await ledger.apply({ kind: 'SetQuota', ...request }));
}
