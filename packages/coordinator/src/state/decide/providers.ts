// The provider registry and the home of each shared provider (coordinator §7.5, §9.2). Registration
// connects: every change of an entry is a change of what shards are to dial.

import { compareText } from '@bigfleet/base';
import type { FleetView } from '../fleet-state.ts';
import { rowKey } from '../keys.ts';
import { encodeRow } from '../row-format.ts';
import type { ProviderRow } from '../rows.ts';
import {
  changed,
  type Decision,
  deleted,
  invalid,
  put,
  refused,
  refusedAs,
  type Rule,
  UNCHANGED,
} from './decision.ts';
import {
  addressProblem,
  countProblem,
  nameProblem,
  shardIdProblem,
  textProblem,
} from './inputs.ts';
import { owedBy, sumOf, unsettledMoves } from './quotas.ts';

const MAX_NAMED_SHARDS = 1_024;

export const upsertProvider: Rule<'UpsertProvider'> = ({ view }, command) => {
  if (command.entry.name === '') return invalid('ProviderEntry.Name required');
  const problem = entryProblem(command.entry);
  if (problem !== undefined) return invalid(problem);
  const row = normalised(command.entry);
  const tooLow = declaredBelowUse(view, row);
  if (tooLow !== undefined) return tooLow;
  const known = view.provider(row.name);
  if (known !== undefined && encodeRow('providers', known) === encodeRow('providers', row))
    return UNCHANGED;
  return changed(view, { writes: [put('providers', row)], movesAssignment: true });
};

export const removeProvider: Rule<'RemoveProvider'> = ({ view }, command) => {
  if (view.provider(command.name) === undefined) return refusedAs('provider-not-found');
  const quota = view.quotas().find(({ provider }) => provider === command.name);
  if (quota !== undefined) {
    const row = `${quota.provider}/${quota.region}`;
    return refused('provider-in-use', `coordinator: provider in use by the quota row ${row}`);
  }
  const writes = [deleted('providers', command.name)];
  return changed(view, { writes, movesAssignment: true });
};

/**
 * The first live shard keeps it, whoever asks later: no instant has two homes. It is replaced only by
 * name, and by nobody who is late: whether it may be is the caller's to know (provider-homes.ts).
 */
export const setProviderHome: Rule<'SetProviderHome'> = ({ view }, command) => {
  const { providerAddress, from } = command;
  const problem =
    nameProblem('provider address', providerAddress) ??
    (from === undefined ? undefined : shardIdProblem(from));
  if (problem !== undefined) return invalid(problem);
  if (from === command.shard) return invalid(`${from} cannot take over from itself`);
  const shard = view.shard(command.shard);
  if (shard === undefined) return refusedAs('shard-not-found');
  const home = view.home(providerAddress);
  if (home !== undefined && home.shardId !== from) return UNCHANGED;
  const row = { providerAddress, shardId: shard.id, shardUid: shard.uid };
  const reads = [rowKey('shards', shard.id)];
  return changed(view, { writes: [put('homes', row)], reads, movesAssignment: true });
};

function entryProblem(entry: ProviderRow): string | undefined {
  if (entry.shards.length > MAX_NAMED_SHARDS)
    return `more than ${MAX_NAMED_SHARDS} shards are named`;
  return (
    nameProblem('provider name', entry.name) ??
    addressProblem(entry.address) ??
    textProblem('provider region', entry.region) ??
    countProblem('declared quota', entry.declaredQuota) ??
    entry.shards.map(shardIdProblem).find((problem) => problem !== undefined)
  );
}

function normalised(entry: ProviderRow): ProviderRow {
  const { name, address, region, declaredQuota } = entry;
  const shards = [...new Set(entry.shards)].sort(compareText);
  return { name, address, region, declaredQuota, shards };
}

/** Lowering the declared quota below what is handed out would break the sum behind its back. */
function declaredBelowUse(view: FleetView, row: ProviderRow): Decision | undefined {
  if (row.declaredQuota === 0) return undefined;
  for (const quota of view.quotas().filter(({ provider }) => provider === row.name)) {
    const total = sumOf(quota) + owedBy(unsettledMoves(view, quota.provider, quota.region));
    if (total <= row.declaredQuota) continue;
    return refused(
      'quota-exceeded',
      `coordinator: declared quota ${row.declaredQuota} is below the slices of ` +
        `${quota.provider}/${quota.region}, which sum to ${total}`,
    );
  }
  return undefined;
}
