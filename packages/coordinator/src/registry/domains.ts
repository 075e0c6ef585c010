// Assigning and unassigning a domain (coordinator §7.2): the commit and the instruction that tells the shard at
// once; assignments carry it in any case, so a full queue costs promptness only. Recording without
// telling would be a dead feature. While a restored ledger is recovering both are refused: it may not
// know who holds the domain. The exception is a dispute, which assigning the thing decides.

import type { Ledger } from '../ledger/ledger.ts';
import type { InstructionPayload, InstructionSink } from '../instructions/instruction-queue.ts';
import type { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { waitText } from '../recovery/waits.ts';
import type { Domain } from '../state/rows.ts';
import { type Outcome, outcomeOf, refused } from '../ledger/outcome.ts';
import { settleDispute } from './settle-dispute.ts';

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
  if (!recovery.isOver() || domain.key === '') {
    return (await settleDispute(operations, domain, shardId)) ?? recovering(operations);
  }
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
  if (!recovery.isOver()) return recovering(operations);
  const result = await ledger.apply({ kind: 'UnassignDomain', domain });
  const owner = ledger.state.domain(domain)?.shardId;
  if (result.kind === 'applied' && owner !== undefined) {
    queue.enqueue(owner, payload('unassignDomain', domain), '');
  }
  return outcomeOf(result);
}

function recovering({ recovery }: DomainOperations): Outcome {
  const [first] = recovery.waits();
  const what = first === undefined ? 'try again later' : waitText(first.wait);
  return refused('ABORTED', `coordinator: recovering after a restore: ${what}`);
}

function payload(kind: 'assignDomain' | 'unassignDomain', domain: Domain): InstructionPayload {
  const names = { topologyKey: domain.key, topologyValue: domain.value };
  return kind === 'assignDomain'
    ? { case: kind, value: { $typeName: 'bigfleet.v1alpha1.AssignDomain', ...names } }
    : { case: kind, value: { $typeName: 'bigfleet.v1alpha1.UnassignDomain', ...names } };
}
