// Providers: answering the shards that dial them, registered where they should be, and, behind an
// address that each host has for itself, of one shard only.

import { isLoopback } from '@bigfleet/process/flags';
import type { ShardStatus } from '@bigfleet/wire';
import { hostPortOf } from '../connect/network.ts';
import { ageText } from '../output/text.ts';
import { type Finding, finding, type FleetFacts } from './facts.ts';

const STALE_LIST_NANOS = 120_000_000_000n;

export function checkProviders({ shards, registry, nowUnixNanos }: FleetFacts): Finding[] {
  const statuses = shards.flatMap(({ entry, status }) =>
    status.ok ? [{ shard: entry.shardId, providers: status.value.providers }] : [],
  );
  const unhealthy = statuses.flatMap(({ shard, providers }) =>
    providers.flatMap(({ name, healthy, lastListUnixNanos: last }) => {
      const subject = `provider ${name} of ${shard}`;
      const since = last === 0n ? 'never' : `${ageText(last, nowUnixNanos)} ago`;
      const fix = 'Check that the provider runs, and its credentials; read its log.';
      if (!healthy) {
        const message = `does not answer; its last complete List was ${since}`;
        return [finding('error', 'provider', subject, message, fix)];
      }
      if (last > 0n && nowUnixNanos - last > STALE_LIST_NANOS) {
        return [finding('warning', 'provider', subject, `last listed ${since}`, fix)];
      }
      return [];
    }),
  );
  return [...unhealthy, ...sharedSockets(shards), ...registration(statuses, registry)];
}

/**
 * A loopback or Unix address counts as one provider per shard, never shared (coordinator §7.5), which
 * is wrong for two shards of one host: both would own all of its machines.
 */
function sharedSockets(shards: FleetFacts['shards']): Finding[] {
  const dialled = shards.flatMap(({ entry, status }) => {
    const host = hostPortOf(entry.address)?.host ?? entry.address;
    const addresses = status.ok ? status.value.providers.map(({ address }) => address) : [];
    return [...new Set(addresses.filter(isLoopback))].map((address) => ({ host, address, entry }));
  });
  // Two of one host have two ports: equal addresses without a host are two hosts.
  return [...Map.groupBy(dialled, ({ host, address }) => `${host} ${address}`).values()]
    .filter((by) => new Set(by.map(({ entry }) => entry.address)).size > 1)
    .map((by) =>
      finding(
        'error',
        'provider-owned-twice',
        `provider ${by[0]?.address ?? ''}`,
        `is dialled by ${by.map(({ entry }) => entry.shardId).join(' and ')} on one host: ` +
          'each takes all its machines for its own',
        'Register it under an address that the host has for others, or give each shard its own.',
      ),
    );
}

function registration(
  statuses: readonly { readonly shard: string; readonly providers: ShardStatus['providers'] }[],
  registry: FleetFacts['registry'],
): Finding[] {
  if (!registry.ok) return [];
  const dialled = new Set(statuses.flatMap(({ providers }) => providers.map(({ name }) => name)));
  const unused = registry.value.providers
    .filter(({ name }) => !dialled.has(name) && statuses.length > 0)
    .map(({ name }) =>
      finding(
        'warning',
        'provider-unused',
        `provider ${name}`,
        'is registered, and no shard that answers dials it',
        'Wait a report interval; shards with --provider flags of their own ignore the registry.',
      ),
    );
  const bare = statuses
    .filter(({ providers }) => providers.length === 0)
    .map(({ shard }) =>
      finding(
        'warning',
        'provider-missing',
        `shard ${shard}`,
        'has no provider at all',
        'bigfleetctl register-provider, or start it with --provider.',
      ),
    );
  return [...unused, ...bare];
}
