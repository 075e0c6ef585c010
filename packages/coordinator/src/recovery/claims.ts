// Judging one thing that one shard holds against the restored ledger (coordinator §10.5 rule 4).
// Pure: it says what to commit, that the answer of the ledger's owner must be waited for, or that
// two shards really claim the same. It never takes anything from a shard that claims it.

import type { CommandBody } from '../state/commands.ts';
import { type FleetView, reaches } from '../state/fleet-state.ts';
import type { Domain } from '../state/rows.ts';
import { isLater } from '../transfers/transfer-id.ts';
import { type Claim, type Held, textOf } from '../reports/held.ts';
import type { SoftState } from '../reports/soft-state.ts';

/** `keptBy` is the shard that keeps the thing in the ledger; empty for a registry entry. */
export type Verdict =
  | { readonly kind: 'settled' }
  | { readonly kind: 'wait'; readonly forShardId: string }
  | { readonly kind: 'commit'; readonly commands: readonly CommandBody[] }
  | {
      readonly kind: 'conflict';
      readonly owner: string;
      readonly keptBy: string;
      readonly commands: readonly CommandBody[];
    };

/** What each shard answered; undefined before it has. */
type Answers = Pick<SoftState, 'heldBy'>;

const SETTLED: Verdict = { kind: 'settled' };

export function judge(view: FleetView, answers: Answers, claim: Claim): Verdict {
  if (view.shard(claim.shardId) === undefined) return SETTLED;
  switch (claim.kind) {
    case 'domain':
      return judgeDomain(view, answers, claim);
    case 'releasing':
      return judgeReleasing(view, claim);
    case 'override':
      return judgeOverride(view, answers, claim);
    case 'home':
      return judgeHome(view, answers, claim);
    case 'provider':
      return judgeProvider(view, claim);
  }
}

type DomainClaim = Extract<Claim, { kind: 'domain' | 'releasing' }>;

function judgeDomain(view: FleetView, answers: Answers, claim: DomainClaim): Verdict {
  const { domain, shardId } = claim;
  const row = view.domain(domain);
  const insert: CommandBody = { kind: 'AssignDomain', domain, shard: shardId };
  if (row === undefined) return { kind: 'commit', commands: [insert] };
  const owner = row.shardId;
  if (owner === shardId) return SETTLED;
  const ownerHolds = answers.heldBy(owner)?.domains.has(textOf(domain));
  if (ownerHolds === undefined) return { kind: 'wait', forShardId: owner };
  if (ownerHolds) return { kind: 'conflict', owner, keptBy: owner, commands: [] };
  return { kind: 'commit', commands: domainMove(domain, owner, shardId) };
}

/**
 * Machines in use in a domain that the shard gives up are its own. If the ledger does not know the domain,
 * the home would take them; a domain with a row waits for the shard's report in any case (coordinator §7.2).
 */
function judgeReleasing(view: FleetView, { domain, shardId: shard }: DomainClaim): Verdict {
  if (view.domain(domain) !== undefined) return SETTLED;
  const commands: CommandBody[] = [
    { kind: 'AssignDomain', domain, shard },
    { kind: 'UnassignDomain', domain },
  ];
  return { kind: 'commit', commands };
}

/** The owner in the ledger holds nothing there, so its release is over before it begins. */
export function domainMove(domain: Domain, from: string, to: string): readonly CommandBody[] {
  return [
    { kind: 'UnassignDomain', domain },
    { kind: 'DomainReleased', domain, shard: from },
    { kind: 'AssignDomain', domain, shard: to },
  ];
}

/**
 * Transfers of one machine follow each other, and a later one was committed only while the recipient of
 * the earlier one stood frozen: the earlier claim is history. A frozen machine is still listed as held,
 * so without this rule the donor of a committed transfer would take its machine back.
 */
function judgeOverride(
  view: FleetView,
  answers: Answers,
  claim: Extract<Claim, { kind: 'override' }>,
): Verdict {
  const { machineId, shardId, transferId } = claim;
  const row = view.override(machineId);
  const insert: CommandBody = { kind: 'RestoreOverride', machineId, owner: shardId, transferId };
  if (row === undefined) return { kind: 'commit', commands: [insert] };
  const { owner } = row;
  const move = overrideMove(machineId, owner, insert);
  if (owner === shardId) {
    return isLater(transferId, row.transferId) ? { kind: 'commit', commands: move } : SETTLED;
  }
  if (isLater(row.transferId, transferId)) return SETTLED;
  const ofOwner = answers.heldBy(owner);
  if (ofOwner === undefined) return { kind: 'wait', forShardId: owner };
  if (!actsOn(ofOwner, machineId)) return { kind: 'commit', commands: move };
  const isClaimed = answers.heldBy(shardId)?.claimed.has(machineId) === true;
  return isClaimed && !ofOwner.claimed.has(machineId)
    ? { kind: 'conflict', owner, keptBy: shardId, commands: move }
    : { kind: 'conflict', owner, keptBy: owner, commands: [] };
}

export function overrideMove(
  machineId: string,
  from: string,
  insert: CommandBody,
): readonly CommandBody[] {
  return [{ kind: 'ClearOverrides', machineIds: [machineId], owner: from }, insert];
}

function actsOn(held: Held, machineId: string): boolean {
  return held.overrides.has(machineId) && !held.frozen.has(machineId);
}

/**
 * The ledger may name a home of long ago: a shard that was removed and whose name is back, or one that has
 * let go since. Told so by the ledger, that shard would act beside the home of today.
 */
function judgeHome(
  view: FleetView,
  answers: Answers,
  claim: Extract<Claim, { kind: 'home' }>,
): Verdict {
  const { address: providerAddress, shardId: shard } = claim;
  const set = { kind: 'SetProviderHome', providerAddress, shard } as const;
  const from = view.home(providerAddress)?.shardId;
  if (from === undefined) return { kind: 'commit', commands: [set] };
  if (from === shard) return SETTLED;
  const isHome = answers.heldBy(from)?.homes.has(providerAddress);
  if (isHome === undefined) return { kind: 'wait', forShardId: from };
  if (isHome) return { kind: 'conflict', owner: from, keptBy: from, commands: [] };
  return { kind: 'commit', commands: [{ ...set, from }] };
}

/** An entry comes back for exactly the shards that hold it. */
function judgeProvider(view: FleetView, claim: Extract<Claim, { kind: 'provider' }>): Verdict {
  const { target, shardId } = claim;
  const { name, address, region } = target;
  const row = view.provider(name);
  if (row === undefined) {
    const entry = { name, address, region, declaredQuota: 0, shards: [shardId] };
    return { kind: 'commit', commands: [{ kind: 'UpsertProvider', entry }] };
  }
  if (row.address !== address || row.region !== region) {
    return { kind: 'conflict', owner: '', keptBy: '', commands: [] };
  }
  if (reaches(row, shardId)) return SETTLED;
  const entry = { ...row, shards: [...row.shards, shardId].toSorted() };
  return { kind: 'commit', commands: [{ kind: 'UpsertProvider', entry }] };
}
