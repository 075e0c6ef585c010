// Instructions as a leader mints them, with only what a test is about spelled out.

import type { CoordinatorInstructionSchema } from '@bigfleet/wire';
import type { Init } from '../wire/report.ts';

export type InstructionInit = Init<typeof CoordinatorInstructionSchema>;
export type PayloadInit = NonNullable<InstructionInit['payload']>;

export function instruction(
  instructionId: string,
  payload: PayloadInit,
  parts: Partial<InstructionInit> = {},
): InstructionInit {
  return { instructionId, coordinatorTerm: 1n, sequenceNumber: 1n, payload, ...parts };
}

/** The cheapest to tell apart. */
export function assignZone(value: string): PayloadInit {
  return { case: 'assignDomain', value: { topologyKey: 'zone', topologyValue: value } };
}

export const SELECTOR = {
  count: 2,
  deficit: { resources: { cpu: '8' } },
  minUnit: { resources: { cpu: '1' } },
  providerAddress: 'alpha:9000',
};

export function transfer(phase: number, parts: object = {}): PayloadInit {
  return {
    case: 'transferOwnership',
    value: {
      transferId: 't1',
      fromShardId: 's1',
      toShardId: 's2',
      selector: SELECTOR,
      phase: phase as 0,
      ...parts,
    },
  };
}
