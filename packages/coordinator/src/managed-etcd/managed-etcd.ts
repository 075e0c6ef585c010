// The etcd beside this replica (coordinator §3.6): decides how it comes to its data, starts it and
// keeps it running. The store then uses it like any other, through loopback. Membership belongs to
// `membership.ts`, the leader's answers to `join-handler.ts`.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '@bigfleet/base';
import { type EtcdCommand, etcdArguments, peerUrlOf } from './etcd-command.ts';
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

export interface ManagedEtcdOptions extends EtcdCommand {
  readonly runtime: Runtime;
  readonly binary: string;
  /** The coordinator's; etcd gets `etcd/` below it. */
  readonly dataDir: string;
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
  const etcdDir = join(dataDir, 'etcd');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await endOrphan(runtime, pidFile, signal);
  const formation = await decideFormation({
    hasMember: existsSync(join(etcdDir, 'member')),
    ordinal: ordinalOf(options.nodeId),
    bootstrap: options.bootstrap,
    probe: () => probeCluster(options, signal),
  });
  onEvent?.({ kind: 'formation', formation });
  const peerUrl = peerUrlOf(options.peerAdvertise, options.peerTls);
  const isJoin = formation === 'join';
  const args = etcdArguments(options, {
    etcdDir,
    initialCluster: isJoin ? await askToJoin(options, signal) : `${options.nodeId}=${peerUrl}`,
    initialState: isJoin ? 'existing' : 'new',
  });
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
    peerUrl,
    stop: () => supervisor.stop(),
  };
}

async function askToJoin(options: ManagedEtcdOptions, signal: AbortSignal): Promise<string> {
  const { runtime, port, onEvent } = options;
  const onRefused = (error: unknown, retryInMs: number): void =>
    onEvent?.({ kind: 'join_refused', error, retryInMs });
  const answer = await joinCluster({ runtime, port, onRefused }, signal);
  return answer.initialCluster;
}
