// Assigning and unassigning a domain (coordinator §7.2). The commit is all: the shards hear of it with the
// assignment in the answer to their next report. While a restored ledger is recovering both are refused,
// because it may not know which shard holds the domain; except that assigning a thing in dispute decides
// the dispute.

import type { Ledger } from '../ledger/ledger.ts';
import type { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { waitText } from '../recovery/waits.ts';
import { domainSubject } from '../reports/held.ts';
import type { Domain } from '../state/rows.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import { settleDispute } from './settle-dispute.ts';

export interface DomainOperations {
  readonly ledger: Ledger;
  readonly recovery: RecoveryMachine;
}

export async function assignDomain(
  operations: DomainOperations,
  domain: Domain,
  shardId: string,
): Promise<Outcome> {
  const { ledger, recovery } = operations;
  // A CLI of an older build names a thing in dispute as the value of a domain without a key.
  if (domain.key === '') return settleDispute(operations, domain.value, shardId);
  if (!recovery.isOver()) {
    const subject = domainSubject(domain);
    const isDisputed = recovery.disputeOn(subject) !== undefined;
    return isDisputed ? settleDispute(operations, subject, shardId) : recovering(operations);
  }
  return outcomeOf(await ledger.apply({ kind: 'AssignDomain', domain, shard: shardId }));
}

/** An absent domain is success. */
export async function unassignDomain(
  operations: DomainOperations,
  domain: Domain,
): Promise<Outcome> {
  const { ledger, recovery } = operations;
  if (!recovery.isOver()) return recovering(operations);
  return outcomeOf(await ledger.apply({ kind: 'UnassignDomain', domain }));
}

function recovering({ recovery }: DomainOperations): Outcome {
  const [first] = recovery.waits();
  const what = first === undefined ? 'try again later' : waitText(first.wait);
  return refused('ABORTED', `coordinator: recovering after a restore: ${what}`);
}
