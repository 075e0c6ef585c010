// The processing order of a mutating call (provider-contract §4), which is normative: arguments, fence,
// existence, replay, position, accept. The fence comes before everything that knows a machine: a
// zombie must not be applied, must not be handed a cached operation id (it would believe that its
// stale mutation succeeded), and must not learn whether a machine exists.
//
// Steps 2 to 6 are one critical section of the machine. A mark that passed is durable before any
// answer, whatever becomes of the operation; an accept is durable before its ack.

import { BigFleetError } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { checkFence } from '@bigfleet/wire';
import { accepted } from '../model/effects.ts';
import { edges, type MachineRecord, type OperationKind } from '../model/machine.ts';
import type { FenceMark, StoredOperation } from '../store/store.ts';
import type { Kit } from '../work/kit.ts';
import type { ReadyState } from '../work/ready-state.ts';
import { type Ack, inputsOf, type Mutation } from '../work/work-item.ts';
import type { Workers } from '../work/workers.ts';
import { type ArgumentRules, refuseBadArguments } from './arguments.ts';
import { operationId } from '../model/operation-id.ts';

export interface CallKit extends Kit {
  readonly rules: ArgumentRules;
  readonly workers: Workers;
}

export async function mutate(kit: CallKit, mutation: Mutation, signal: AbortSignal): Promise<Ack> {
  refuseBadArguments(mutation, kit.rules); // 1
  return await kit.sections.runCall(mutation.machineId, signal, async () => {
    refuseWhileStopping(kit.ready);
    const mark = passFence(kit, mutation); // 2
    const record = kit.fleet.get(mutation.machineId);
    const operation = kit.fleet.operation(mutation.machineId, mutation.kind);
    const decision = decide(mutation.kind, record, operation); // 3, 4, 5
    if (decision.kind === 'accept') return await accept(kit, mutation, decision.record, mark); // 6
    if (mark !== undefined) await kit.ledger.writeMark(mark);
    switch (decision.kind) {
      case 'replay':
        return { operationId: decision.operationId, machine: decision.record };
      case 'unknown':
        throw new BigFleetError('machine_unknown', 'no machine has this id');
      case 'out_of_position':
        throw outOfPosition(mutation, decision.record);
    }
  });
}

function refuseWhileStopping(ready: ReadyState): void {
  if (ready.isStopping) throw new BigFleetError('provider_stopping', 'the provider is stopping');
}

/** The mark to persist; undefined for a call without token, which is not fenced. */
function passFence(kit: CallKit, mutation: Mutation): FenceMark | undefined {
  const { machineId, token } = mutation;
  const known = kit.fleet.marks.get(token.shardId, machineId);
  const verdict = checkFence(token, known);
  switch (verdict.kind) {
    case 'absent':
      return undefined;
    case 'stale':
      kit.observer.fenced?.();
      throw fenced(kit.logger, mutation);
    case 'passed': {
      if (known === undefined && !kit.fleet.marks.hasRoom(kit.fleet.size)) {
        throw new BigFleetError('provider_busy', 'too many fence marks are held');
      }
      const { shardEpoch: epoch, sequenceNumber: sequence } = verdict.mark;
      return { shardId: token.shardId, machineId, epoch, sequence };
    }
  }
}

async function accept(
  kit: CallKit,
  mutation: Mutation,
  record: MachineRecord,
  mark: FenceMark | undefined,
): Promise<Ack> {
  const { machineId, kind } = mutation;
  const id = operationId(kit.runtime, kit.rules.operationIdPrefix);
  const grace = kind === 'drain' ? { gracePeriodSeconds: mutation.gracePeriodSeconds } : {};
  const operation: StoredOperation = { machineId, kind, operationId: id, ...grace };
  const binding =
    kind === 'configure'
      ? { cluster: mutation.clusterId, shardMetadata: mutation.shardMetadata }
      : undefined;
  const write = { mark, operation, record: accepted(record, kind, binding) };
  const machine = await kit.ledger.write(write);
  kit.workers.start({ machineId, operationId: id, inputs: inputsOf(mutation) });
  return { operationId: id, machine };
}

function fenced(logger: Logger, mutation: Mutation): BigFleetError {
  const { shardId, shardEpoch, sequenceNumber } = mutation.token;
  logger.warn('mutation fenced', {
    kind: mutation.kind,
    machine_id: mutation.machineId,
    shard_id: shardId,
    epoch: shardEpoch,
    sequence: sequenceNumber,
  });
  return new BigFleetError('provider_fenced', 'the fencing token is not newer than the mark');
}

function outOfPosition(mutation: Mutation, record: MachineRecord): BigFleetError {
  const message = `${mutation.kind} is not possible from ${record.state}`;
  return new BigFleetError('transition_out_of_position', message);
}

/**
 * Steps 3 to 5 of the processing order, as a pure function: existence, idempotent replay,
 * position. The idempotency key is (machine, kind): Create and Drain share the target Idle, so the
 * target alone would confuse them, and token, connection and request bytes never matter.
 */
type Decision =
  | { readonly kind: 'unknown' }
  /** The same operation id again; no work is started. */
  | { readonly kind: 'replay'; readonly operationId: string; readonly record: MachineRecord }
  | { readonly kind: 'out_of_position'; readonly record: MachineRecord }
  | { readonly kind: 'accept'; readonly record: MachineRecord };

function decide(
  kind: OperationKind,
  record: MachineRecord | undefined,
  operation: StoredOperation | undefined,
): Decision {
  if (record === undefined) return { kind: 'unknown' };
  const { start, transitional, target } = edges[kind];
  const isDoneOrUnderWay = record.state === transitional || record.state === target;
  if (operation !== undefined && isDoneOrUnderWay) {
    return { kind: 'replay', operationId: operation.operationId, record };
  }
  return { kind: record.state === start ? 'accept' : 'out_of_position', record };
}
