// Providers: answering the shards that dial them, and registered where they should be.

import { ageText } from '../output/texts.ts';
import type { FleetFacts } from './facts.ts';
import { type Finding, finding } from './finding.ts';

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
  return [...unhealthy, ...registration(statuses, registry)];
}

function registration(
  statuses: readonly {
    readonly shard: string;
    readonly providers: readonly { readonly name: string; readonly source: string }[];
  }[],
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
