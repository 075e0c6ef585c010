// Quotas: slices for providers that exist, not more of them than the provider has, and one for every
// shard that draws from a declared quota: without a slice a shard is not bounded by it.

import { type Finding, finding, type FleetFacts, type LeaderFacts } from './facts.ts';

export function checkQuotas({ registry }: FleetFacts): Finding[] {
  if (!registry.ok) return [];
  const { providers, quotas, shards } = registry.value;
  return quotas.flatMap(({ provider, region, perShard }) => {
    const entry = providers.find(({ name }) => name === provider);
    const subject = `quota ${provider}/${region}`;
    if (entry === undefined) {
      const message = 'is for a provider that is not registered';
      const fix =
        'Register the provider under this name, or delete the row with set-quota --clear.';
      return [finding('warning', 'quota', subject, message, fix)];
    }
    const sum = Object.values(perShard).reduce((total, slice) => total + slice, 0);
    if (entry.declaredQuota === 0) return [];
    const unbounded = reachedBy(entry, shards).filter((id) => perShard[id] === undefined);
    if (unbounded.length > 0 && sum <= entry.declaredQuota) {
      const message = `has no slice for ${someOf(unbounded)}, which it does not bound`;
      const fix = 'Give every shard of the provider a slice with set-quota; 0 lets it have none.';
      return [finding('warning', 'quota', subject, message, fix)];
    }
    if (sum <= entry.declaredQuota) return [];
    const message = `slices add up to ${sum}, declared are ${entry.declaredQuota}`;
    const fix = 'Lower the slices with set-quota, or declare what the provider really has.';
    return [finding('warning', 'quota', subject, message, fix)];
  });
}

const MAX_NAMED = 5;

function reachedBy(
  entry: LeaderFacts['providers'][number],
  shards: LeaderFacts['shards'],
): readonly string[] {
  const ids = shards.map(({ shardId }) => shardId);
  return entry.shards.length === 0 ? ids : ids.filter((id) => entry.shards.includes(id));
}

function someOf(ids: readonly string[]): string {
  const rest = ids.length > MAX_NAMED ? ` and ${ids.length - MAX_NAMED} more` : '';
  return `${ids.slice(0, MAX_NAMED).join(', ')}${rest}`;
}
