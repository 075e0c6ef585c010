// Deciding what two shards claim at once after a restore (coordinator §10.5 rule 4): the operator names the
// shard that keeps the thing, one of the claimants; the other loses it with its next complete assignment.
// The thing is named by its subject, as `bigfleetctl status` prints it (`machine m-1`, `home 10.0.0.7:9000`).
// A registry entry is decided by registering it again (providers.ts).

import { domainMove, overrideMove } from '../recovery/claims.ts';
import type { Claim } from '../reports/held.ts';
import type { CommandBody } from '../state/commands.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import type { DomainOperations } from './domains.ts';

export async function settleDispute(
  operations: DomainOperations,
  subject: string,
  keeper: string,
): Promise<Outcome> {
  const { ledger, recovery } = operations;
  const dispute = recovery.disputeOn(subject);
  if (dispute === undefined) return notDisputed(subject);
  if (!dispute.claimants.includes(keeper)) {
    const claimants = dispute.claimants.join(', ');
    return refused('ABORTED', `coordinator: ${subject} is claimed by ${claimants}`);
  }
  if (dispute.claim.kind === 'provider') {
    return refused('ABORTED', `coordinator: ${subject} is decided by registering it again`);
  }
  let last: Outcome = { kind: 'done', index: undefined };
  for (const body of movesTo(operations, dispute.claim, keeper)) {
    last = outcomeOf(await ledger.apply(body));
    if (last.kind === 'refused') return last;
  }
  recovery.decide(subject);
  return last;
}

function notDisputed(subject: string): Outcome {
  const name = JSON.stringify(subject);
  return refused(
    'INVALID_ARGUMENT',
    `coordinator: ${name} is not in dispute; key is required for a domain`,
  );
}

/** Nothing when the ledger has it with the keeper already. */
function movesTo(
  { ledger, recovery }: DomainOperations,
  claim: Exclude<Claim, { kind: 'provider' }>,
  keeper: string,
): readonly CommandBody[] {
  const { state } = ledger;
  switch (claim.kind) {
    case 'domain':
    case 'releasing': {
      const from = state.domain(claim.domain)?.shardId ?? keeper;
      return from === keeper ? [] : domainMove(claim.domain, from, keeper);
    }
    case 'home': {
      const { address: providerAddress } = claim;
      const from = state.home(providerAddress)?.shardId ?? keeper;
      const set = { kind: 'SetProviderHome', providerAddress, shard: keeper } as const;
      return from === keeper ? [] : [{ ...set, from }];
    }
    case 'override': {
      const { machineId } = claim;
      const from = state.override(machineId)?.owner ?? keeper;
      const transferId = recovery.heldTransferOf(keeper, machineId) ?? claim.transferId;
      const insert = { kind: 'RestoreOverride', machineId, owner: keeper, transferId } as const;
      return from === keeper ? [] : overrideMove(machineId, from, insert);
    }
  }
}
