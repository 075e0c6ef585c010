// What an operator asks of the store: its Raft term, how far the ledger is, who is registered, and
// the alarms of etcd. A NOSPACE alarm means that every write is refused until somebody acts.

import { AlarmType } from '@bigfleet/wire/etcd';
import type { EtcdClient } from '../../etcd-client/index.ts';
import { get, readAt } from '../../etcd-client/txn.ts';
import type { StoreStatus } from '../store.ts';
import { type KeySpace, textOf } from './key-space.ts';
import { readDeadlineMs } from './options.ts';
import { decodeApply, firstApply } from './values.ts';

const maxReplicaCount = 100n;

export async function statusOf(client: EtcdClient, keys: KeySpace): Promise<StoreStatus> {
  const limits = { deadlineMs: readDeadlineMs };
  const [meta, replicas, alarms] = await Promise.all([
    client.readTxn({ success: [get(keys.apply), get(keys.clusterUid)] }, limits),
    client.range({ ...keys.replicas, limit: maxReplicaCount }, limits),
    client.alarms(limits),
  ]);
  const apply = readAt(meta, 0);
  const uid = readAt(meta, 1);
  return {
    storeRaftTerm: meta.header?.raftTerm ?? 0n,
    applyIndex: (apply === undefined ? firstApply : decodeApply(apply.value)).index,
    clusterUid: uid === undefined ? '' : textOf(uid.value),
    replicas: replicas.kvs.map(({ key }) => nodeIdOf(keys, key)),
    alarms: alarms.alarms.map(({ alarm, memberID }) => `${alarmName(alarm)} on ${hex(memberID)}`),
  };
}

function nodeIdOf(keys: KeySpace, key: Uint8Array): string {
  return decodeURIComponent(keys.nameOf(key).slice('replicas/'.length));
}

function alarmName(alarm: AlarmType): string {
  if (alarm === AlarmType.NOSPACE) return 'etcd NOSPACE';
  return alarm === AlarmType.CORRUPT ? 'etcd CORRUPT' : `etcd alarm ${alarm}`;
}

function hex(memberId: bigint): string {
  return memberId.toString(16);
}
