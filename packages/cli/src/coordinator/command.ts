// `bigfleet coordinator`, and what is odd about its settings and no reason to refuse them.

import { type CoordinatorSettings, startCoordinatorProcess } from '@bigfleet/coordinator';
import { isLoopback, isPlainEndpoint } from '@bigfleet/process/flags';
import { type Command, serveCommand } from '../command.ts';
import { coordinatorFlags } from './flags.ts';
import { coordinatorSettings } from './settings.ts';

export const coordinatorCommand: Command = serveCommand({
  name: 'coordinator',
  summary: 'the fleet state: which shard owns what, and moves between shards',
  flags: coordinatorFlags,
  settings: coordinatorSettings,
  warnings: coordinatorWarnings,
  start: startCoordinatorProcess,
});

export function coordinatorWarnings(settings: CoordinatorSettings): readonly string[] {
  return [...addressWarnings(settings), ...etcdWarnings(settings)];
}

/** A follower names the leader by it: on another host it would lead everybody to themselves. */
function addressWarnings({ store, listen, advertiseAddress }: CoordinatorSettings): string[] {
  const warnings: string[] = [];
  if (store.kind === 'sqlite') return warnings;
  if (isLoopback(advertiseAddress) && !isLoopback(listen)) {
    warnings.push(
      `the leader is named as ${advertiseAddress}, which leads other hosts to themselves: ` +
        'give --advertise-addr',
    );
  }
  if (store.kind !== 'managed-etcd') return warnings;
  if (isLoopback(store.peerAdvertise) && !isLoopback(store.peerBind)) {
    warnings.push(
      `peers are told ${store.peerAdvertise}, which leads other hosts to themselves: ` +
        'give --raft-advertise',
    );
  }
  return warnings;
}

function etcdWarnings({ store }: CoordinatorSettings): string[] {
  if (store.kind !== 'external-etcd') return [];
  const plain = store.endpoints.filter(isPlainEndpoint);
  if (plain.length === 0) return [];
  const { username } = store.credentials;
  const what = username === '' ? 'without TLS and without a user' : 'without TLS';
  return [
    `etcd at ${plain.join(', ')} is used ${what}: whoever reaches it can rewrite the fleet state`,
  ];
}
