// The state machine (coordinator §2.3): one command against the state as it is gives a change, "it
// is already so", or a refusal. Pure: no clock, no randomness, no I/O; times and ids are in the
// command. Both engines, the simulator and the property tests run exactly this function.

import type { Command, CommandKind } from '../commands.ts';
import type { FleetView } from '../fleet-state.ts';
import { bindCluster, unbindCluster } from './clusters.ts';
import { type Decision, invalid, type Rule, type Situation } from './decision.ts';
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

const RULES: { readonly [K in CommandKind]: Rule<K> } = {
  AddShard: addShard,
  RemoveShard: removeShard,
  BindCluster: bindCluster,
  AssignDomain: assignDomain,
  UnassignDomain: unassignDomain,
  SetQuota: setQuota,
  UpsertProvider: upsertProvider,
  RemoveProvider: removeProvider,
  UnbindCluster: unbindCluster,
  DomainReleased: domainReleased,
  SetProviderHome: setProviderHome,
  RecordShardEpoch: recordShardEpoch,
  BeginTransfer: beginTransfer,
  CommitTransfer: commitTransfer,
  FinishTransfer: finishTransfer,
  AbortTransfer: abortTransfer,
  ClearOverrides: clearOverrides,
  MoveQuota: moveQuota,
  GcTransfers: gcTransfers,
  RestoreTransfer: restoreTransfer,
  RestoreOverride: restoreOverride,
};

/** `applyIndex` is the index that this command gets if it is committed. */
export function decide(view: FleetView, command: Command, applyIndex: number): Decision {
  const problem = timeProblem('issued_at', command.issuedAtMs);
  if (problem !== undefined) return invalid(problem);
  // Only a caller without types names another kind; it is told so and nothing is written.
  if (!Object.hasOwn(RULES, command.kind)) return invalid(`unknown command kind ${command.kind}`);
  // The table has the rule of each kind, which no type can follow through a lookup.
  const rule = RULES[command.kind] as (situation: Situation, command: Command) => Decision;
  return rule({ view, applyIndex, issuedAtMs: command.issuedAtMs }, command);
}
