// Why a need is unmet, derived where the facts are: observation only, nothing here feeds back
// into a claim. Cost: the classes of the need, only for needs that stay open.

import type { UnmetCode, UnmetReasonName } from '@bigfleet/base';
import { State, STATE_COUNT } from '../model/state.ts';
import type { AcquisitionBlock, Row } from '../needs/row.ts';
import type { Inventory } from '../store/inventory.ts';
import type { MatchingSupply } from '../model/cycle.ts';

/** Machines whose shape matches, whoever holds them. */
export function matchingSupply({ classes }: Inventory, row: Row): MatchingSupply {
  let idle = 0;
  let speculative = 0;
  let configured = 0;
  for (const klass of row.compiled.match.members) {
    const cell = klass * STATE_COUNT;
    idle += classes.counts[cell + State.Idle]!;
    speculative += classes.counts[cell + State.Speculative]!;
    configured += classes.counts[cell + State.Configured]!;
  }
  return { idle, speculative, configured };
}

/** The established enum, by its own derivation. */
export function unmetReason(inventory: Inventory, row: Row, isResolved: boolean): UnmetReasonName {
  const { result } = row;
  if (result.isSatisfied) return 'UNSPECIFIED';
  if (isTopologyUnsatisfiable(row) || result.isParked) return 'TOPOLOGY_UNSATISFIABLE';
  if (!hasMachine(inventory, row.compiled.match.members)) return 'NO_MATCHING_SUPPLY';
  return result.victimCount > 0 && !isResolved ? 'PREEMPTION_EXHAUSTED' : 'PRIORITY_STARVED';
}

const blockCodes: Readonly<Record<AcquisitionBlock, UnmetCode>> = {
  brake: 'configure_failing',
  type: 'type_failing',
  quota: 'quota_exhausted',
  spread: 'spread_unsatisfiable',
};

/** The finer code: first match, top to bottom. */
export function reasonCode(inventory: Inventory, row: Row, isResolved: boolean): UnmetCode {
  const { result } = row;
  if (result.isSatisfied) return 'satisfied';
  // Victims chosen in this very cycle do not drain yet.
  if (result.victimCount === 0 && isResolved) return 'awaiting_drain';
  if (result.isParked) return 'acquisition_parked';
  if (isTopologyUnsatisfiable(row)) return 'topology_unsatisfiable';
  if (!hasMachine(inventory, row.compiled.match.members)) return 'no_matching_supply';
  const hosting = row.eligible.set.members;
  if (!hasMachine(inventory, hosting)) return 'min_unit_too_large';
  if (row.compiled.isPinned && !hasStableMachine(inventory, hosting)) return 'no_stable_supply';
  if (result.isHeldOff) return 'bootstrap_refused';
  if (result.blockedBy !== undefined) return blockCodes[result.blockedBy];
  return result.victimCount > 0 && !isResolved ? 'preemption_exhausted' : 'priority_starved';
}

function isTopologyUnsatisfiable({ compiled, result }: Row): boolean {
  return compiled.sameKey !== undefined && (!result.isSatisfiable || result.domain === undefined);
}

/** In any state at all. */
function hasMachine({ classes }: Inventory, members: readonly number[]): boolean {
  return members.some((klass) => classes.shape(klass) !== undefined);
}

function hasStableMachine({ classes }: Inventory, members: readonly number[]): boolean {
  return members.some(
    (klass) => classes.shape(klass) !== undefined && classes.probability[klass] === 0,
  );
}
