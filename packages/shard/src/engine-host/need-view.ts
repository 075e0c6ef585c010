// A verdict as ShardRead and the live feed show it. Counts only, never lists of machines. Built
// where the engine runs, because fifty thousand of them would hold up the thread of the sockets.

import { ESCALATE_AFTER_CYCLES, type Need, printResources } from '@bigfleet/engine';
import {
  encodeInit,
  fromMap,
  type InspectNeedsResponseSchema,
  NeedViewSchema,
  UnmetReason,
  type WhenUnsatisfiable,
} from '@bigfleet/wire';
import type { VerdictRow } from './need-verdicts.ts';
import { wireBucket, wireRequirements, wireResources } from './wire-values.ts';

type Init<S extends Parameters<typeof encodeInit>[0]> = Parameters<typeof encodeInit<S>>[1];
type NeedViewInit = Init<typeof NeedViewSchema>;
type CapacityNeedInit = NonNullable<NeedViewInit['need']>;

export type InspectNeedsInit = Init<typeof InspectNeedsResponseSchema>;

export function encodeNeedView(row: VerdictRow): Uint8Array {
  return encodeInit(NeedViewSchema, needView(row));
}

export function needView({ verdict, ageCyclesUnmet }: VerdictRow): NeedViewInit {
  const { need, matchingSupply, reasonCode, unmetReason } = verdict;
  return {
    need: capacityNeed(need),
    clusterId: need.cluster,
    arrivalUnixNanos: need.arrivalUnixNanos,
    profileFingerprint: need.profile.fingerprint,
    satisfied: verdict.satisfied,
    ...(verdict.satisfied ? {} : { residualDeficit: wireResources(verdict.deficit) }),
    claimedMachineCount: verdict.claimedCount,
    bootstrapCount: verdict.bootstrapCount,
    provisionCount: verdict.provisionCount,
    sameDomain: verdict.sameDomain ?? '',
    sameSatisfiable: verdict.sameSatisfiable,
    acquisitionParked: verdict.parked,
    parkedAgeCycles: verdict.parkedAgeCycles,
    ageCyclesUnmet,
    unmetReason: UnmetReason[unmetReason],
    ...(matchingSupply === undefined ? {} : { matchingSupply: { ...matchingSupply } }),
    preemption: {
      victimsFound: verdict.victimCount,
      capacityFreed: wireResources(verdict.freed),
    },
    sameCandidates: verdict.sameCandidates.map((candidate) => ({ ...candidate })),
    reasonCode,
    escalated: ageCyclesUnmet > ESCALATE_AFTER_CYCLES,
    awaitingDrainCount: verdict.awaitingDrainCount,
  };
}

function capacityNeed({ profile, aggregate, minUnit, group }: Need): CapacityNeedInit {
  return {
    requirements: wireRequirements(profile.requirements),
    aggregateResources: fromMap(printResources(aggregate)),
    priority: profile.priority,
    spread: profile.spread.map(({ topologyKey, maxSkew, whenUnsatisfiable }) => ({
      topologyKey,
      maxSkew,
      whenUnsatisfiable: whenUnsatisfiable as WhenUnsatisfiable,
    })),
    interruptionPenaltyBucket: wireBucket(profile.interruptionBucket),
    reclamationPenaltyBucket: wireBucket(profile.reclamationBucket),
    minUnit: fromMap(printResources(minUnit)),
    group,
  };
}
