// What an operator asks of the store: its Raft term, how far the ledger is, who is registered, and
// the alarms of etcd. A NOSPACE alarm means that every write is refused until somebody acts.

import { Backoff, sleep } from '@bigfleet/base';
import { AlarmType } from '@bigfleet/wire/etcd';
import { get, readAt } from '../../etcd-client/txn.ts';
import type { StoreStatus } from '../store.ts';
import { type KeySpace, textOf } from './key-space.ts';
import { type EtcdAccess, type EtcdStoreObserver, readDeadlineMs } from './options.ts';
import { applyValue, firstApply } from './values.ts';

const maxReplicaCount = 100n;
const ttlSeconds = 10;
const callDeadlineMs = 3_000;

export async function statusOf({ client, keys }: EtcdAccess): Promise<StoreStatus> {
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
    applyIndex: (apply === undefined ? firstApply : applyValue.decode(apply.value)).index,
    clusterUid: uid === undefined ? '' : textOf(uid.value),
    replicas: replicas.kvs.map(({ key }) => nodeIdOf(keys, key)),
    alarms: alarms.alarms.map(
      ({ alarm, memberID }) => `${alarmName(alarm)} on ${memberID.toString(16)}`,
    ),
  };
}

function nodeIdOf(keys: KeySpace, key: Uint8Array): string {
  return decodeURIComponent(keys.nameOf(key).slice('replicas/'.length));
}

function alarmName(alarm: AlarmType): string {
  if (alarm === AlarmType.NOSPACE) return 'etcd NOSPACE';
  return alarm === AlarmType.CORRUPT ? 'etcd CORRUPT' : `etcd alarm ${alarm}`;
}

export interface PresenceOptions extends Pick<EtcdAccess, 'runtime' | 'client'> {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly observer: EtcdStoreObserver;
}

/**
 * This replica's `replicas/<node id>` key under a lease of its own, so that `status` lists who is
 * there. Purely informational: nothing is decided by it, and when it cannot be written for a while
 * it is simply written again. Returns when the signal aborts; never rejects.
 */
export async function keepPresence(options: PresenceOptions, signal: AbortSignal): Promise<void> {
  const { runtime, observer } = options;
  const random = runtime.random.stream('replica-presence');
  const backoff = new Backoff(random, { initialMs: 500, maxMs: 10_000 });
  while (!signal.aborted) {
    try {
      await holdLease(options, signal, () => backoff.reset());
    } catch (error) {
      if (signal.aborted) return;
      observer.onProblem?.('replica registration', error);
      await sleep(runtime, backoff.nextMs(), signal).catch(() => undefined);
    }
  }
}

async function holdLease(
  { runtime, client, key, value }: PresenceOptions,
  signal: AbortSignal,
  onHeld: () => void,
): Promise<never> {
  const limits = { deadlineMs: callDeadlineMs, signal };
  const { id, ttlMs } = await client.leaseGrant(ttlSeconds, limits);
  await client.put({ key, value, lease: id }, limits);
  // Ends when a renewal fails (then with a new lease) or the signal aborts.
  for (;;) {
    onHeld();
    await sleep(runtime, ttlMs / 3, signal);
    await client.leaseKeepAlive(id, limits);
  }
}
