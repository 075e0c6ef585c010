// Clusters and moves: who serves whom, what is held back, what takes too long.

import { ageText } from '../output/text.ts';
import { type Finding, finding, type FleetFacts } from './facts.ts';

const LONG_TRANSFER_NANOS = 600_000_000_000n;

export function checkClusters(facts: FleetFacts): Finding[] {
  return [...conflicts(facts), ...quarantined(facts), ...transfers(facts), ...unasked(facts)];
}

function conflicts({ registry }: FleetFacts): Finding[] {
  const bindings = registry.ok && registry.value.bindings.ok ? registry.value.bindings.value : [];
  return bindings
    .filter(({ conflictingShardId }) => conflictingShardId !== '')
    .map(({ clusterId, shardId, conflictingShardId }) =>
      finding(
        'error',
        'cluster-conflict',
        `cluster ${clusterId}`,
        `is bound to ${shardId} and served by ${conflictingShardId} too`,
        'Point its operator to one shard; bind-cluster --force if the other one is right.',
      ),
    );
}

function quarantined({ shards }: FleetFacts): Finding[] {
  return shards.flatMap(({ sessions }) =>
    (sessions.ok ? sessions.value : [])
      .filter(({ quarantinedRollups }) => quarantinedRollups > 0)
      .map(({ clusterId, quarantinedRollups }) =>
        finding(
          'warning',
          'rollup-quarantine',
          `cluster ${clusterId}`,
          `${quarantinedRollups} roll-ups in a row dropped almost all of its demand and are held`,
          'If the drop is real it is taken after three; else look at the operator of the cluster.',
        ),
      ),
  );
}

function transfers({ registry, nowUnixNanos }: FleetFacts): Finding[] {
  const records = registry.ok && registry.value.transfers.ok ? registry.value.transfers.value : [];
  return records
    .filter(({ createdAtUnixNs }) => nowUnixNanos - createdAtUnixNs > LONG_TRANSFER_NANOS)
    .map(({ transferId, fromShardId, toShardId, createdAtUnixNs }) =>
      finding(
        'warning',
        'transfer-slow',
        `transfer ${transferId}`,
        `from ${fromShardId} to ${toShardId} is under way for ` +
          ageText(createdAtUnixNs, nowUnixNanos),
        'Check that both shards report; their machines stay frozen until it is finished.',
      ),
    );
}

/** A server that is too old to say is no finding about the fleet, but it is one about it. */
function unasked({ registry }: FleetFacts): Finding[] {
  if (!registry.ok) return [];
  const { bindings, transfers: moves } = registry.value;
  return [bindings, moves].flatMap((asked) =>
    asked.ok
      ? []
      : [finding('info', 'unanswered', 'coordinator', asked.error, 'Update the coordinator.')],
  );
}
