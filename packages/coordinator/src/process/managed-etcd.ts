// The etcd beside this replica (coordinator §3.6): one command starts three replicas with nothing
// installed beside them. Its peer port uses the files of the gRPC port.

import { describeThrown } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { EtcdClient } from '../etcd-client/client.ts';
import { refused } from '../ledger/outcome.ts';
import { peerUrlOf } from '../managed-etcd/etcd-command.ts';
import { handleJoin } from '../managed-etcd/join-handler.ts';
import {
  type ManagedEtcd,
  type ManagedEtcdEvent,
  startManagedEtcd,
} from '../managed-etcd/managed-etcd.ts';
import { promoteLearners, reconcileSelf } from '../managed-etcd/membership.ts';
import type { JoinHandler } from '../service/join-handlers.ts';
import { takeDataDir } from '../store/data-dir.ts';
import type { EtcdStore } from '../store/etcd/etcd-store.ts';
import { dialPeer, joinPort, replicaAddresses } from './join-port.ts';
import { peerTls } from './peer-tls.ts';
import type { StoreSettings } from './settings.ts';
import { etcdEngine, type OpenStoreOptions, type StoreParts } from './store-parts.ts';

const JOIN_WITHIN_MS = 8_000;

type Managed = Extract<StoreSettings, { kind: 'managed-etcd' }>;

/** Only the lock is taken here: forming the etcd waits for others, and probes must not wait for it. */
export function openManagedEtcd(options: OpenStoreOptions, managed: Managed): StoreParts {
  const lock = takeDataDir(options.settings.dataDir);
  try {
    return partsOf(options, managed, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

function partsOf(options: OpenStoreOptions, managed: Managed, releaseLock: () => void): StoreParts {
  const { runtime, logger, settings, tls, signal } = options;
  const { nodeId } = settings;
  const { joinAddress, peerAdvertise, prefix, leaseTtlMs: leaderLeaseTtlMs } = managed;
  const random = runtime.random.stream('join-addresses');
  const port = joinPort({
    runtime,
    nodeId,
    raftAddress: peerAdvertise,
    addresses: (cut) => replicaAddresses(joinAddress, random, cut),
    dial: ({ target, serverName }) => dialPeer({ runtime, tls }, target, serverName),
  });
  const tlsOfPeers = peerTls(settings.tls, managed);
  const peerUrl = peerUrlOf(peerAdvertise, tlsOfPeers);
  let etcd: Promise<ManagedEtcd> | undefined;
  const form = (): Promise<ManagedEtcd> =>
    (etcd ??= startManagedEtcd(
      {
        ...managed,
        runtime,
        nodeId,
        dataDir: settings.dataDir,
        peerTls: tlsOfPeers,
        bootstrap: settings.mayBootstrap,
        port,
        onEvent: (event) => logEtcd(logger, joinAddress, event),
      },
      signal,
    ));
  const client = new EtcdClient({ runtime, endpoints: [`http://${managed.clientAddress}`] });
  const store = etcdEngine(options, {
    client,
    prefix,
    leaderLeaseTtlMs,
    peerAddress: peerAdvertise,
  });
  const onProblem = (what: string, error: unknown): void =>
    logger.warn(`${what} failed; will retry`, { err: describeThrown(error) });
  const membership = { runtime, client, onProblem };
  const observesLeader = async (): Promise<boolean> => (await store.leader()) !== undefined;
  const ownClusterUid = (): Promise<string> => store.localClusterUid();
  return {
    store,
    join: joinThrough(client, store, peerUrl),
    form: async () => {
      await form();
    },
    run: async () => {
      const self = { ...membership, nodeId, peerUrl, port, observesLeader, ownClusterUid };
      await reconcileSelf(self, signal);
      if (signal.aborted) return;
      const leader = (await store.leader())?.nodeId ?? '';
      logger.info('raft membership established', { node_id: nodeId, leader });
    },
    whileLeading: async (leading) => {
      const presentNodeIds = async (): Promise<ReadonlySet<string>> =>
        new Set((await store.status()).replicas);
      await promoteLearners({ ...membership, presentNodeIds }, leading);
    },
    close: async () => {
      // What was never formed, or was cut off by the stop, has nothing to stop.
      const running = await etcd?.catch(() => undefined);
      await running?.stop();
      releaseLock();
    },
  };
}

function joinThrough(client: EtcdClient, store: EtcdStore, ownPeerUrl: string): JoinHandler {
  const scheme = ownPeerUrl.slice(0, ownPeerUrl.indexOf('://'));
  return async ({ nodeId, raftAddress, isFresh, signal }) => {
    const { replicas, clusterUid } = await store.status();
    const limits = { deadlineMs: JOIN_WITHIN_MS, signal };
    const result = await handleJoin(
      { client, presentNodeIds: new Set(replicas), limits },
      { nodeId, peerUrl: `${scheme}://${raftAddress}`, isFresh },
    );
    if (result.kind === 'refused') return refused('FAILED_PRECONDITION', result.message);
    return { ...result, kind: 'joined', clusterUid };
  };
}

function logEtcd(logger: Logger, joinAddress: string, event: ManagedEtcdEvent): void {
  switch (event.kind) {
    case 'formation':
      logger.info('managed etcd', { formation: event.formation });
      return;
    case 'join_refused':
      logger.warn('join attempt failed; will retry', {
        join_addr: joinAddress,
        backoff: `${(event.retryInMs / 1_000).toFixed(1)}s`,
        err: describeThrown(event.error),
      });
      return;
    case 'output':
      logger.info('etcd', { line: event.line });
      return;
    case 'ended':
      logger.error('etcd ended; starting it again', {
        detail: event.detail,
        restart_in_ms: event.restartInMs,
      });
  }
}
