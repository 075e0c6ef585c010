// What the coordinator orders, from the wire to the shard's own types: the assignment and the selector of
// an instruction. And the rows of an assignment back to the wire, for a report.

import type {
  DomainRef,
  MachineOverride,
  RegistryTarget,
  ShardAssignment,
  MachineSelector,
} from '@bigfleet/shard';
import {
  type DomainRef as WireDomain,
  type DomainRefSchema,
  type MachineOverride as WireOverride,
  type ProviderTargetSchema,
  type ShardAssignment as WireAssignment,
  type MachineSelector as WireSelector,
  type Resources as WireResources,
  toMap,
} from '@bigfleet/wire';
import { decodePenaltyBucket, err, ok, type Result } from '@bigfleet/base';
import { isOperatorCode, parseResources, type Requirement, type Resources } from '@bigfleet/engine';
import type { Init } from './report.ts';

export function assignmentFromWire(wire: WireAssignment): ShardAssignment {
  return {
    revision: wire.revision,
    generation: wire.ledgerGeneration,
    isComplete: wire.complete,
    domains: wire.domains.map(domainFromWire),
    foreignDomains: [...wire.foreignDomains.map(domainFromWire), ...wire.sharers.map(sharerMark)],
    // A negative slice is no slice anybody could hold: nothing may be bought.
    quotas: wire.quotas.map(({ provider, region, slice }) => ({
      provider,
      region,
      slice: Math.max(0, slice),
    })),
    adopted: wire.adopted.map(overrideFromWire),
    released: wire.released.map(overrideFromWire),
    ownsUnmatchedProviders: [...wire.ownsUnmatchedProviders],
    providers: wire.providers.map(({ name, address, region, shared }) => ({
      name,
      address,
      region,
      isShared: shared,
    })),
  };
}

export function domainToWire({ key, value, shardId }: DomainRef): Init<typeof DomainRefSchema> {
  return { topologyKey: key, topologyValue: value, shardId };
}

export function targetToWire({
  name,
  address,
  region,
  isShared,
}: RegistryTarget): Init<typeof ProviderTargetSchema> {
  return { name, address, region, shared: isShared };
}

function domainFromWire({ topologyKey, topologyValue, shardId }: WireDomain): DomainRef {
  return { key: topologyKey, value: topologyValue, shardId };
}

/**
 * The shard keeps a sharer as a foreign domain of its own name, which no machine has: assignment.json of
 * every build can hold it, so that a shard that is rolled back starts.
 */
function sharerMark(shardId: string): DomainRef {
  return { key: 'bigfleet.lucy.sh/shard', value: shardId, shardId };
}

function overrideFromWire({ machineId, transferId, peerShardId }: WireOverride): MachineOverride {
  return { machineId, transferId, peerShardId };
}

/**
 * A quantity or an operator that cannot be read refuses the instruction: a selector that means less
 * than was said would move machines that nobody asked for.
 */
export function selectorFromWire(wire: WireSelector | undefined): Result<MachineSelector, string> {
  if (wire === undefined) return err('it has no selector');
  const requirements: Requirement[] = [];
  for (const { key, operator, values } of wire.requirements) {
    const code: number = operator;
    if (!isOperatorCode(code)) return err(`requirement ${key} has operator ${code}`);
    requirements.push({ key, operator: code, values: [...values] });
  }
  const deficit = resourcesFromWire(wire.deficit, 'deficit');
  if (!deficit.ok) return deficit;
  const minUnit = resourcesFromWire(wire.minUnit, 'min_unit');
  if (!minUnit.ok) return minUnit;
  const bucket = decodePenaltyBucket(wire.interruptionPenaltyBucket);
  if (bucket === undefined) return err(`bucket ${wire.interruptionPenaltyBucket}`);
  return ok({
    instanceType: wire.instanceType,
    zone: wire.zone,
    count: wire.count,
    requirements,
    deficit: deficit.value,
    minUnit: minUnit.value,
    providerAddress: wire.providerAddress,
    interruptionBucket: wire.interruptionPenaltyBucket === 0 ? undefined : bucket,
  });
}

function resourcesFromWire(
  wire: WireResources | undefined,
  field: string,
): Result<Resources, string> {
  const parsed = parseResources(toMap(wire?.resources ?? {}), 'demand');
  return parsed.ok ? parsed : err(`${field}: ${parsed.error.code}`);
}
