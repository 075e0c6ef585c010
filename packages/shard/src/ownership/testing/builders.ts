// Values for the tests of ownership, with only what a test is about spelled out.

import { type PenaltyBucket, ZERO_BUCKET } from '@bigfleet/base';
import { CapacityType, type Machine, noAssignment, State } from '@bigfleet/engine';
import {
  type MachineOverride,
  noAssignmentYet,
  type ShardAssignment,
  type StoredAssignment,
} from '../assignment.ts';
import type { ProviderFacts } from '../ownership-rules.ts';
import type { MachineSelector } from '../selection.ts';

export function stored(parts: Partial<StoredAssignment> = {}): StoredAssignment {
  return { ...noAssignmentYet, ...parts };
}

export function incoming(parts: Partial<ShardAssignment> = {}): ShardAssignment {
  const { releasing: _, foldedOrder: __, ...rest } = noAssignmentYet;
  return { ...rest, revision: 1n, generation: 1n, isComplete: true, ...parts };
}

export function override(machineId: string, transferId = 't1', peer = 'other'): MachineOverride {
  return { machineId, transferId, peerShardId: peer };
}

export function sharedAt(address: string): (provider: string) => ProviderFacts | undefined {
  return (provider) => (provider === 'alpha' ? { address, isShared: true } : undefined);
}

/** An idle machine of four cores. */
export function idle(id: string, parts: Partial<Machine> = {}): Machine {
  return {
    id,
    state: State.Idle,
    provider: 'alpha',
    host: { provider: 'fake', ref: id },
    cluster: '',
    instanceType: 'small',
    zone: 'zone-a',
    capacityType: CapacityType.OnDemand,
    labels: new Map([['pool', 'general']]),
    allocatable: new Map([['cpu', 4_000]]),
    pricePerHour: 0.2,
    interruptionProbability: 0,
    lastError: '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
    ...parts,
  };
}

export function serving(
  id: string,
  stamps: { priority?: number; interruption?: number; reclamation?: number } = {},
): Machine {
  const { priority = 100, interruption = ZERO_BUCKET, reclamation = ZERO_BUCKET } = stamps;
  return idle(id, {
    state: State.Configured,
    cluster: 'blue',
    assigned: {
      ...noAssignment,
      priority,
      interruptionBucket: interruption as PenaltyBucket,
      reclamationBucket: reclamation as PenaltyBucket,
    },
  });
}

/** Anything, up to two machines' worth. */
export function selector(parts: Partial<MachineSelector> = {}): MachineSelector {
  return {
    instanceType: '',
    zone: '',
    count: 50,
    requirements: [],
    deficit: new Map([['cpu', 8_000]]),
    minUnit: new Map([['cpu', 1_000]]),
    providerAddress: 'alpha:9000',
    interruptionBucket: undefined,
    ...parts,
  };
}
