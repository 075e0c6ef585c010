// TLS of the consensus peer port (security §1.5): the files of the gRPC port, and a pinned host name.
// Every shard and operator has a leaf of the same authority, and etcd knows nothing of our identities:
// without a name that only coordinators carry, each of them could speak consensus. A replica whose
// advertised address has no such name is therefore refused, never run without the pin.

import { isIP } from 'node:net';
import { BigFleetError } from '@bigfleet/base';
import type { PeerTls } from '../managed-etcd/etcd-command.ts';
import type { CoordinatorSettings, StoreSettings } from './settings.ts';

type Managed = Extract<StoreSettings, { kind: 'managed-etcd' }>;

/** Undefined on plaintext. */
export function peerTls(
  { cert: certFile, key: keyFile, ca: caFile }: CoordinatorSettings['tls'],
  { peerAdvertise }: Pick<Managed, 'peerAdvertise'>,
): PeerTls | undefined {
  if (certFile === '') return undefined;
  return { certFile, keyFile, caFile, allowedHost: allowedHostOf(peerAdvertise) };
}

/** The first label of the advertised name is the replica; the rest is what only coordinators carry. */
function allowedHostOf(peerAdvertise: string): string {
  const host = peerAdvertise.slice(0, peerAdvertise.lastIndexOf(':'));
  const domain = host.slice(host.indexOf('.') + 1);
  const isName = isIP(host.replace(/^\[|\]$/g, '')) === 0;
  if (isName && host.includes('.') && domain !== '') return `*.${domain}`;
  const message =
    `--raft-advertise=${peerAdvertise} names no domain that peers can be pinned to: with TLS ` +
    'advertise a DNS name such as coordinator-0.bigfleet-coordinator.<namespace>.svc:7791';
  throw new BigFleetError('etcd_peer_not_pinned', message);
}
