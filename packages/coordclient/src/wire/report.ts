// One ShardReport from what the shard says about itself (coordinator §5.2). Lists are full
// replacements, empty ones included: a shard that has what it needs must not look short.

import {
  ESCALATE_AFTER_CYCLES,
  printResources,
  type Resources,
  type Shortfall,
} from '@bigfleet/engine';
import type { HeldOwnership, ShardControl, TransferReport } from '@bigfleet/shard';
import {
  fromMap,
  type PenaltyBucket,
  type ShardReportSchema,
  TransferRole,
  TransferState,
  type encodeInit,
} from '@bigfleet/wire';
import { domainToWire, targetToWire } from './orders.ts';

const MAX_SHORTFALLS = 100;

export type ReportInit = Init<typeof ShardReportSchema>;

/** The part that is the same for every attempt of one tick. */
export function reportBody(
  control: ShardControl,
  { isHeldAsked }: { readonly isHeldAsked: boolean },
): ReportInit {
  const ownership = control.ownership();
  return {
    shardId: control.shardId,
    shardEpoch: control.epoch,
    summary: control.summary(),
    shortfalls: control.shortfalls(MAX_SHORTFALLS).map(shortfallToWire),
    assignmentRevision: ownership.revision,
    transfers: ownership.transfers.map(transferToWire),
    clusterIds: [...control.clusterIds()],
    providerShared: ownership.isProviderShared,
    releasingDomains: ownership.releasingDomains.map(domainToWire),
    keepsSharers: true,
    ...(isHeldAsked ? heldToWire(control.held()) : {}),
  };
}

function heldToWire({ domains, overrides, providers, homes, others }: HeldOwnership): ReportInit {
  return {
    heldDomains: domains.map(domainToWire),
    heldOverrides: [...overrides],
    heldProviders: providers.map(targetToWire),
    heldHomes: [...homes],
    knownShards: [...others],
  };
}

function shortfallToWire({
  profile,
  deficit,
  minUnit,
  ageCycles,
  reasonCode,
}: Shortfall): NonNullable<ReportInit['shortfalls']>[number] {
  return {
    requirements: profile.requirements.map(({ key, operator, values }) => ({
      key,
      operator,
      values: [...values],
    })),
    deficit: resourcesToWire(deficit),
    priority: profile.priority,
    ageCycles,
    // The wire numbers buckets as we do.
    interruptionPenaltyBucket: profile.interruptionBucket as number as PenaltyBucket,
    topologyConstrained: profile.same !== undefined,
    minUnit: resourcesToWire(minUnit),
    escalate: ageCycles > ESCALATE_AFTER_CYCLES,
    profileFingerprint: profile.fingerprint,
    reasonCode,
  };
}

function resourcesToWire(resources: Resources): { resources: { [name: string]: string } } {
  return { resources: fromMap(printResources(resources)) };
}

const roles = { donor: TransferRole.DONOR, recipient: TransferRole.RECIPIENT } as const;
const states = {
  frozen: TransferState.FROZEN,
  released: TransferState.RELEASED,
  claimed: TransferState.CLAIMED,
  gone: TransferState.GONE,
} as const;

function transferToWire(report: TransferReport): NonNullable<ReportInit['transfers']>[number] {
  const { role, state, machineIds } = report;
  return { ...report, role: roles[role], state: states[state], machineIds: [...machineIds] };
}

type Schema = Parameters<typeof encodeInit>[0];

/** A plain object, never a message. */
export type Init<S extends Schema> = Exclude<
  Parameters<typeof encodeInit<S>>[1],
  { readonly $typeName: string }
>;
