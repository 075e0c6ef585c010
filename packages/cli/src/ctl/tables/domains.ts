// Domain assignments: which shard owns which topology domain.

import type { DomainAssignment } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';

export interface DomainRow {
  readonly topologyKey: string;
  readonly topologyValue: string;
  readonly shard: string;
  readonly state: 'assigned' | 'releasing';
}

export function domainRow(assignment: DomainAssignment): DomainRow {
  const { topologyKey, topologyValue, shardId, releasing } = assignment;
  return {
    topologyKey,
    topologyValue,
    shard: shardId,
    state: releasing ? 'releasing' : 'assigned',
  };
}

export const domainColumns: readonly Column<DomainRow>[] = [
  { title: 'TOPOLOGY_KEY', of: ({ topologyKey }) => topologyKey },
  { title: 'TOPOLOGY_VALUE', of: ({ topologyValue }) => topologyValue },
  { title: 'SHARD', of: ({ shard }) => shard },
  {
    title: 'STATE',
    of: ({ state }) => state,
    tone: ({ state }) => (state === 'releasing' ? 'warn' : undefined),
  },
];
