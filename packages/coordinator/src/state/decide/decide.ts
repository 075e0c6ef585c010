// The state machine (coordinator §2.3): one command against the state as it is gives a change, "it
// is already so", or a refusal. Pure: no clock, no randomness, no I/O; times and ids are in the
// command. Both engines, the simulator and the property tests run exactly this function.

import type { Command } from '../commands.ts';
import type { FleetView } from '../fleet-view.ts';
import { bindCluster, unbindCluster } from './clusters.ts';
import { type Decision, invalid, type Situation } from './decision.ts';
import { assignDomain, domainReleased, unassignDomain } from './domains.ts';
import { timeProblem } from './inputs.ts';
import { removeProvider, setProviderHome, upsertProvider } from './providers.ts';
import { moveQuota } from './quota-moves.ts';
import { setQuota } from './quotas.ts';
import { restoreOverride, restoreTransfer } from './recovery.ts';
import { addShard, recordShardEpoch, removeShard } from './shards.ts';
import {
  abortTransfer,
  beginTransfer,
  clearOverrides,
  commitTransfer,
  finishTransfer,
  gcTransfers,
} from './transfers.ts';

/** `applyIndex` is the index that this command gets if it is committed. */
export function decide(view: FleetView, command: Command, applyIndex: number): Decision {
  const problem = timeProblem('issued_at', command.issuedAtMs);
  if (problem !== undefined) return invalid(problem);
  const situation: Situation = { view, applyIndex, issuedAtMs: command.issuedAtMs };
  return ruleOf(situation, command);
}

function ruleOf(situation: Situation, command: Command): Decision {
  switch (command.kind) {
    case 'AddShard':
      return addShard(situation, command);
    case 'RemoveShard':
      return removeShard(situation, command);
    case 'BindCluster':
      return bindCluster(situation, command);
    case 'AssignDomain':
      return assignDomain(situation, command);
    case 'UnassignDomain':
      return unassignDomain(situation, command);
    case 'SetQuota':
      return setQuota(situation, command);
    case 'UpsertProvider':
      return upsertProvider(situation, command);
    case 'RemoveProvider':
      return removeProvider(situation, command);
    case 'UnbindCluster':
      return unbindCluster(situation, command);
    case 'DomainReleased':
      return domainReleased(situation, command);
    case 'SetProviderHome':
      return setProviderHome(situation, command);
    case 'RecordShardEpoch':
      return recordShardEpoch(situation, command);
    case 'BeginTransfer':
      return beginTransfer(situation, command);
    case 'CommitTransfer':
      return commitTransfer(situation, command);
    case 'FinishTransfer':
      return finishTransfer(situation, command);
    case 'AbortTransfer':
      return abortTransfer(situation, command);
    case 'ClearOverrides':
      return clearOverrides(situation, command);
    case 'MoveQuota':
      return moveQuota(situation, command);
    case 'GcTransfers':
      return gcTransfers(situation, command);
    case 'RestoreTransfer':
      return restoreTransfer(situation, command);
    case 'RestoreOverride':
      return restoreOverride(situation, command);
    default:
      return unknownKind(command);
  }
}

/** Only a caller without types gets here; it is told so and nothing is written. */
function unknownKind(command: never): Decision {
  const { kind } = command as { readonly kind: unknown };
  return invalid(`unknown command kind ${String(kind)}`);
}
