// How a joining replica reaches the others (coordinator §3.6): every call dials afresh and goes on to
// the next replica when the one that answers does not lead, or knows no cluster. Replicas that are not
// formed yet answer too, this one among them: one that asked only once, or always the same, would wait
// for ever beside a leader, and an empty ordinal 0 would begin a second cluster beside the first.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import {
  BigFleetError,
  type Runtime,
  runWithDeadline,
  orAborted,
  type Random,
} from '@bigfleet/base';
import {
  type Channel,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  createGrpcChannel,
  RpcError,
  type TlsMaterial,
} from '@bigfleet/wire';
import { NOT_LEADER } from '../ledger/outcome.ts';
import type { JoinAnswer, JoinPort } from '../managed-etcd/join-client.ts';
import { LEADER_ADDRESS } from '../service/leader-gate.ts';

/** One that swallows everything must not use up the time of all others. */
const STATUS_WITHIN_MS = 2_000;
const MAX_DIALS = 20;
/** More replicas than anybody runs. */
const MAX_ADDRESSES = 16;
const DIALS_OF_ONE_ADDRESS = 4;

export interface PeerDialOptions {
  readonly runtime: Runtime;
  readonly tls: TlsMaterial | undefined;
}

/** A peer is a coordinator: it presents the admin identity (security §3.2). */
export function dialPeer(
  { runtime, tls }: PeerDialOptions,
  target: string,
  serverName?: string,
): Channel {
  return createGrpcChannel({
    runtime,
    target,
    ...(tls === undefined ? {} : { tls, serverIdentity: { kind: 'admin' } as const }),
    ...(serverName === undefined ? {} : { serverName }),
    keepalive: { timeMs: 1_000, timeoutMs: 1_000 },
  });
}

export interface JoinPortOptions {
  readonly runtime: Runtime;
  /** Fresh at every call, in random order. */
  readonly addresses: (signal: AbortSignal) => Promise<readonly ReplicaAddress[]>;
  readonly dial: (address: ReplicaAddress) => Channel;
  readonly nodeId: string;
  readonly raftAddress: string;
}

export function joinPort(options: JoinPortOptions): JoinPort {
  return {
    join: (isFresh, signal) => askLeader(options, isFresh, signal),
    clusterUid: (signal) => firstUid(options, signal),
  };
}

/** Follows a hint once: two replicas that name each other cannot hold it up. */
async function askLeader(
  { addresses, dial, nodeId, raftAddress }: JoinPortOptions,
  fresh: boolean,
  signal: AbortSignal,
): Promise<JoinAnswer> {
  const waiting = [...(await addresses(signal))];
  const hinted = new Set<string>();
  let last: RpcError | undefined;
  for (let dials = 0; dials < MAX_DIALS; dials++) {
    const next = waiting.shift();
    if (next === undefined) break;
    try {
      return await through(dial(next), (channel) =>
        createClient(Coordinator, channel).joinRaftCluster(
          { nodeId, raftAddress, fresh },
          { signal },
        ),
      );
    } catch (error) {
      if (signal.aborted || !isSomebodyElses(error)) throw error;
      last = error;
      const hint = error.metadata.get(LEADER_ADDRESS) ?? '';
      if (hint !== '' && !hinted.has(hint)) waiting.unshift({ target: hint });
      hinted.add(hint);
    }
  }
  throw last ?? new BigFleetError('etcd_unavailable', 'the join address leads to nobody');
}

/** Undefined when everybody was asked and nobody knows one; who does not answer knows none. */
async function firstUid(
  { runtime, addresses, dial }: JoinPortOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = { ms: STATUS_WITHIN_MS, parent: signal };
  for (const next of (await addresses(signal)).slice(0, MAX_DIALS)) {
    const asked = through(dial(next), (channel) =>
      runWithDeadline(runtime, limits, (cut) =>
        createClient(CoordinatorAdmin, channel).getStatus({}, { signal: cut }),
      ),
    );
    const status = await asked.catch((error: unknown) => {
      if (signal.aborted || !(error instanceof RpcError || isDeadline(error))) throw error;
      return undefined;
    });
    if (status !== undefined && status.clusterUid !== '') return status.clusterUid;
  }
  return undefined;
}

async function through<T>(channel: Channel, ask: (channel: Channel) => Promise<T>): Promise<T> {
  try {
    return await ask(channel);
  } finally {
    channel.close();
  }
}

/** Not the leader's own word: that one is final for this attempt. */
function isSomebodyElses(error: unknown): error is RpcError {
  if (!(error instanceof RpcError)) return false;
  if (error.code === 'FAILED_PRECONDITION') return error.message === NOT_LEADER;
  return error.code === 'UNAVAILABLE';
}

function isDeadline(error: unknown): boolean {
  return error instanceof BigFleetError && error.code === 'deadline_exceeded';
}

export interface ReplicaAddress {
  readonly target: string;
  /** What the certificate must carry when the target is a number that a name resolved to. */
  readonly serverName?: string;
}

/**
 * Every address that `--join-addr` stands for, asked of the system anew at each call, in random
 * order: a headless name leads to all replicas, and a connection to one of them says nothing about
 * the others. Behind one address (a Service with its own, a balancer) each dial lands somewhere, so
 * it is tried a few times.
 */
export async function replicaAddresses(
  address: string,
  random: Random,
  signal: AbortSignal,
): Promise<ReplicaAddress[]> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await orAborted(lookup(host, { all: true }), signal) : [];
  if (found.length < 2)
    return Array.from({ length: DIALS_OF_ONE_ADDRESS }, () => ({ target: address }));
  const port = address.slice(at + 1);
  return found
    .slice(0, MAX_ADDRESSES)
    .map(({ address: ip, family }) => ({
      target: family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`,
      serverName: host,
      order: random.below(1_000_000),
    }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ target, serverName }) => ({ target, serverName }));
}
