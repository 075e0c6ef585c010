// What is odd about the settings of a coordinator and no reason to refuse them; said once, at the start.

import type { CoordinatorSettings } from '@bigfleet/coordinator';
import { isLoopback, isPlainEndpoint } from '@bigfleet/process/flags';

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
