// The etcd beside this replica (coordinator §3.6): decides how it comes to its data, starts it and
// keeps it running. The store then uses it like any other, through loopback. Membership belongs to
// `membership.ts`, the leader's answers to `join-handler.ts`.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '@bigfleet/base';
import { type EtcdCommand, etcdArguments, type PeerTls, peerUrlOf } from './etcd-command.ts';
import {
  decideFormation,
  type Formation,
  joinCluster,
  type JoinPort,
  probeCluster,
  ordinalOf,
} from './join-client.ts';
import { endOrphan, pidFileOf, writePidFile } from './orphan.ts';
import { EtcdSupervisor } from './supervisor.ts';

export interface ManagedEtcdOptions {
  readonly runtime: Runtime;
  readonly binary: string;
  readonly nodeId: string;
  /** The coordinator's; etcd gets `etcd/` below it. */
  readonly dataDir: string;
  /** `host:port` on loopback, by default `127.0.0.1:2379`. */
  readonly clientAddress: string;
  readonly peerBind: string;
  readonly peerAdvertise: string;
  readonly peerTls?: PeerTls | undefined;
  readonly bootstrap: boolean;
  readonly port: JoinPort;
  /** Default 30 s. */
  readonly probeForMs?: number | undefined;
  readonly onEvent?: (event: ManagedEtcdEvent) => void;
}

export type ManagedEtcdEvent =
  | { readonly kind: 'formation'; readonly formation: Formation }
  | { readonly kind: 'join_refused'; readonly error: unknown; readonly retryInMs: number }
  | { readonly kind: 'output'; readonly line: string }
  | { readonly kind: 'ended'; readonly detail: string; readonly restartInMs: number };

export interface ManagedEtcd {
  readonly formation: Formation;
  /** What the store's client dials. */
  readonly endpoint: string;
  /** What `JoinRaftCluster` and `reconcileSelf` name this replica by. */
  readonly peerUrl: string;
  stop(): Promise<void>;
}

/** Resolves when the child is started; the store's `open` waits for it to answer. */
export async function startManagedEtcd(
  options: ManagedEtcdOptions,
  signal: AbortSignal,
): Promise<ManagedEtcd> {
  const { runtime, binary, dataDir, onEvent } = options;
  const pidFile = pidFileOf(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await endOrphan(runtime, pidFile, signal);
  const formation = await formationOf(options, signal);
  onEvent?.({ kind: 'formation', formation });
  const args = etcdArguments(await commandFor(options, formation, signal));
  signal.throwIfAborted();
  const supervisor = new EtcdSupervisor({
    runtime,
    binary,
    args,
    onStarted: (pid) => writePidFile(pidFile, pid),
    onLine: (line) => onEvent?.({ kind: 'output', line }),
    onEnded: (detail, restartInMs) => onEvent?.({ kind: 'ended', detail, restartInMs }),
  });
  return {
    formation,
    endpoint: `http://${options.clientAddress}`,
    peerUrl: peerUrlOf(options.peerAdvertise, options.peerTls),
    stop: () => supervisor.stop(),
  };
}

function formationOf(options: ManagedEtcdOptions, signal: AbortSignal): Promise<Formation> {
  const { nodeId, bootstrap } = options;
  return decideFormation({
    hasMember: existsSync(join(etcdDir(options), 'member')),
    ordinal: ordinalOf(nodeId),
    bootstrap,
    probe: () => probeCluster(options, signal),
  });
}

async function commandFor(
  options: ManagedEtcdOptions,
  formation: Formation,
  signal: AbortSignal,
): Promise<EtcdCommand> {
  const { nodeId, clientAddress, peerBind, peerAdvertise, peerTls } = options;
  const alone = `${nodeId}=${peerUrlOf(peerAdvertise, peerTls)}`;
  const isJoin = formation === 'join';
  return {
    nodeId,
    dataDir: etcdDir(options),
    clientAddress,
    peerBind,
    peerAdvertise,
    peerTls,
    // Only a first start reads these: an existing member knows its cluster.
    initialCluster: isJoin ? await askToJoin(options, signal) : alone,
    initialState: isJoin ? 'existing' : 'new',
  };
}

async function askToJoin(options: ManagedEtcdOptions, signal: AbortSignal): Promise<string> {
  const { runtime, port, onEvent } = options;
  const onRefused = (error: unknown, retryInMs: number): void =>
    onEvent?.({ kind: 'join_refused', error, retryInMs });
  const answer = await joinCluster({ runtime, port, onRefused }, true, signal);
  return answer.initialCluster;
}

function etcdDir({ dataDir }: ManagedEtcdOptions): string {
  return join(dataDir, 'etcd');
}
