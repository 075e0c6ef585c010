// Which shard owns which topology domain.

import type { DomainAssignment } from '@bigfleet/wire';
import { defineKind, fromCoordinator, isOfShard, type Kind } from './kind.ts';

function domainRow(assignment: DomainAssignment) {
  const { topologyKey, topologyValue, shardId, releasing } = assignment;
  return {
    topologyKey,
    topologyValue,
    shard: shardId,
    state: releasing ? 'releasing' : 'assigned',
  };
}

type DomainRow = ReturnType<typeof domainRow>;

export const domains: Kind = defineKind<DomainRow>({
  plural: 'domains',
  columns: [
    { title: 'TOPOLOGY_KEY', of: ({ topologyKey }) => topologyKey },
    { title: 'TOPOLOGY_VALUE', of: ({ topologyValue }) => topologyValue },
    { title: 'SHARD', of: ({ shard }) => shard },
    {
      title: 'STATE',
      of: ({ state }) => state,
      tone: ({ state }) => (state === 'releasing' ? 'warn' : undefined),
    },
  ],
  rows: fromCoordinator('list domain assignments', async ({ coordinator }, call, { query }) => {
    const { assignments } = await coordinator.listDomainAssignments({}, call);
    return assignments.map(domainRow).filter(({ shard }) => isOfShard(query, shard));
  }),
  isNamed: ({ topologyKey, topologyValue }, name) => `${topologyKey}=${topologyValue}` === name,
});
