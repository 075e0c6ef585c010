// The coordinator: reachable, led, in agreement with itself, and with enough replicas to lose one.

import type { GetStatusResponse } from '@bigfleet/wire';
import { type Finding, finding, type FleetFacts } from './facts.ts';
import { parseRecovery, recoveryFix } from './recovery-fix.ts';

export function checkCoordinator(facts: FleetFacts): Finding[] {
  const { replicas, registry } = facts;
  const answered = replicas.flatMap(({ status }) => (status.ok ? [status.value] : []));
  const unreachable = replicas.flatMap(({ address, status }) => {
    if (status.ok) return [];
    const severity = answered.length === 0 ? 'error' : 'warning';
    const fix = 'Start the replica, or correct --coordinator; shards run on without it.';
    const subject = `coordinator ${address}`;
    return [finding(severity, 'coordinator-reachable', subject, status.error, fix)];
  });
  return [
    ...unreachable,
    // Who cannot be reached cannot be asked who leads.
    ...(registry.ok || answered.length === 0 ? [] : [unled(registry.error)]),
    ...quorum(answered),
    ...agreement(answered),
    ...recovery(answered),
  ];
}

function unled(problem: string): Finding {
  const fix =
    'Bring a majority of the replicas and of the store back; writes are refused until then.';
  return finding('error', 'coordinator-leader', 'coordinator', problem, fix);
}

function quorum(answered: readonly GetStatusResponse[]): Finding[] {
  const replicaCount = Math.max(0, ...answered.map(({ replicas }) => replicas.length));
  if (replicaCount < 2) return [];
  const nodes = new Set(answered.map(({ nodeId }) => nodeId));
  const majority = Math.floor(replicaCount / 2) + 1;
  // Behind a load balancer one address stands for all of them, and says nothing about the others.
  if (nodes.size === 1 && answered.length === 1) return [];
  if (nodes.size > majority || nodes.size === replicaCount) return [];
  const isLost = nodes.size < majority;
  return [
    finding(
      isLost ? 'error' : 'warning',
      'coordinator-quorum',
      'coordinator',
      `${nodes.size} of ${replicaCount} replicas answer` +
        (isLost ? ': no majority' : ': one more failure stops every write'),
      'Bring the missing replicas back before anything else is restarted.',
    ),
  ];
}

function agreement(answered: readonly GetStatusResponse[]): Finding[] {
  const uids = distinct(answered.map(({ clusterUid }) => clusterUid));
  const leaders = distinct(answered.map(({ leaderNodeId }) => leaderNodeId));
  const versions = distinct(answered.map(({ version }) => version));
  const findings: Finding[] = [];
  if (uids.length > 1) {
    const message = `replicas belong to ${uids.length} different fleets: ${uids.join(', ')}`;
    const fix = 'A replica was started on foreign data: stop it and empty its data directory.';
    findings.push(finding('error', 'coordinator-uid', 'coordinator', message, fix));
  }
  if (leaders.length > 1) {
    const message = `replicas disagree who leads: ${leaders.join(', ')}`;
    const fix = 'Wait for the election to settle; if it lasts, look for a partition between them.';
    findings.push(finding('warning', 'coordinator-leader', 'coordinator', message, fix));
  }
  if (versions.length > 1) {
    const message = `replicas run different versions: ${versions.join(', ')}`;
    const fix = 'Finish the rolling update.';
    findings.push(finding('warning', 'version', 'coordinator', message, fix));
  }
  return findings;
}

function recovery(answered: readonly GetStatusResponse[]): Finding[] {
  const leader = answered.find(({ isLeader }) => isLeader);
  return (leader?.recoveringProviders ?? []).map((line) => {
    const { provider, waitsFor } = parseRecovery(line);
    const { severity, fix } = recoveryFix(waitsFor);
    const message = 'the coordinator is still learning after a restore who owns its machines';
    return finding(
      severity,
      'coordinator-recovery',
      `provider ${provider}`,
      waitsFor === '' ? message : `${message}: it ${waitsFor}`,
      fix,
    );
  });
}

function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text) => text !== ''))];
}
