// The etcd beside this replica (coordinator §3.6): one command starts three replicas with nothing
// installed beside them. Its peer port uses the files of the gRPC port.

import { describeThrown } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { EtcdClient } from '../etcd-client/index.ts';
import type { PeerTls } from '../managed-etcd/etcd-command.ts';
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
import { etcdEngine } from './etcd-engine.ts';
import { joinPort } from './join-port.ts';
import type { CoordinatorSettings, StoreSettings } from './settings.ts';
import type { OpenStoreOptions, StoreParts } from './store-parts.ts';

const JOIN_WITHIN_MS = 8_000;

type Managed = Extract<StoreSettings, { kind: 'managed-etcd' }>;

export async function openManagedEtcd(
  options: OpenStoreOptions,
  managed: Managed,
): Promise<StoreParts> {
  const lock = takeDataDir(options.settings.dataDir);
  try {
    return await partsOf(options, managed, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function partsOf(
  options: OpenStoreOptions,
  managed: Managed,
  releaseLock: () => void,
): Promise<StoreParts> {
  const { runtime, logger, settings, tls, signal } = options;
  const { nodeId } = settings;
  const { joinAddress, peerAdvertise, prefix, leaseTtlMs } = managed;
  const port = joinPort({ runtime, tls, nodeId, joinAddress, raftAddress: peerAdvertise });
  const etcd = await startManagedEtcd(
    {
      ...managed,
      runtime,
      nodeId,
      dataDir: settings.dataDir,
      ...peerTls(settings),
      bootstrap: settings.mayBootstrap,
      port,
      onEvent: (event) => logEtcd(logger, joinAddress, event),
    },
    signal,
  );
  const client = new EtcdClient({ runtime, endpoints: [etcd.endpoint] });
  const store = etcdEngine(options, { client, prefix, leaseTtlMs, peerAddress: peerAdvertise });
  const onProblem = (what: string, error: unknown): void =>
    logger.warn(`${what} failed; will retry`, { err: describeThrown(error) });
  const observesLeader = async (): Promise<boolean> => (await store.leader()) !== undefined;
  return {
    store,
    join: { kind: 'serve', join: joinThrough(client, store, etcd) },
    run: async () => {
      const self = { runtime, client, nodeId, peerUrl: etcd.peerUrl, port, observesLeader };
      await reconcileSelf({ ...self, onProblem }, signal);
      if (!signal.aborted) logger.info('raft membership established', { node_id: nodeId });
    },
    whileLeading: (leading) => promoteLearners({ runtime, client, onProblem }, leading),
    close: async () => {
      await etcd.stop();
      releaseLock();
    },
  };
}

type Serve = Extract<JoinHandler, { kind: 'serve' }>['join'];

function joinThrough(client: EtcdClient, store: EtcdStore, etcd: ManagedEtcd): Serve {
  const scheme = etcd.peerUrl.slice(0, etcd.peerUrl.indexOf('://'));
  return async ({ nodeId, raftAddress, isFresh, signal }) => {
    const { replicas, clusterUid } = await store.status();
    const limits = { deadlineMs: JOIN_WITHIN_MS, signal };
    const result = await handleJoin(
      { client, presentNodeIds: new Set(replicas), limits },
      { nodeId, peerUrl: `${scheme}://${raftAddress}`, isFresh },
    );
    return result.kind === 'refused' ? result : { ...result, kind: 'joined', clusterUid };
  };
}

/** The first label of the advertised name is the replica; the rest is what only coordinators carry. */
function peerTls({ tls, store }: CoordinatorSettings): { readonly peerTls?: PeerTls } {
  if (tls.cert === '' || store.kind !== 'managed-etcd') return {};
  const host = store.peerAdvertise.slice(0, store.peerAdvertise.lastIndexOf(':'));
  const domain = host.slice(host.indexOf('.') + 1);
  const allowedHost = /[a-z]/i.test(domain) && host.includes('.') ? `*.${domain}` : undefined;
  const { cert: certFile, key: keyFile, ca: caFile } = tls;
  return { peerTls: { certFile, keyFile, caFile, allowedHost } };
}

function logEtcd(logger: Logger, joinAddress: string, event: ManagedEtcdEvent): void {
  switch (event.kind) {
    case 'formation':
      logger.info('managed etcd', { formation: event.formation });
      return;
    case 'join_refused':
      logger.warn('join attempt failed; will retry', {
        join_addr: joinAddress,
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
