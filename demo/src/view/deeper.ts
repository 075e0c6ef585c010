// The commands that show more than the view, ready to paste into a second terminal.

import path from 'node:path';
import { HOST, type Ports } from '../ports.ts';

export function deeperCommands(dir: string, ports: Ports): readonly string[] {
  return [
    `  curl -s http://${HOST}:${ports['shard-metrics']}/metrics | grep ^bigfleet_shard_`,
    `  curl -s http://${HOST}:${ports['provider-metrics']}/metrics | grep ^bigfleet_simulated_`,
    `  tail -f ${path.join(dir, 'shard.log')} ${path.join(dir, 'provider.log')}`,
    `  grpcurl -plaintext ${HOST}:${ports.shard} bigfleet.ext.v1alpha1.ShardQuery/GetShardStatus`,
  ];
}
