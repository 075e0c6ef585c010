// `status`: the coordinator itself. Any replica answers; the one that was asked speaks for itself.

import { compareText } from '@bigfleet/base';
import { defineVerb } from '../frame/define-verb.ts';
import { fieldLines } from '../output/fields.ts';
import { pairsText } from '../output/text.ts';

/** By shard; the wire keeps no order. */
function sorted(byShard: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(byShard).sort(([one], [other]) => compareText(one, other)),
  );
}

/** Nothing from a replica that does not lead, or does not tell. */
function pendingText(byShard: Readonly<Record<string, number>>): string {
  const counts = Object.entries(byShard);
  if (counts.length === 0) return '';
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const waiting = Object.fromEntries(counts.filter(([, count]) => count > 0));
  return total === 0 ? '0' : `${total} (${pairsText(waiting)})`;
}

export const statusVerb = defineVerb({
  name: 'status',
  group: 'Look',
  summary: 'the coordinator: who leads, its term, its store',
  flags: {},
  examples: ['status', 'status -o json'],
  isWatchable: true,
  report: async ({ links }) => {
    const status = await links.coordinator.ask(
      'get status',
      (api, call) => api.admin.getStatus({}, call),
      { isAnyReplica: true },
    );
    const pendingInstructions = sorted(status.pendingInstructions);
    const document = {
      node: status.nodeId,
      isLeader: status.isLeader,
      leader: status.leaderNodeId,
      leaderAddress: status.leaderAddress,
      term: status.coordinatorTerm,
      storeEngine: status.storeEngine,
      storeRaftTerm: status.storeRaftTerm,
      applyIndex: status.applyIndex,
      replicas: status.replicas,
      clusterUid: status.clusterUid,
      recoveringProviders: status.recoveringProviders,
      pendingInstructions,
      version: status.version,
    };
    const leader = status.isLeader
      ? `${status.leaderNodeId || status.nodeId} (this replica)`
      : status.leaderNodeId === ''
        ? 'none'
        : `${status.leaderNodeId} at ${status.leaderAddress}`;
    return {
      lines: (_, style) =>
        fieldLines(
          [
            ['Node', status.nodeId],
            ['Leader', leader],
            ['Term', status.coordinatorTerm],
            ['Store engine', status.storeEngine],
            ['Store raft term', status.storeRaftTerm],
            ['Apply index', status.applyIndex],
            ['Replicas', status.replicas.join(', ')],
            ['Cluster uid', status.clusterUid],
            ['Recovering', status.recoveringProviders.join(', ')],
            ['Pending instructions', pendingText(pendingInstructions)],
            ['Version', status.version],
          ],
          style,
        ),
      document,
      problems: [],
    };
  },
});
