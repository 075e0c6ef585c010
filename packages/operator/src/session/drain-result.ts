// What became of one node, as the shard reads it in a FINISHED ack.

import { NodeDrainOutcome } from '@bigfleet/wire';
import type { DrainOutcome, DrainTarget } from './cluster-port.ts';

export interface DrainResult {
  readonly node: string;
  readonly machineId: string;
  readonly outcome: NodeDrainOutcome;
  readonly podsRemaining: number;
  readonly error: string;
}

const WIRE_OUTCOMES: Readonly<Record<DrainOutcome['kind'], NodeDrainOutcome>> = {
  empty: NodeDrainOutcome.EMPTY,
  deadline: NodeDrainOutcome.DEADLINE,
  forbidden: NodeDrainOutcome.FORBIDDEN,
  node_not_found: NodeDrainOutcome.NODE_NOT_FOUND,
};

export function drainResult({ node, machineId }: DrainTarget, outcome: DrainOutcome): DrainResult {
  return {
    node,
    machineId,
    outcome: WIRE_OUTCOMES[outcome.kind],
    podsRemaining: outcome.kind === 'deadline' ? outcome.podsRemaining : 0,
    error: 'error' in outcome ? (outcome.error ?? '') : '',
  };
}
