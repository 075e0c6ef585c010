// ShardAssignment and its rows between the wire and the shard's own types.

import type { DomainRef, MachineOverride, RegistryTarget, ShardAssignment } from '@bigfleet/shard';
import type {
  DomainRef as WireDomain,
  DomainRefSchema,
  MachineOverride as WireOverride,
  MachineOverrideSchema,
  ProviderTargetSchema,
  ShardAssignment as WireAssignment,
} from '@bigfleet/wire';
import type { Init } from './init.ts';

export function assignmentFromWire(wire: WireAssignment): ShardAssignment {
  return {
    revision: wire.revision,
    generation: wire.ledgerGeneration,
    isComplete: wire.complete,
    domains: wire.domains.map(domainFromWire),
    foreignDomains: wire.foreignDomains.map(domainFromWire),
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

export function overrideToWire(override: MachineOverride): Init<typeof MachineOverrideSchema> {
  return { ...override };
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

function overrideFromWire({ machineId, transferId, peerShardId }: WireOverride): MachineOverride {
  return { machineId, transferId, peerShardId };
}
