// A coordinator's store as these tests use it: the production engine on a real etcd, with what it
// told its observer, and small commands to commit. Each test takes a key prefix of its own, so that
// many share one server.

import { realRuntime } from '@bigfleet/base/real';
import { EtcdClient, EtcdStore, type EtcdStoreOptions } from '@bigfleet/coordinator/etcd';
import { HANG_MS, monotonicMs } from '../toolkit/index.ts';

export interface Replica extends AsyncDisposable {
  readonly store: EtcdStore;
  readonly client: EtcdClient;
  /** `won <term>`, `lost <reason>`, `revoked`, in order. */
  readonly events: string[];
}

export type ReplicaOptions = Partial<EtcdStoreOptions> & {
  readonly endpoints: readonly string[];
  readonly prefix: string;
};

export function createReplica(options: ReplicaOptions): Replica {
  const runtime = options.runtime ?? realRuntime();
  const client = options.client ?? new EtcdClient({ runtime, endpoints: options.endpoints });
  const events: string[] = [];
  const store = new EtcdStore({
    runtime,
    client,
    nodeId: 'node-0',
    grpcAddress: '127.0.0.1:1',
    peerAddress: '127.0.0.1:2',
    version: 'test',
    bootstrap: true,
    holdsNodeLock: true,
    observer: {
      onWon: (term) => events.push(`won ${term}`),
      onLost: (reason) => events.push(`lost ${reason}`),
      onLeaseRevoked: () => events.push('revoked'),
    },
    ...options,
  });
  return { store, client, events, [Symbol.asyncDispose]: () => store.close() };
}

/** Longer than anything here takes; a campaign that never ends fails the test by its time limit. */
export const never: AbortSignal = new AbortController().signal;

type Request = Parameters<EtcdStore['commit']>[1];
type Write = Request['change']['writes'][number];

export interface CommandSpec {
  readonly index: number;
  readonly commandId?: string;
  readonly writes: readonly Write[];
  readonly reads?: readonly string[];
  readonly withinMs?: number;
}

export function command(spec: CommandSpec): Request {
  return {
    expectedIndex: spec.index,
    commandId: spec.commandId ?? `command-${spec.index + 1}`,
    deadlineMs: monotonicMs() + (spec.withinMs ?? HANG_MS),
    change: {
      writes: spec.writes,
      reads: spec.reads ?? [],
      gc: [],
      assignmentRevision: spec.index + 1,
      ledgerGeneration: 0,
    },
  };
}

export function putShard(id: string, address: string = '127.0.0.1:7780'): Write {
  const row = { id, address, registeredAtMs: 1, uid: 1, maxEpoch: 0n };
  return { kind: 'put', table: 'shards', key: `shards/${encodeURIComponent(id)}`, row };
}

export function deleteShard(id: string): Write {
  return { kind: 'delete', table: 'shards', key: `shards/${id}` };
}
