// Assigning and unassigning a domain (§7.2): the commit and the instruction that tells the shard at
// once; assignments carry it in any case, so a full queue costs promptness only. Recording without
// telling would be a dead feature. While a restored ledger is recovering both are refused: it may not
// know who holds the domain. The exception is a dispute, which assigning the domain decides.

import type { Ledger } from '../ledger.ts';
import type { InstructionPayload, InstructionSink } from '../instructions/instruction-queue.ts';
import { domainMove, domainSubject } from '../recovery/claims.ts';
import type { RecoveryMachine } from '../recovery/recovery-machine.ts';
import type { Domain } from '../state/rows.ts';
import { type Outcome, outcomeOf, refused } from './outcome.ts';

export interface DomainOperations {
  readonly ledger: Ledger;
  readonly queue: InstructionSink;
  readonly recovery: RecoveryMachine;
}

export async function assignDomain(
  operations: DomainOperations,
  domain: Domain,
  shardId: string,
): Promise<Outcome> {
  const { ledger, queue, recovery } = operations;
  if (!recovery.isOver()) return decideDispute(operations, domain, shardId);
  const result = await ledger.apply({ kind: 'AssignDomain', domain, shard: shardId });
  if (result.kind === 'applied') queue.enqueue(shardId, payload('assignDomain', domain), '');
  return outcomeOf(result);
}

/** An absent domain is success. */
export async function unassignDomain(
  operations: DomainOperations,
  domain: Domain,
): Promise<Outcome> {
  const { ledger, queue, recovery } = operations;
  if (!recovery.isOver()) return recovering();
  const result = await ledger.apply({ kind: 'UnassignDomain', domain });
  const owner = ledger.state.domain(domain)?.shardId;
  if (result.kind === 'applied' && owner !== undefined) {
    queue.enqueue(owner, payload('unassignDomain', domain), '');
  }
  return outcomeOf(result);
}

async function decideDispute(
  operations: DomainOperations,
  domain: Domain,
  shardId: string,
): Promise<Outcome> {
  const { ledger, recovery } = operations;
  const conflict = recovery.conflictOn(domain);
  if (conflict === undefined) return recovering();
  if (!conflict.claimants.includes(shardId)) {
    const claimants = conflict.claimants.join(', ');
    return refused('ABORTED', `coordinator: ${conflict.subject} is claimed by ${claimants}`);
  }
  const owner = ledger.state.domain(domain)?.shardId ?? shardId;
  let last: Outcome = { kind: 'done', index: undefined };
  for (const body of owner === shardId ? [] : domainMove(domain, owner, shardId)) {
    last = outcomeOf(await ledger.apply(body));
    if (last.kind === 'refused') return last;
  }
  recovery.decide(domainSubject(domain));
  return last;
}

function recovering(): Outcome {
  return refused('ABORTED', 'coordinator: recovering after a restore; try again later');
}

function payload(kind: 'assignDomain' | 'unassignDomain', domain: Domain): InstructionPayload {
  const names = { topologyKey: domain.key, topologyValue: domain.value };
  return kind === 'assignDomain'
    ? { case: kind, value: { $typeName: 'bigfleet.v1alpha1.AssignDomain', ...names } }
    : { case: kind, value: { $typeName: 'bigfleet.v1alpha1.UnassignDomain', ...names } };
}
