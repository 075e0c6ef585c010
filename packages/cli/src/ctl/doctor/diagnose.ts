// All checks over the facts, the worst first.

import { checkBrakes } from './check-brakes.ts';
import { checkCertificates } from './check-certificates.ts';
import { checkClusters } from './check-clusters.ts';
import { checkCoordinator } from './check-coordinator.ts';
import { checkProviders } from './check-providers.ts';
import { checkQuotas } from './check-quotas.ts';
import { checkClocks, checkShards } from './check-shards.ts';
import { type Finding, type FleetFacts, SEVERITIES } from './facts.ts';

const CHECKS: readonly ((facts: FleetFacts) => Finding[])[] = [
  checkCoordinator,
  checkShards,
  checkBrakes,
  checkProviders,
  checkClusters,
  checkCertificates,
  checkClocks,
  checkQuotas,
];

export function diagnose(facts: FleetFacts): readonly Finding[] {
  return CHECKS.flatMap((check) => check(facts)).sort(
    (a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity),
  );
}
