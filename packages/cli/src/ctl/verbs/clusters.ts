// Verbs about clusters: which shard serves one, and the end of one that is gone.

import { BigFleetError } from '@bigfleet/base';
import { text, toggle } from '@bigfleet/process/flags';
import type { Links } from '../connect/links.ts';
import { shardLabel, type ShardTarget } from '../connect/shards.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { textReport } from '../output/report.ts';

export const bindClusterVerb = defineVerb({
  name: 'bind-cluster',
  group: 'Act on the fleet',
  summary: 'bind a cluster to a shard',
  details: [
    'A cluster binds by itself at first contact. To move one: change the shard address of its',
    'operator, restart the operator, then bind with --force.',
  ],
  flags: {
    cluster: text('', 'the cluster', '<id>'),
    shard: text('', 'the shard that serves it', '<id>'),
    force: toggle(false, 'also when it is bound to another shard'),
  },
  required: ['cluster', 'shard'],
  examples: ['bind-cluster --cluster=prod-eu --shard=shard-0'],
  report: async ({ links, values: { cluster, shard, force } }) => {
    await links.coordinator.ask('bind cluster', (api, call) =>
      api.admin.bindCluster({ clusterId: cluster, shardId: shard, force }, call),
    );
    return textReport([`bound cluster ${cluster} → ${shard}`], { cluster, shard });
  },
});

export const unbindClusterVerb = defineVerb({
  name: 'unbind-cluster',
  group: 'Act on the fleet',
  summary: 'drop the binding of a cluster that is gone',
  details: [
    'Its demand ends with cluster forget, not with this; a cluster that connects binds again.',
  ],
  flags: { cluster: text('', 'the cluster', '<id>') },
  required: ['cluster'],
  examples: ['unbind-cluster --cluster=prod-eu'],
  report: async ({ links, values: { cluster } }) => {
    await links.coordinator.ask('unbind cluster', (api, call) =>
      api.admin.unbindCluster({ clusterId: cluster }, call),
    );
    return textReport([`unbound cluster ${cluster}`], { cluster });
  },
});

export const clusterForgetVerb = defineVerb({
  name: 'cluster forget',
  group: 'Act on shards',
  summary: 'end the demand of a cluster that is gone for good',
  details: [
    'Nothing is reclaimed on silence, so a cluster that disappeared keeps its machines until this.',
    'Refused while its operator is connected; with --force its next roll-up brings the demand back.',
    'The shard is the one that the cluster is bound to, unless --shard or --shard-addr says another.',
  ],
  words: [{ name: 'cluster' }],
  flags: {
    reason: text('', 'for the audit log', '<text>'),
    shard: text('', 'the shard that serves it; empty asks the coordinator', '<id>'),
    'shard-addr': text('', 'dial this shard, without asking the coordinator', '<addr>'),
    force: toggle(false, 'also while its operator is connected'),
    unbind: toggle(false, 'also drop its binding at the coordinator'),
  },
  required: ['reason'],
  examples: ["cluster forget old-lab --reason='decommissioned, CHG-77' --unbind"],
  problem: (values) =>
    values.shard !== '' && values['shard-addr'] !== ''
      ? 'give --shard or --shard-addr, not both'
      : undefined,
  report: async ({ links, values, words: [cluster = ''] }) => {
    const { reason, force, unbind } = values;
    const target = await shardOf(links, cluster, values.shard, values['shard-addr']);
    const done = await links.shards.ask(target, 'forget cluster', (api, call) =>
      api.admin.forgetCluster({ clusterId: cluster, force, reason }, call),
    );
    const shard = shardLabel(target);
    const { needRowsDropped: needs, machinesBound: machines } = done;
    const line =
      `forgot cluster ${cluster} on ${shard}: ${needs} needs dropped, ` +
      `${machines} machines will be reclaimed`;
    if (unbind) {
      await links.coordinator.ask('unbind cluster', (api, call) =>
        api.admin.unbindCluster({ clusterId: cluster }, call),
      );
    }
    const lines = [line, ...(unbind ? [`unbound cluster ${cluster}`] : [])];
    return textReport(lines, {
      cluster,
      shard,
      needsDropped: needs,
      machinesToReclaim: machines,
      unbound: unbind,
    });
  },
});

async function shardOf(
  links: Links,
  cluster: string,
  shard: string,
  address: string,
): Promise<ShardTarget> {
  if (address !== '') return { id: '', address };
  const id = shard === '' ? await boundShard(links, cluster) : shard;
  const [target] = await links.shards.find({ shards: [id], addresses: [] });
  if (target === undefined) throw new BigFleetError('shard_not_registered', `no shard ${id}`);
  return target;
}

async function boundShard(links: Links, cluster: string): Promise<string> {
  const { bindings } = await links.coordinator.ask('list cluster bindings', (api, call) =>
    api.admin.listClusterBindings({ shardId: '' }, call),
  );
  const bound = bindings.find(({ clusterId }) => clusterId === cluster)?.shardId;
  if (bound !== undefined) return bound;
  throw new BigFleetError(
    'thing_not_found',
    `cluster ${cluster} is bound to no shard; name the one that serves it with --shard`,
  );
}
