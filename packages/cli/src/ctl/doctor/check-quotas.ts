// Quotas: slices for providers that exist, and not more of them than the provider has.

import type { FleetFacts } from './facts.ts';
import { type Finding, finding } from './finding.ts';

export function checkQuotas({ registry }: FleetFacts): Finding[] {
  if (!registry.ok) return [];
  const { providers, quotas } = registry.value;
  return quotas.flatMap(({ provider, region, perShard }) => {
    const entry = providers.find(({ name }) => name === provider);
    const subject = `quota ${provider}/${region}`;
    if (entry === undefined) {
      const message = 'is for a provider that is not registered';
      const fix = 'Register the provider under this name, or correct the row with set-quota.';
      return [finding('warning', 'quota', subject, message, fix)];
    }
    const sum = Object.values(perShard).reduce((total, slice) => total + slice, 0);
    if (entry.declaredQuota === 0 || sum <= entry.declaredQuota) return [];
    const message = `slices add up to ${sum}, declared are ${entry.declaredQuota}`;
    const fix = 'Lower the slices with set-quota, or declare what the provider really has.';
    return [finding('warning', 'quota', subject, message, fix)];
  });
}
