// How each process of the demo reaches each cluster: a kubeconfig file of its own whose current context is
// that cluster, and one file with all of the demo's contexts for people.

import path from 'node:path';
import { type ClusterName, HOST, JOINED, SHARD_OF_JOINED, type ShardName } from '../places.ts';
import type { Ports } from '../ports/ports.ts';
import { type Profile, shardOfCluster } from '../profiles.ts';
import { writeKubeconfig } from './kubeconfig-file.ts';

export interface ClusterAddress {
  readonly id: ClusterName | typeof JOINED;
  readonly shard: ShardName;
  readonly kubeconfig: string;
}

/** The demo's own, after writing their files. */
export function ownClusters(
  dir: string,
  profile: Profile,
  ports: Ports,
): readonly ClusterAddress[] {
  const servers = profile.clusters.map((name) => ({ name, url: `http://${HOST}:${ports[name]}` }));
  writeKubeconfig(kubeconfigOf(dir), servers);
  return servers.map((server) => {
    const kubeconfig = path.join(dir, `${server.name}.kubeconfig`);
    writeKubeconfig(kubeconfig, [server]);
    return { id: server.name, shard: shardOfCluster(profile, server.name), kubeconfig };
  });
}

export function joinedCluster(kubeconfig: string): ClusterAddress {
  return { id: JOINED, shard: SHARD_OF_JOINED, kubeconfig };
}

/** With all contexts, for people. */
export function kubeconfigOf(dir: string): string {
  return path.join(dir, 'kubeconfig');
}
