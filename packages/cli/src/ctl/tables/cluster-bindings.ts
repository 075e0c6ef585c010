// Which shard serves which cluster, and who disagrees.

import type { ClusterBinding } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';
import { utcTime } from '../output/texts.ts';

export interface ClusterRow {
  readonly cluster: string;
  readonly shard: string;
  readonly bound: string | null;
  /** The other shard that serves it too; empty without one. */
  readonly conflict: string;
}

export function clusterRow(binding: ClusterBinding): ClusterRow {
  return {
    cluster: binding.clusterId,
    shard: binding.shardId,
    bound: utcTime(binding.boundAtUnixNs) ?? null,
    conflict: binding.conflictingShardId,
  };
}

export const clusterColumns: readonly Column<ClusterRow>[] = [
  { title: 'CLUSTER', of: ({ cluster }) => cluster },
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'BOUND', of: ({ bound }) => bound ?? '' },
  { title: 'CONFLICT', of: ({ conflict }) => conflict, tone: () => 'bad' },
];
